"""Summarises a stress test for each judge: which perturbations it notices, misses, is moved by or falls for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.analysis.inputs.candidates import Subject
from judge.analysis.stress.result import Finding, Paired, Stress

FINDING_WORDS: dict[Finding, str] = {
    "missed": "misses",
    "prefers": "prefers",
    "weak": "notices at times",
    "found": "notices",
    "moved": "is moved by",
    "same": "is not moved by",
    "fell for": "falls for",
    "withstood": "withstands",
    "seen": "rates lowest",
    "open": "not decided",
}
"""Finding -> how a verdict begins, bad ones first."""

_BEST: dict[Finding, int] = {"found": 0, "weak": 1, "open": 2, "prefers": 3, "missed": 4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The perturbations on which one judge has the same finding, e.g. ``missed``, each with the row that
    supports it.
    """

    subject: Subject
    finding: Finding
    rows: tuple[Paired, ...]

    @property
    def sentence(self) -> str:
        """Names of the perturbations with this finding. After each name, a number in brackets supports the finding:
        depending on the kind of test, the share detected, the mean change in points, or the share of stories rated
        lowest.
        """
        return ", ".join(f"{row.facts.name} ({_number(row)})" for row in self.rows)


def verdicts(result: Stress) -> Iterator[Verdict]:
    """Yield the verdicts on each judge and Eval-Prompt, from the findings at the highest strength of each perturbation.

    A perturbation that should be noticed counts as noticed if the judge notices it on at least one of the criteria that
    it should change. Any other perturbation counts as moving or fooling the judge if it does so on at least one
    criterion.
    """
    groups: dict[tuple[str | None, ...], list[Paired]] = {}
    for row in result.rows:
        subject = row.subject
        groups.setdefault((subject.dataset, subject.run, subject.judge, subject.eval_prompt), []).append(row)
    for rows in groups.values():
        results = [_of_perturbation(some) for some in _by_perturbation(rows)]
        for finding in FINDING_WORDS:
            rows_found = tuple(row for row in results if row is not None and row.finding == finding)
            if rows_found:
                yield Verdict(rows_found[0].subject, finding, rows_found)


def _by_perturbation(rows: Sequence[Paired]) -> list[list[Paired]]:
    strongest: dict[str, int] = {}
    for row in rows:
        strongest[row.facts.name] = max(row.strength, strongest.get(row.facts.name, 0))
    return [
        [row for row in rows if row.facts.name == name and row.strength == strength and row.finding is not None]
        for name, strength in strongest.items()
    ]


def _of_perturbation(rows: Sequence[Paired]) -> Paired | None:
    """The row of a stress test that represents a perturbation, chosen from its rows on several criteria; None if there
    are no rows.

    If the perturbation should be noticed, it is the row of the criterion on which the judge does best, otherwise of the
    criterion on which it does worst.
    """
    if not rows:
        return None
    if rows[0].facts.test == "discrimination":
        return min(rows, key=lambda row: (_BEST[row.finding or "open"], -(row.detection.estimate.value or 0)))
    worst = [row for row in rows if row.finding in ("moved", "fell for")]
    some = worst or [row for row in rows if row.finding == "open"] or rows
    return max(some, key=_size)


def _size(row: Paired) -> float:
    return abs((row.detection.estimate.value or 0.0) - 0.5) if row.measured else abs(row.drop.value or 0)


def _number(row: Paired) -> str:
    if row.facts.test == "discrimination" or row.measured:
        return f"{row.detection.estimate.value or 0:.2f}"
    if row.facts.test == "degenerate":
        return f"{100 * ((row.lowest and row.lowest.value) or 0):.0f} %"
    return f"{row.change.value or 0:+.2f}".replace("-0.00", "+0.00")
