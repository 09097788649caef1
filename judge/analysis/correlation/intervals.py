"""Intervals for all rows of one dataset from one set of resamples. Draws once, so that rows are paired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.statistic import Floats, Statistic
from judge.analysis.options import CorrelationOptions
from judge.rating_matrix import RatingMatrix
from judge.stats import interval, interval_coverage, resample
from judge.stats.estimate import Estimate

_NAMES = {"percentile": "percentile", "bca": "BCa", "calibrated": "calibrated percentile"}

MIN_UNITS = 5
"""With fewer units to resample an interval says more about the number of units than about the judge."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """How intervals are made: in closed form, from resamples, or (with a note that says why) not at all.

    `sets` are the resamples and, for BCa, for each resampled unit the data without one of them, or, for calibrated
    intervals, the resamples of either unit alone. Values of a statistic
    are kept in the same form: one array a set.
    """

    how: str
    statistic: Statistic
    sets: tuple[resample.Resamples, ...] = ()
    kind: str = "percentile"
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions, statistic: Statistic) -> Intervals:
        """Draw the resamples that the options ask for."""
        how = options.interval
        if not how.startswith("boot"):
            return cls(how, statistic)
        units = {"boot-inputs": "story-prompts", "boot-systems": "systems", "boot-stories": "stories"}
        few = []
        if how in ("boot-inputs", "boot-both") and np.unique(matrix.story_prompt).size < MIN_UNITS:
            few.append("story-prompts")
        if how in ("boot-systems", "boot-both") and len(matrix.systems) < MIN_UNITS:
            few.append("systems")
        if few or matrix.n < MIN_UNITS:
            what = " and ".join(few or ["stories"])
            note = f"{matrix.dataset}: no intervals, fewer than {MIN_UNITS} {what}"
            return cls(how, statistic, notes=(note,))
        rng, count = np.random.default_rng(options.seed), options.resamples
        if how == "boot-both":
            drawn = resample.draw_both(matrix.system, matrix.story_prompt, count, rng)
            what = "systems and story-prompts"
        else:
            unit = {
                "boot-inputs": matrix.story_prompt,
                "boot-systems": matrix.system,
                "boot-stories": np.arange(matrix.n),
            }
            drawn, what = resample.draw(unit[how], count, rng, how), units[how]
        more = {"percentile": tuple, "bca": drawn.jackknife, "calibrated": drawn.one_way}[options.interval_kind]
        sets = (drawn, *more())
        name = _NAMES[options.interval_kind]
        note = f"intervals: {name}, {count} resamples of {what}, the same for every row"
        if how == "boot-inputs":
            note += "; the systems are taken as they are (--ci boot-both asks about new systems too)"
        kind: interval_coverage.Kind = (
            "calibrated percentile" if options.interval_kind == "calibrated" else options.interval_kind
        )
        cautions = interval_coverage.cautions(how, kind, options.level, len(matrix.systems))
        return cls(how, statistic, sets, options.interval_kind, (note, *cautions))

    def values(self, x: Floats, y: Floats) -> tuple[Floats, ...]:
        """The correlation in each set: shape (b,), or (judges, b) for x of shape (judges, n)."""
        return tuple(self.statistic.resampled(x, y, resamples) for resamples in self.sets)

    def of_values(self, estimate: Estimate, values: tuple[Floats, ...]) -> Estimate:
        """The estimate with its interval from its values in the sets, where there are any."""
        if not values:
            return estimate
        name = _NAMES[self.kind]
        method = ", ".join(part for part in (estimate.method, f"{self.how}, {name}, 95 %") if part)
        if self.kind == "bca":
            return interval.bca(estimate, values[0], values[1:], method)
        if self.kind == "calibrated":
            units = [factor.counts.shape[1] for factor in self.sets[0].factors]
            return interval.percentile(estimate, interval.calibrated(values[0], values[1:], units), method)
        return interval.percentile(estimate, values[0], method)
