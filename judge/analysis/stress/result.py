"""Result of a stress test as typed rows: paired comparisons, and the statistics computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import StressOptions
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.inputs.perturbations.perturbation import Facts
from judge.stats.estimation.means import Equivalence
from judge.stats.ordering.detection import Detection

# What a row shows.
#
# Discrimination: found, weak (distinguished from chance, below .75), missed (not distinguished from chance, and .75
# is outside the interval), prefers (the changed story). Invariance: same, moved. Attacks: withstood, fell for.
# Degenerate stories: seen, fell for. `open`: these stories do not decide it.
Finding = Literal["found", "weak", "missed", "prefers", "same", "moved", "withstood", "fell for", "seen", "open"]


@dataclass(frozen=True, slots=True)
class Paired:
    """Test of a judge (or control) on one criterion, for one perturbation at one strength, paired by original story.

    `strength` grows with the edits. `expected`: people would expect a change on this criterion; true for all if the
    judge was asked about none that the perturbation aims at. `detection` is the share of pairs in which the untouched
    story is rated higher. `drop` is the untouched minus the changed story's mean rating, in points, clustered by
    story-prompt; `against_noise` divides it by the standard deviation of the judge's repeats of one untouched story.
    `detectable` is the smallest mean drop with a power of 80 %; None if drops do not vary. `p` is of the detection,
    one-sided for attacks (the changed story is rated higher); `adjusted` is over all judges' tests; None for the
    control. `wilcoxon` is the two-sided p of the signed-rank test on mean drops of story-prompts. For invariance,
    `same` tests that the drop lies within the margin, and `flips` is the probability that ratings of both stories are
    different points. For attacks, `top` and `top_before` are the shares of changed and of untouched stories at the top
    of the scale; for degenerate stories, `lowest` that at the lowest point. `asked` and `rated` count changed stories.
    `correlation` (point-biserial) and `auc` are unpaired, as published. Values that are `measured` have no points:
    statistics in points are undefined or None, and detection counts the better value, which can be the lower one.
    `finding` is None if an interval is missing, or if the perturbation should lower ratings, but not on this criterion.
    """

    subject: Subject
    facts: Facts
    strength: int
    expected: bool
    detection: Detection
    drop: Estimate
    against_noise: Estimate
    detectable: float | None
    p: float | None
    wilcoxon: float | None
    asked: int
    rated: int
    same: Equivalence | None = None
    flips: Estimate | None = None
    top: Estimate | None = None
    top_before: Estimate | None = None
    lowest: Estimate | None = None
    correlation: Estimate | None = None
    auc: Estimate | None = None
    adjusted: float | None = None
    measured: bool = False
    finding: Finding | None = None

    @property
    def name(self) -> str:
        """Name of the perturbation, and its strength if there are several."""
        return f"{self.facts.name} {self.strength}" if len(self.facts.strengths) > 1 else self.facts.name

    @property
    def change(self) -> Estimate:
        """The drop with its sign reversed: changed minus untouched."""
        drop = self.drop
        if drop.value is None:
            return drop
        low, high = (None if end is None else -end for end in (drop.high, drop.low))
        return replace(drop, value=-drop.value, low=low, high=high)

    @property
    def tail(self) -> str | None:
        """Alternative hypothesis of `p`; None without p."""
        if self.p is None:
            return None
        return "greater" if self.facts.test == "attack" else "two-sided"


@dataclass(frozen=True, slots=True)
class Null:
    """Null distribution of a judge: the second half of the repeats of untouched stories is compared with the first as
    if it held ratings of perturbed stories. `flips` is the probability that two repeats give different points; `noise`
    the standard deviation of single ratings within a story, `spread` that of mean ratings over stories."""

    subject: Subject
    detection: Detection
    drop: Estimate
    flips: Estimate
    noise: Estimate
    spread: Estimate


@dataclass(frozen=True, slots=True)
class Dose:
    """Dose response of one perturbation: `slope` is the drop in points for each doubling of the strength, averaged over
    original stories; `p` is two-sided, None if it cannot be tested."""

    subject: Subject
    facts: Facts
    strengths: tuple[int, ...]
    slope: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class Selectivity:
    """Mean detection of a perturbation by one judge with one Eval-Prompt on the criteria `aimed`, minus that on the
    others. Detection is the share of pairs in which the untouched story is rated higher."""

    subject: Subject
    facts: Facts
    strength: int
    by_criterion: Mapping[str, Estimate]
    aimed: tuple[str, ...]
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Contrast:
    """Detection by one judge on one criterion with the Eval-Prompt `second`, minus its detection with `first`."""

    subject: Subject
    facts: Facts
    strength: int
    first: str
    second: str
    difference: Estimate
    p: float | None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """Repeats that were `asked`, that have a rating, and without one by status; no `facts` for untouched stories."""

    subject: Subject
    facts: Facts | None
    asked: int
    rated: int
    statuses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QualityControl:
    """How often a judge would have passed the quality control for crowd workers of Guan et al. 2021. On a scale from 1
    to 5 the judge passes if it rates the human story 4 or higher (`human_high`) and the spoilt story 2 or lower
    (`spoilt_low`). On other scales the limits lie at the same fractions (3/4 and 1/4) of the range. Shares are computed
    for each story-prompt and then averaged."""

    subject: Subject
    facts: Facts
    strength: int
    passed: Estimate
    human_high: Estimate
    spoilt_low: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Stress(Signed):
    """Results of all stress tests of a ratings table; p of `rows` is adjusted over so many `tests`."""

    rows: tuple[Paired, ...]
    nulls: tuple[Null, ...]
    doses: tuple[Dose, ...]
    selectivity: tuple[Selectivity, ...]
    contrasts: tuple[Contrast, ...]
    lost: tuple[Lost, ...]
    quality: tuple[QualityControl, ...]
    tests: int
    options: StressOptions
    abbreviations: Mapping[str, str] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge, Eval-Prompt, criterion, perturbation and strength."""
        return self.signed([_flat(row) for row in self.rows])


