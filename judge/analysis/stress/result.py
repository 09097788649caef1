"""Result of a stress test as typed rows: paired comparisons, and the statistics computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import StressOptions
from judge.base.estimate import Estimate
from judge.inputs.perturbations.perturbation import Facts
from judge.stats.estimation.equivalence import Equivalence
from judge.stats.ordering.detection import Detection

# What a row shows.
#
# Discrimination: found, weak (distinguished from chance, below .75), missed (not distinguished from chance, and .75
# is outside the interval), prefers (the changed story). Invariance: same, moved. Attacks: withstood, fell for.
# Degenerate stories: seen, fell for. `open`: these stories do not decide it.
Finding = Literal["found", "weak", "missed", "prefers", "same", "moved", "withstood", "fell for", "seen", "open"]


@dataclass(frozen=True, slots=True)
class Paired:
    """Test of one judge (or the control) on one criterion, for one perturbation at one strength, paired by original
    story.

    Attributes
    ----------
    subject : Subject
        Judge, Eval-Prompt, criterion and dataset.
    facts : Facts
        Description of the perturbation.
    strength : int
        Strength of the perturbation: a larger strength means more edits. 1 if it has only one strength.
    expected : bool
        Whether people would expect the perturbation to change ratings on this criterion. True for every
        criterion if the judge was asked about none of the criteria that the perturbation aims at.
    detection : Detection
        Share of pairs in which the untouched story is rated higher, with its counts and tests.
    drop : Estimate
        Mean of the untouched minus the changed story's rating, in points, clustered by story-prompt.
    against_noise : Estimate
        The drop divided by the standard deviation of the judge's repeats of one untouched story.
    detectable : float or None
        Smallest mean drop that would be detected with a power of 80 %; None if the drops do not vary.
    p, adjusted : float or None
        p value of the detection, and the p value adjusted over the tests of all judges in the report (None for
        the control). For attacks the test is one-sided (the changed story is rated higher), otherwise two-sided.
    wilcoxon : float or None
        Two-sided p value of the signed-rank test on the mean drops of story-prompts.
    same : Equivalence or None
        For invariance: two one-sided tests that the drop lies within the margin.
    flips : Estimate or None
        For invariance: probability that a rating of the changed story is a different point of the scale than a
        rating of the untouched story.
    top, top_before : Estimate or None
        For attacks: share of changed and of untouched stories rated at the top of the scale.
    lowest : Estimate or None
        For degenerate stories: share rated at the lowest point of the scale.
    asked, rated : int
        Number of changed stories that the judge was asked about, and number that have a rating.
    correlation, auc : Estimate or None
        Unpaired statistics as published: point-biserial correlation and AUC of all untouched stories against
        these changed stories.
    measured : bool
        Whether the values are those of a measure, which has no points of a scale. Statistics in points are
        then undefined or None, and detection counts the better value, which can be the lower one.
    finding : str or None
        The result in one or two words, such as ``missed`` or ``fell for``. None if an interval is missing, or if
        the perturbation should lower ratings, but not on this criterion.
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
        """Name of the perturbation, followed by its strength if the perturbation has several strengths."""
        return f"{self.facts.name} {self.strength}" if len(self.facts.strengths) > 1 else self.facts.name

    @property
    def change(self) -> Estimate:
        """Mean rating of the changed stories minus that of the untouched stories: the drop with its sign reversed."""
        drop = self.drop
        if drop.value is None:
            return drop
        low, high = (None if end is None else -end for end in (drop.high, drop.low))
        return replace(drop, value=-drop.value, low=low, high=high)

    @property
    def tail(self) -> str | None:
        """Alternative hypothesis of `p`: "greater" or "two-sided"; None if there is no p value."""
        if self.p is None:
            return None
        return "greater" if self.facts.test == "attack" else "two-sided"


@dataclass(frozen=True, slots=True)
class Null:
    """Null distribution of a judge: the repeats of untouched stories are split into two halves, and the second half is
    compared with the first as if it held ratings of perturbed stories.

    `detection` and `drop` are the results of this comparison. `flips` is the probability that two repeats give
    different points of the scale. `noise` is the standard deviation of single ratings within a story, and `spread` the
    standard deviation of mean ratings over stories.
    """

    subject: Subject
    detection: Detection
    drop: Estimate
    flips: Estimate
    noise: Estimate
    spread: Estimate


