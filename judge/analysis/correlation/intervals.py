"""Intervals for all rows of one dataset's correlation table, from the same resamples, so that rows are paired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np

from judge.analysis.correlation.statistic import Floats, Statistic
from judge.analysis.inputs.resamples import draw
from judge.analysis.options.choices import INTERVALS, LEVELS, METHODS, IntervalMethod, NamedInterval, Unit
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.resampling import bootstrap, interval_coverage, intervals

MIN_UNITS = 5
"""With fewer units to resample an interval says more about the number of units than about the judge."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Method of the intervals of one dataset: closed form, resampling, or no interval (with a note on the reason).

    `sets[0]` holds the resamples. For BCa intervals, further sets leave out one unit (e.g. one story-prompt) at a time.
    For calibrated intervals, one further set resamples only the story-prompts and another only the systems. Resampled
    values of a statistic are one array for each set. `notes` are sentences for below the table, `signature_parts` are
    additional parts of its signature.
    """

    how: NamedInterval
    statistic: Statistic
    sets: tuple[bootstrap.Resamples, ...] = ()
    method: IntervalMethod = "expanded"
    notes: tuple[str, ...] = ()
    signature_parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions, statistic: Statistic) -> Intervals:
        """The method of the intervals for a dataset, with the resamples that the options request.

        Where resamples of story-prompts are requested but there are too few story-prompts, stories are resampled. If
        the units to be resampled (stories, systems, or systems and story-prompts) are too few as well, there are no
        resamples, and a note gives the reason.
        """
        how, method = options.interval, options.method
        if not INTERVALS[how].resampled:
            return cls(how, statistic)
        prompts, systems = np.unique(matrix.story_prompt).size, len(matrix.systems)
        notes, parts = [], []
        if how == "boot-inputs" and prompts < MIN_UNITS <= matrix.n:
            how = "boot-stories"
            notes.append(interval_coverage.few_story_prompts(matrix.dataset, prompts, LEVELS[options.level].coverage))
            parts.append(f"ci:{matrix.dataset}:boot-stories")
        sizes: dict[Unit, int] = {"story-prompts": prompts, "systems": systems, "stories": matrix.n}
        resampled = INTERVALS[how].resampled
        few = [unit for unit in ("story-prompts", "systems") if unit in resampled and sizes[unit] < MIN_UNITS]
        if few or matrix.n < MIN_UNITS:
            too_few = " and ".join(few or ["stories"])
            return cls(how, statistic, notes=(f"{matrix.dataset}: no intervals, fewer than {MIN_UNITS} {too_few}",))
        drawn = draw(matrix, how, options.resamples, np.random.default_rng(options.seed))
        sets = (drawn, *(drawn.jackknife() if method == "bca" else drawn.one_way() if method == "calibrated" else ()))
        notes.insert(0, _note(how, method, options))
        if options.level == "system" and options.given and method == "true-means":
            notes.append("intervals of partial correlations: expanded percentiles, of sample means")
        if not parts:
            notes += interval_coverage.cautions(how, method, LEVELS[options.level].coverage, sizes[resampled[0]])
        return cls(how, statistic, sets, method, tuple(notes), tuple(parts))

    def first(self, most: int) -> Intervals:
        """Copy of this method of intervals that uses at most the first `most` resamples."""
        kept = []
        for resample_set in self.sets[:1]:
            factors = tuple(replace(factor, counts=factor.counts[:most]) for factor in resample_set.factors)
            kept.append(replace(resample_set, factors=factors))
        if self.method == "calibrated":
            return replace(self, sets=(*kept, *(way for resample_set in kept for way in resample_set.one_way())))
        return replace(self, sets=(*kept, *self.sets[1:]))

    def values(self, x: Floats, y: Floats) -> tuple[Floats, ...]:
        """The correlation of x and y in each resample, one array for each set of resamples.

        For x of shape (n stories,) an array has shape (b resamples,); for x of shape (judges, n) it has shape (judges,
        b).
        """
        return tuple(self.statistic.resampled(x, y, resamples) for resamples in self.sets)

    def of_values(self, estimate: Estimate, values: tuple[Floats, ...]) -> Estimate:
        """The estimate with an interval computed from its values in resamples; unchanged if there are no values.

        The interval always contains the estimate.
        """
        if not values:
            return estimate
        parts = (estimate.method, self.how, METHODS[self.method], "95 %")
        method = ", ".join(part for part in parts if part)
        units = [factor.counts.shape[1] for factor in self.sets[0].factors]
        match self.method:
            case "expanded":
                return intervals.expanded(estimate, values[0], min(units), method)
            case "bca":
                return intervals.holding(intervals.bca(estimate, values[0], values[1:], method))
            case "calibrated":
                spread = intervals.calibrated(values[0], values[1:], units)
            case "percentile" | "true-means":
                spread = values[0]
            case _:
                assert_never(self.method)
        return intervals.holding(intervals.percentile(estimate, spread, method))

    def of_given(self, estimate: Estimate, values: tuple[Floats, ...]) -> Estimate:
        """The partial correlation with an interval computed from its values in resamples.

        Over system means, these values are computed from sample means of the systems. The interval is therefore never
        of the kind ``true-means``, which needs estimated true means.
        """
        method: IntervalMethod = "expanded" if self.method == "true-means" else self.method
        return replace(self, method=method).of_values(estimate, values)


def _note(how: NamedInterval, method: IntervalMethod, options: CorrelationOptions) -> str:
    units = INTERVALS[how].units
    note = f"intervals: {METHODS[method]}, {options.resamples} resamples of {units}, the same for every row"
    if method == "true-means":
        note += (
            f"; they are for the correlation of these systems' true means, of judge and people alike, over {units} "
            "like these. The value is that of sample means: noise on one side moves it towards 0, noise that both "
            "sides share moves it away from 0; so it can lie at an end of the interval"
        )
    if how == "boot-inputs":
        asks = Advice("{ci} gives intervals for new systems too", ci="boot-both")
        return Note(f"{note}; the systems are treated as fixed", asks)
    return note