def _flat(row: Paired) -> dict[str, Any]:
    flat: dict[str, Any] = {
        **{name: row.subject.labels[name] for name in ("dataset", "run", "judge", "eval_prompt", "criterion")},
        "perturbation": row.facts.name,
        "strength": row.strength,
        "test": row.facts.test,
        "expected": row.expected,
        "pairs": row.detection.estimate.n,
        **cells_of(row.detection, "wins", "ties", "losses"),
    }
    for name, estimate in {"detection": row.detection.estimate, **cells_of(row, "drop", "top", "lowest")}.items():
        ends = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
        flat |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
    single = {"top_before": row.top_before, "flips": row.flips, "drop_in_noise": row.against_noise}
    single |= {"point_biserial": row.correlation, "auc": row.auc}
    flat |= {name: None if estimate is None else estimate.value for name, estimate in single.items()}
    return flat | {
        **cells_of(row, "detectable", "p", "tail"),
        "p_adjusted": row.adjusted,
        "p_wilcoxon": row.wilcoxon,
        "p_same": None if row.same is None else row.same.p,
        **cells_of(row, "asked", "rated", "finding"),
    }


# Summarises a stress test for each judge: which perturbations it notices, misses, is moved by or falls for.

# Finding -> how a verdict begins, bad ones first.
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

_BEST: dict[Finding, int] = {"found": 0, "weak": 1, "open": 2, "prefers": 3, "missed": 4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The perturbations on which one judge has the same finding, each with the row that supports it."""

    subject: Subject
    finding: Finding
    rows: tuple[Paired, ...]

    @property
    def sentence(self) -> str:
        """Their names, each with a number that supports the finding: by kind of test, the share detected, the mean
        change in points, or the share of stories rated lowest."""
        return ", ".join(f"{row.facts.name} ({_number(row)})" for row in self.rows)


def verdicts(result: Stress) -> Iterator[Verdict]:
    """Verdicts on each judge and Eval-Prompt, at the highest strength of each perturbation. One that should be noticed
    counts as noticed if it is on at least one of the criteria that it should change; any other counts as moving or
    fooling the judge if it does so on at least one."""
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
    """The row of the criterion on which the judge does best, if the perturbation should be noticed, else worst."""
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
