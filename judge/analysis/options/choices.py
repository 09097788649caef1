"""The choices of a correlation: level, resampled units and method of the interval, each with its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from judge.base.choices import registry
from judge.stats.resampling import bootstrap_intervals
from judge.stats.resampling.resampled_correlations import Grouping

Level = Literal["overall", "system", "by-item", "by-system"]
NamedInterval = Literal["boot-inputs", "boot-both", "boot-systems", "boot-stories", "fisher-z", "delong", "none"]
IntervalMethod = Literal["expanded", "true-means", "percentile", "bca", "calibrated"]
BothInterval = Literal["calibrated", "bca"]
Unit = Literal["stories", "story-prompts", "systems"]


@dataclass(frozen=True, slots=True)
class LevelRecord:
    """All that depends on the choice of a level. `over` says over what correlations are, `unit` what their `n` counts.
    `coverage` names the simulations that tell how often an interval holds the true value. `fixed_systems`,
    `new_systems` and `both` are methods of intervals: of resamples that leave the systems as they are, of resampled
    systems, and of both systems and story-prompts."""

    over: str
    unit: str
    grouping: Grouping
    group: Unit | None = None
    coverage: bootstrap_intervals.Level = "overall"
    fixed_systems: IntervalMethod = "expanded"
    new_systems: IntervalMethod = "expanded"
    both: BothInterval = "bca"


LEVELS: Mapping[Level, LevelRecord] = registry(
    Level,
    {
        "overall": LevelRecord("over all stories", "stories", "overall", both="calibrated"),
        "system": LevelRecord(
            *("over system means", "systems", "means", "systems"),
            coverage="system",
            fixed_systems="true-means",
            new_systems="percentile",
        ),
        "by-item": LevelRecord("averaged over story-prompts", "story-prompts", "within", "story-prompts"),
        "by-system": LevelRecord("averaged over systems", "systems", "within", "systems"),
    },
)


@dataclass(frozen=True, slots=True)
class IntervalRecord:
    """All that depends on the choice of an interval: resampled units, Fisher's z, or DeLong's variance of the AUC."""

    resampled: tuple[Unit, ...] = ()
    fisher: bool = False
    delong: bool = False

    @property
    def units(self) -> str:
        return " and ".join(self.resampled)


INTERVALS: Mapping[NamedInterval, IntervalRecord] = registry(
    NamedInterval,
    {
        "boot-inputs": IntervalRecord(("story-prompts",)),
        "boot-both": IntervalRecord(("systems", "story-prompts")),
        "boot-systems": IntervalRecord(("systems",)),
        "boot-stories": IntervalRecord(("stories",)),
        "fisher-z": IntervalRecord(fisher=True),
        "delong": IntervalRecord(delong=True),
        "none": IntervalRecord(),
    },
)

# Method of an interval from resampled values -> its name in notes.
METHODS: Mapping[IntervalMethod, str] = registry(
    IntervalMethod,
    {
        "expanded": "expanded percentile",
        "true-means": "true means",
        "percentile": "percentile",
        "bca": "BCa",
        "calibrated": "calibrated percentile",
    },
)
