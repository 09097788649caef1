"""Result of stress tests: typed rows of pairs, and statistics made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import StressOptions
from judge.perturbations.perturbation import Facts
from judge.stats.estimate import Estimate
from judge.stats.estimation.equivalence import Equivalence
from judge.stats.ordering.detection import Detection

Finding = Literal["found", "weak", "missed", "prefers", "same", "moved", "withstood", "fell for", "seen", "open"]
"""What a row shows.

Discrimination: found, weak (distinguished from chance, below .75), missed (not distinguished from chance, and .75 is
outside the interval), prefers (the changed story). Invariance: same, moved. Attacks: withstood, fell for. Degenerate
stories: seen, fell for. `open`: these stories do not decide it.
"""


@dataclass(frozen=True, slots=True)
class Paired:
    """Test of one judge (or the control) on one criterion, for one perturbation at one strength, paired by origin.

    Attributes
    ----------
    subject : Subject
    facts : Facts
        Of the perturbation.
    strength : int
    expected : bool
        Whether people would expect this criterion to move; True of every criterion where the judge was asked about
        none that the perturbation aims at.
    detection : Detection
    drop : Estimate
        Mean of untouched minus changed, in points, clustered by story-prompt.
    against_noise : Estimate
        The drop in standard deviations of the judge's own repeats of one untouched story.
    detectable : float or None
        The smallest mean drop found in four of five repetitions; None without a variance.
    p, adjusted : float or None
        Of detection: two-sided, for attacks one-sided (the changed story is rated higher); adjusted over the report.
    wilcoxon : float or None
        Of the signed ranks of story-prompts' mean drops, two-sided.
    same : Equivalence or None
        For invariance: two one-sided tests of the drop within the margin.
    flips : Estimate or None
        For invariance: chance that a rating of the changed story is another point than one of the untouched.
    top, top_before : Estimate or None
        For attacks: share of changed, and of untouched, stories at the top of the scale.
    lowest : Estimate or None
        For degenerate stories: share rated at the lowest point.
    asked, rated : int
        Changed stories that the judge was asked about, and that have a rating.
    correlation, auc : Estimate or None
        As published: point-biserial correlation and AUC of all untouched and these changed stories, unpaired.
    measured : bool
        Whether these are values of a measure, which has no points: what is counted in points is undefined or None, and
        detection is of the better value, which of some measures is the lower.
    finding : str or None
        None where nothing is expected of the criterion, or nothing is known.
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
        """The perturbation, with its strength where there are several."""
        return f"{self.facts.name} {self.strength}" if len(self.facts.strengths) > 1 else self.facts.name

    @property
    def change(self) -> Estimate:
        """Mean change of the rating: the drop with its sign reversed."""
        drop = self.drop
        if drop.value is None:
            return drop
        low, high = (None if end is None else -end for end in (drop.high, drop.low))
        return replace(drop, value=-drop.value, low=low, high=high)

    @property
    def tail(self) -> str | None:
        """Alternative of the test that p belongs to, "greater" or "two-sided"; None without p."""
        if self.p is None:
            return None
        return "greater" if self.facts.test == "attack" else "two-sided"


@dataclass(frozen=True, slots=True)
class Null:
    """Null distribution from the repeats of untouched stories: one half of them compared with the other.

    `noise` is the standard deviation of single ratings within stories, `spread` that of stories' means.
    """

    subject: Subject
    detection: Detection
    drop: Estimate
    flips: Estimate
    noise: Estimate
    spread: Estimate


@dataclass(frozen=True, slots=True)
class Dose:
    """Growth of the drop with strength: the mean slope over origins, in points per doubling of strength."""

    subject: Subject
    facts: Facts
    strengths: tuple[int, ...]
    slope: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class Selectivity:
    """Detection by one judge and Eval-Prompt on the criteria that a perturbation aims at, minus that on the others."""

    subject: Subject
    facts: Facts
    strength: int
    by_criterion: Mapping[str, Estimate]
    aimed: tuple[str, ...]
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Contrast:
    """Detection by one judge on one criterion with a second Eval-Prompt, minus that with the first."""

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
    """Counts by status of the repeats without a rating; `facts` is None for untouched stories."""

    subject: Subject
    facts: Facts | None
    asked: int
    rated: int
    statuses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QualityControl:
    """Share of story-prompts where the judge would have passed the study's quality control.

    On a scale of 1-5 it rates the human story 4 or higher and the spoilt one 2 or lower; other scales: as far along.
    """

    subject: Subject
    facts: Facts
    strength: int
    passed: Estimate
    human_high: Estimate
    spoilt_low: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Stress(Signed):
    """All stress tests of a ratings table."""

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
        """Long table: one row for each judge, Eval-Prompt, criterion, perturbation and strength."""
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