@dataclass(frozen=True, slots=True)
class Dose:
    """Dose response of one perturbation: how much more the rating drops for each doubling of the strength.

    `slope` is in points per doubling, averaged over original stories. `p` is the two-sided p value of its difference
    from 0; None if it cannot be tested.
    """

    subject: Subject
    facts: Facts
    strengths: tuple[int, ...]
    slope: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class Selectivity:
    """How much better one judge with one Eval-Prompt detects a perturbation on the criteria that it aims at than on the
    other criteria.

    Detection is the share of pairs in which the untouched story is rated higher; `by_criterion` holds it for each
    criterion. `difference` is the mean detection on the criteria `aimed` minus that on the other criteria.
    """

    subject: Subject
    facts: Facts
    strength: int
    by_criterion: Mapping[str, Estimate]
    aimed: tuple[str, ...]
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Contrast:
    """Detection by one judge on one criterion with the Eval-Prompt `second`, minus its detection with `first`.

    Detection is the share of pairs in which the untouched story is rated higher.
    """

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
    """Counts of a judge's answers in a stress test: repeats that were requested (`asked`), repeats that have a rating
    (`rated`), and repeats without a rating by status (`statuses`).

    `facts` describes the perturbation; it is None for untouched stories.
    """

    subject: Subject
    facts: Facts | None
    asked: int
    rated: int
    statuses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QualityControl:
    """How often a judge would have passed the quality control for crowd workers of Guan et al. 2021.

    On a scale from 1 to 5 the judge passes if it rates the human story 4 or higher and the spoilt story 2 or lower. On
    other scales the limits lie at the same fractions (3/4 and 1/4) of the range. `passed` is the share of stories that
    meet both conditions, `human_high` the share that meet the first, and `spoilt_low` the share that meet the second.
    Each share is computed for each story-prompt and then averaged over story-prompts.
    """

    subject: Subject
    facts: Facts
    strength: int
    passed: Estimate
    human_high: Estimate
    spoilt_low: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Stress(Signed):
    """Results of all stress tests of a ratings table.

    `rows` holds the paired comparisons, and `tests` is the number of tests over which their p values are adjusted. The
    other tuples hold the further statistics of the report, one row for each.
    """

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
        """A long frame of the comparisons of perturbed with untouched stories in all stress tests.

        It has one row for each judge, Eval-Prompt, criterion, perturbation and strength.
        """
        return self.signed([_flat(row) for row in self.rows])


_WITH_INTERVAL = ("detection", "drop", "top", "lowest")


def _flat(row: Paired) -> dict[str, Any]:
    flat: dict[str, Any] = {
        **{name: row.subject.labels[name] for name in ("dataset", "run", "judge", "eval_prompt", "criterion")},
        "perturbation": row.facts.name,
        "strength": row.strength,
        "test": row.facts.test,
        "expected": row.expected,
        "pairs": row.detection.estimate.n,
        "wins": row.detection.wins,
        "ties": row.detection.ties,
        "losses": row.detection.losses,
    }
    numbers = {"detection": row.detection.estimate, "drop": row.drop, "top": row.top, "lowest": row.lowest}
    flat |= dict(_ends((name, numbers[name]) for name in _WITH_INTERVAL))
    single = {"top_before": row.top_before, "flips": row.flips, "drop_in_noise": row.against_noise}
    single |= {"point_biserial": row.correlation, "auc": row.auc}
    flat |= {name: None if estimate is None else estimate.value for name, estimate in single.items()}
    return flat | {
        "detectable": row.detectable,
        "p": row.p,
        "tail": row.tail,
        "p_adjusted": row.adjusted,
        "p_wilcoxon": row.wilcoxon,
        "p_same": None if row.same is None else row.same.p,
        "asked": row.asked,
        "rated": row.rated,
        "finding": row.finding,
    }


def _ends(some: Iterable[tuple[str, Estimate | None]]) -> Iterable[tuple[str, float | None]]:
    for name, estimate in some:
        yield name, None if estimate is None else estimate.value
        yield f"{name}_low", None if estimate is None else estimate.low
        yield f"{name}_high", None if estimate is None else estimate.high


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
