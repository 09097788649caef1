"""Intervals for all rows of one dataset from one set of resamples. Draws once, so that rows are paired."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.statistic import Floats, Statistic
from judge.analysis.options import CorrelationOptions
from judge.rating_matrix import RatingMatrix
from judge.stats import resample
from judge.stats.estimate import Estimate

MIN_UNITS = 5
"""With fewer units to resample an interval says more about the number of units than about the judge."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """How intervals are made: in closed form, from resamples, or (with a note that says why) not at all."""

    how: str
    statistic: Statistic
    resamples: resample.Resamples | None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions, statistic: Statistic) -> Intervals:
        """Draw the resamples that the options ask for."""
        how = options.interval
        if not how.startswith("boot"):
            return cls(how, statistic, None)
        units = {"boot-inputs": "story-prompts", "boot-systems": "systems", "boot-stories": "stories"}
        few = []
        if how in ("boot-inputs", "boot-both") and np.unique(matrix.story_prompt).size < MIN_UNITS:
            few.append("story-prompts")
        if how in ("boot-systems", "boot-both") and len(matrix.systems) < MIN_UNITS:
            few.append("systems")
        if few or matrix.n < MIN_UNITS:
            what = " and ".join(few or ["stories"])
            return cls(how, statistic, None, (f"{matrix.dataset}: no intervals, fewer than {MIN_UNITS} {what}",))
        rng, count = np.random.default_rng(options.seed), options.resamples
        if how == "boot-both":
            drawn = resample.draw_both(matrix.system, matrix.story_prompt, count, rng)
            note = f"intervals: percentile, {count} resamples of systems and story-prompts, the same for every row"
            return cls(how, statistic, drawn, (note,))
        unit = {"boot-inputs": matrix.story_prompt, "boot-systems": matrix.system, "boot-stories": np.arange(matrix.n)}
        note = f"intervals: percentile, {count} resamples of {units[how]}, the same for every row"
        if how == "boot-inputs":
            note += "; the systems are taken as they are (--ci boot-both asks about new systems too)"
        return cls(how, statistic, resample.draw(unit[how], count, rng, how), (note,))

    def values(self, x: Floats, y: Floats) -> Floats | None:
        """The correlation in each resample, shape (b,), or (judges, b) for x of shape (judges, n)."""
        return None if self.resamples is None else self.statistic.resampled(x, y, self.resamples)

    def of_values(self, estimate: Estimate, values: Floats | None) -> Estimate:
        """The estimate with a percentile interval from its values in the resamples, where there are any."""
        if values is None or self.resamples is None:
            return estimate
        method = ", ".join(part for part in (estimate.method, f"{self.how}, percentile, 95 %") if part)
        return resample.percentile(estimate, values, method)
