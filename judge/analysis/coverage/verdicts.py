"""Coverage of pairwise comparisons by judges: repeats requested, answered and decided.

A tie counts as a verdict. An answer that could not be read does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge.analysis.coverage.counts import NOT_ANSWERED
from judge.analysis.options.signature import joined
from judge.analysis.preferences import signature_parts
from judge.base.printing.tables import Column, Table

if TYPE_CHECKING:
    from judge.ratings.preferences_table import PreferencesTable

_BY: tuple[tuple[str, ...], ...] = (("judge", "eval_prompt"), ("judge", "criterion"))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """Counts of repeats in one group of pairwise comparisons, e.g. of one judge and Eval-Prompt.

    `decided` counts repeats with a verdict (one of the stories or a tie). `lost` counts repeats without one by status,
    e.g. ``not_answered``.
    """

    labels: tuple[str, ...]
    pairs: int
    asked: int
    answered: int
    decided: int
    ties: int
    lost: Mapping[str, int]

    @property
    def share(self) -> float:
        """Share of requested repeats of pairwise comparisons that have a verdict, in this group."""
        return self.decided / self.asked


@dataclass(frozen=True, slots=True)
class VerdictCoverage:
    """Pairwise comparisons counted by judge and Eval-Prompt, and by judge and criterion.

    There are no rows where nothing was compared.
    """

    rows: Mapping[tuple[str, ...], tuple[VerdictRow, ...]]
    causes: tuple[str, ...]
    signature_parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Signature line of the tables of verdicts, which lists each choice that can change their numbers."""
        return joined(self.signature_parts)

    @property
    def by_prompt(self) -> tuple[VerdictRow, ...]:
        """Counts of pairwise comparisons, one row per judge and Eval-Prompt."""
        return self.rows[_BY[0]]

    @property
    def share(self) -> float | None:
        """Share of requested repeats of pairwise comparisons that have a verdict; None where nothing was requested."""
        rows = self.by_prompt
        asked = sum(row.asked for row in rows)
        return sum(row.decided for row in rows) / asked if asked else None


def verdict_coverage(table: PreferencesTable) -> VerdictCoverage:
    """Coverage of all pairwise comparisons requested from judges: repeats requested, answered and decided."""
    frame = table.frame[table.frame["source"] == "judge"]
    lost = frame.loc[frame["preference"].isna(), "status"]
    causes = tuple(sorted(map(str, lost.unique())))
    rows = {by: tuple(_row(key, group, causes) for key, group in frame.groupby(list(by), sort=False)) for by in _BY}
    notes = dict.fromkeys(note for fact in table.facts for note in fact.notes)
    return VerdictCoverage(rows, causes, tuple(signature_parts(table)), tuple(notes))


def _row(key: Sequence[Any], group: pd.DataFrame, causes: Sequence[str]) -> VerdictRow:
    preference, status = group["preference"], group["status"]
    undecided = status[preference.isna()].value_counts()
    return VerdictRow(
        labels=tuple(map(str, key)),
        pairs=int(group[["dataset", "pair"]].drop_duplicates().shape[0]),
        asked=len(group),
        answered=int((~status.isin(NOT_ANSWERED)).sum()),
        decided=int(preference.notna().sum()),
        ties=int((preference == "tie").sum()),
        lost={cause: int(undecided.get(cause, 0)) for cause in causes},
    )


def tables(result: VerdictCoverage) -> list[Table]:
    """Tables of verdict counts: by judge and Eval-Prompt, and by judge and criterion."""
    return [_table(by, rows, result) for by, rows in result.rows.items()]


def sentence(result: VerdictCoverage) -> str:
    """A sentence with the number of pairwise comparisons requested, and the number and share that have a verdict."""
    rows = result.by_prompt
    asked, decided = sum(row.asked for row in rows), sum(row.decided for row in rows)
    share = f", {100 * result.share:.1f} %" if result.share is not None else ""
    return f"{asked} comparisons asked, {decided} decided{share}"


def _table(by: Sequence[str], rows: Sequence[VerdictRow], result: VerdictCoverage) -> Table:
    columns = [Column(name, name.replace("_", " ")) for name in (*by, "pairs", "asked", "answered", "decided")]
    columns += [Column("share", "decided %", digits=1, factor=100), Column("ties", "ties")]
    columns += [Column(cause, cause) for cause in result.causes]
    cells = [
        dict(zip(by, row.labels, strict=True))
        | {name: getattr(row, name) for name in ("pairs", "asked", "answered", "decided", "share", "ties")}
        | dict(row.lost)
        for row in rows
    ]
    title = "Verdicts by " + " and ".join(name.replace("eval_prompt", "Eval-Prompt") for name in by)
    return Table(title, columns, cells, result.signature, result.notes)
