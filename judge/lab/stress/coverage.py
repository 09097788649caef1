"""Coverage of perturbations: the number of stories that each perturbation could change, and the reasons why it could
not change the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.base.printing.tables import Column, Table
from judge.lab.stress.making import Perturbed
from judge.lab.stress.options import Wanted


@dataclass(slots=True)
class CoverageRow:
    """Coverage of one perturbation at one strength.

    Attributes
    ----------
    perturbation, test : str
        Name of the perturbation, and the kind of test to which it belongs.
    strength : int
        Strength of the perturbation.
    made_count : int
        Number of stories that it changed.
    edits : int
        Number of edits in these stories.
    reasons : Counter
        Number of stories that could not be changed, for each reason.
    """

    perturbation: str
    test: str
    strength: int
    made_count: int = 0
    edits: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Coverage:
    """Coverage of all perturbations in one generated file of perturbed stories: a row for each perturbation and
    strength, and the number of original stories.
    """

    rows: Sequence[CoverageRow]
    stories: int = 0

    @classmethod
    def of(cls, wanted: Sequence[Wanted]) -> Coverage:
        """An empty coverage for the requested perturbations `wanted`: one row for each perturbation and strength, with
        all counts 0.
        """
        return cls([CoverageRow(entry.facts.name, entry.facts.test, s) for entry in wanted for s in entry.strengths])

    def add(self, versions: Sequence[Perturbed]) -> None:
        """Count the perturbed versions of one story. They must be in the order of the rows of this coverage (one row
        for each perturbation and strength).
        """
        self.stories += 1
        for row, version in zip(self.rows, versions, strict=True):
            if version.reason is None:
                row.made_count += 1
                row.edits += len(version.edits)
            else:
                row.reasons[version.reason] += 1


def coverage_tables(coverage: Coverage, signature: str, notes: Sequence[str]) -> list[Table]:
    """A list with one table: how many stories each perturbation changed at each strength, and the reasons why it did
    not change others.
    """
    rows = [
        {
            "perturbation": row.perturbation,
            "test": row.test,
            "strength": row.strength,
            "made": row.made_count,
            "stories": coverage.stories,
            "edits": row.edits / row.made_count if row.made_count else None,
            "reasons": "; ".join(f"{why} ({count})" for why, count in row.reasons.most_common()) or "-",
        }
        for row in coverage.rows
    ]
    columns = [
        Column("perturbation", "perturbation"),
        Column("test", "test"),
        Column("strength", "strength"),
        Column("made", "made"),
        Column("stories", "of stories"),
        Column("edits", "edits a story", digits=1),
        Column("reasons", "why not", wrap=60),
    ]
    return [Table("Perturbed stories", columns, rows, signature, notes)]
