"""A correlation statistic (one coefficient at one level), computed on data and on resamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.resamples import LEAST_UNITS, draw
from judge.analysis.options.choices import INTERVALS, LEVELS, METHODS, IntervalMethod, Level, NamedInterval, Unit
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.arrays import Codes, Floats, ratio
from judge.base.estimate import Estimate
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import coefficients, kendall
from judge.stats.correlation.coefficients import Coefficient
from judge.stats.correlation.heterogeneity import partial
from judge.stats.resampling import bootstrap, resampled_correlations, true_means
from judge.stats.resampling import bootstrap_intervals as intervals
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.resampled_correlations import FEW_STORIES

# Correlations of many pairs of variables that are computed together, before each is asked for.

Drawn = Callable[[Floats, Floats, Resamples], Floats]
# Two variables, shape (n stories,) each; NaN = no value.
Pair = tuple[Floats, Floats]


class Known:
    """Correlations of pairs of variables on the data and in resamples, by the values of the pairs."""

    def __init__(self) -> None:
        self._estimates: dict[bytes, Estimate] = {}
        self._drawn: dict[tuple[int, bytes], Floats] = {}

    def learn(self, pairs: Iterable[Pair], group: Codes | None) -> None:
        """Compute tau-b of these pairs, over stories or over means of their groups. Forget all that was known."""
        self._estimates, self._drawn = {}, {}
        keys, x, y = _stacked(pairs)
        if not keys:
            return
        if group is not None:
            x, y = _group_means(x, y, group)
        taus, _ = resampled_correlations.taus(x, y)
        counts, defined = _defined(x, y)
        defined_rows = np.flatnonzero(defined).tolist()
        self._estimates = {keys[i]: Estimate(float(taus[i]), n=int(counts[i])) for i in defined_rows}

    def learn_drawn(self, pairs: Iterable[Pair], resamples: Resamples, drawn: Drawn) -> None:
        """Compute the values of these pairs in resamples by `drawn`, which takes pairs of shape (pairs, n stories)."""
        keys, x, y = _stacked(pairs)
        if keys:
            values = drawn(x, y, resamples)
            self._drawn |= {(id(resamples), key): row for key, row in zip(keys, values, strict=True)}

    def estimate(self, x: Floats, y: Floats) -> Estimate | None:
        """The correlation without an interval; None where it is not known or undefined."""
        return self._estimates.get(_key(x, y)) if self._estimates else None

    def resampled(self, x: Floats, y: Floats, resamples: Resamples) -> Floats | None:
        """The correlation in each resample: (B,) for x of shape (n,), (judges, B) for (judges, n); None = not known."""
        if not self._drawn or y.ndim > 1:
            return None
        rows = [self._drawn.get((id(resamples), _key(row, y))) for row in np.atleast_2d(x)]
        known = [row for row in rows if row is not None]
        if len(known) < len(rows):
            return None
        return np.stack(known) if x.ndim > 1 else known[0]


def _key(x: Floats, y: Floats) -> bytes:
    return x.tobytes() + y.tobytes()


def _stacked(pairs: Iterable[Pair]) -> tuple[list[bytes], Floats, Floats]:
    """The keys of these pairs, each once, and the first and the second variables, shape (pairs, n stories)."""
    of_key = {_key(x, y): (x, y) for x, y in pairs}
    x, y = (np.stack([pair[side] for pair in of_key.values()]) if of_key else np.empty((0, 0)) for side in (0, 1))
    return list(of_key), x, y


def _defined(x: Floats, y: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    both = ~(np.isnan(x) | np.isnan(y))
    counts = both.sum(axis=1)
    defined = counts >= coefficients.MIN_PAIRS
    for side in (x, y):
        spread = np.where(both, side, -np.inf).max(axis=1) - np.where(both, side, np.inf).min(axis=1)
        defined &= spread >= coefficients.SAME
    return counts, defined


def _group_means(x: Floats, y: Floats, group: Codes) -> tuple[Floats, Floats]:
    """Means in each group over the stories that both have, shape (rows, groups); NaN without a story."""
    both, groups = ~(np.isnan(x) | np.isnan(y)), int(group.max()) + 1
    cell = (group + groups * np.arange(len(x))[:, None])[both]
    counts, *sums = (
        np.bincount(cell, weights=side, minlength=len(x) * groups).reshape(-1, groups)
        for side in (None, x[both], y[both])
    )
    return ratio(sums[0], counts), ratio(sums[1], counts)


NAMES = ("the judge's ratings", "the people's ratings")


class Side:
    """A variable of n stories (NaN = none), and its rank codes, computed when first needed."""

    def __init__(self, values: Floats, codes: Codes | None = None) -> None:
        self.values, self._codes = values, codes

    @property
    def codes(self) -> Codes:
        if self._codes is None:
            self._codes = kendall.codes(self.values)
        return self._codes

    def only(self, keep: NDArray[np.bool_]) -> Side:
        """A copy with NaN for all stories outside the mask."""
        return Side(np.where(keep, self.values, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """The coefficient and the level of a correlation, with each story's system and story-prompt, shape (n stories,).
    With a `seed`, resampled correlations over system means use estimated true means
    (`judge.stats.resampling.true_means`). Correlations that are in `known` are taken from there."""

    coefficient: Coefficient
    level: Level
    system: Codes
    story_prompt: Codes
    seed: int | None = None
    known: Known | None = None

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions) -> Statistic:
        """The statistic that the options choose, for the stories of this dataset."""
        seed = options.seed if options.method == "true-means" else None
        return cls(options.coefficient, options.level, matrix.system, matrix.story_prompt, seed)

    @property
    def group(self) -> Codes:
        """Group of each story: story-prompt for `by-item`, else system; shape (n stories,)."""
        return self.story_prompt if LEVELS[self.level].group == "story-prompts" else self.system

    def estimate(self, x: Side, y: Side, names: tuple[str, str] = NAMES) -> Estimate:
        found = None if self.known is None else self.known.estimate(x.values, y.values)
        if found is not None:
            return found
        grouping = LEVELS[self.level].grouping
        if grouping == "means":
            return coefficients.correlate_means(x.values, y.values, self.group, self.coefficient, names=names)
        if grouping == "within":
            return coefficients.correlate_within(x.values, y.values, self.group, self.coefficient)
        if grouping != "overall":
            assert_never(grouping)
        if self.coefficient != "kendall":
            return coefficients.correlate(x.values, y.values, self.coefficient, names=names, unit="stories")
        keep = ~(np.isnan(x.values) | np.isnan(y.values))
        reason = coefficients.undefined_reason(x.values[keep], y.values[keep], names, "stories")
        n = int(keep.sum())
        return Estimate.undefined(reason, n=n) if reason else Estimate(kendall.tau_b(x.codes, y.codes), n=n)

    def resampled(self, x: Floats, y: Floats, resamples: Resamples) -> Floats:
        """The correlation in each resample; NaN = undefined. The shape is (b resamples,) for x of shape (n stories,),
        and (judges, b) for (judges, n); then y may have that shape too."""
        found = None if self.known is None else self.known.resampled(x, y, resamples)
        return self._resampled(x, y, resamples) if found is None else found

    def learn(self, pairs: Sequence[Pair], drawn: Sequence[Pair], sets: Sequence[Resamples]) -> None:
        """Compute the correlations of `pairs`, and of `drawn` in each set of resamples; forget those known so far.
        Nothing is computed for many stories, or where there is no method for many pairs at once."""
        grouping = LEVELS[self.level].grouping
        few = self.coefficient == "kendall" and grouping != "within" and self.system.size <= FEW_STORIES
        if self.known is None or not few:
            return
        self.known.learn(pairs, self.group if grouping == "means" else None)
        for resamples in sets:
            self.known.learn_drawn(drawn, resamples, self._resampled)

    def _resampled(self, x: Floats, y: Floats, resamples: Resamples) -> Floats:
        grouping, group = LEVELS[self.level].grouping, self.group
        if self.seed is not None and grouping == "means":
            return true_means.correlations(resamples, x, y, group, self.coefficient, self.seed)
        return resampled_correlations.values(resamples, x, y, self.coefficient, grouping=grouping, group=group)

    def given(
        self, x: Side, y: Side, z: Side, name: str, sets: Sequence[Resamples]
    ) -> tuple[Estimate, tuple[Floats, ...]]:
        """Partial correlation of x and y given z on the stories that have all three, and its values in each set of
        resamples. Over system means it is computed from sample means, also in resamples, because three correlations of
        separately drawn true means would not be consistent with each other. It is undefined if any of these is."""
        keep = ~(np.isnan(x.values) | np.isnan(y.values) | np.isnan(z.values))
        a, b, c = x.only(keep), y.only(keep), z.only(keep)
        pairs = ((a, b, NAMES), (a, c, (NAMES[0], name)), (b, c, (NAMES[1], name)))
        estimates = [self.estimate(p, q, names) for p, q, names in pairs]
        for estimate in estimates:
            if estimate.value is None:
                return estimate, ()
        least = estimates[0].n
        if least < 4:
            return Estimate.undefined("a partial correlation is undefined with fewer than 4 pairs", n=least), ()
        value = float(partial(*(estimate.value for estimate in estimates)))  # type: ignore[arg-type]
        if np.isnan(value):
            return Estimate.undefined(f"undefined because one side follows {name} exactly", n=least), ()
        plain = replace(self, seed=None, known=None)
        values = (partial(*(plain.resampled(p.values, q.values, resamples) for p, q, _ in pairs)) for resamples in sets)
        return Estimate(value, n=least), tuple(values)


# Intervals for all rows of one dataset's correlation table, from the same resamples, so that rows are paired.


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Method of the intervals of one dataset: closed form, resampling, or no interval (with a note on the reason).

    `sets[0]` holds the resamples. For BCa intervals, further sets leave out one unit (e.g. one story-prompt) at a time.
    For calibrated intervals, one further set resamples only the story-prompts and another only the systems. Resampled
    values of a statistic are one array for each set."""

    how: NamedInterval
    statistic: Statistic
    sets: tuple[bootstrap.Resamples, ...] = ()
    method: IntervalMethod = "expanded"
    notes: tuple[str, ...] = ()
    signature_parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions, statistic: Statistic) -> Intervals:
        """The method for a dataset, with the resamples that the options request. With too few story-prompts, stories
        are resampled; if the units are too few as well, there are no resamples, and a note gives the reason."""
        how, method = options.interval, options.method
        if not INTERVALS[how].resampled:
            return cls(how, statistic)
        prompts, systems = np.unique(matrix.story_prompt).size, len(matrix.systems)
        notes, parts = [], []
        if how == "boot-inputs" and prompts < LEAST_UNITS <= matrix.n:
            how = "boot-stories"
            notes.append(intervals.few_story_prompts(matrix.dataset, prompts, LEVELS[options.level].coverage))
            parts.append(f"ci:{matrix.dataset}:boot-stories")
        sizes: dict[Unit, int] = {"story-prompts": prompts, "systems": systems, "stories": matrix.n}
        resampled = INTERVALS[how].resampled
        few = [unit for unit in ("story-prompts", "systems") if unit in resampled and sizes[unit] < LEAST_UNITS]
        if few or matrix.n < LEAST_UNITS:
            too_few = " and ".join(few or ["stories"])
            return cls(how, statistic, notes=(f"{matrix.dataset}: no intervals, fewer than {LEAST_UNITS} {too_few}",))
        drawn = draw(matrix, how, options.resamples, np.random.default_rng(options.seed))
        sets = (drawn, *(drawn.jackknife() if method == "bca" else drawn.one_way() if method == "calibrated" else ()))
        notes.insert(0, _note(how, method, options))
        if options.level == "system" and options.given and method == "true-means":
            notes.append("intervals of partial correlations: expanded percentiles, of sample means")
        if not parts:
            notes += intervals.cautions(how, method, LEVELS[options.level].coverage, sizes[resampled[0]])
        return cls(how, statistic, sets, method, tuple(notes), tuple(parts))

    def first(self, most: int) -> Intervals:
        """A copy that uses at most the first `most` resamples."""
        kept = []
        for resample_set in self.sets[:1]:
            factors = tuple(replace(factor, counts=factor.counts[:most]) for factor in resample_set.factors)
            kept.append(replace(resample_set, factors=factors))
        if self.method == "calibrated":
            return replace(self, sets=(*kept, *(way for resample_set in kept for way in resample_set.one_way())))
        return replace(self, sets=(*kept, *self.sets[1:]))

    def values(self, x: Floats, y: Floats) -> tuple[Floats, ...]:
        """The correlation in resamples, by set: (b,) for x of shape (n,), (judges, b) for (judges, n)."""
        return tuple(self.statistic.resampled(x, y, resamples) for resamples in self.sets)

    def of_values(self, estimate: Estimate, values: tuple[Floats, ...]) -> Estimate:
        """The estimate with an interval from its resamples, which always contains it; unchanged without these."""
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
        """The partial correlation with an interval from its values in resamples. Over system means these come from
        sample means, so that the interval is never of the kind ``true-means``."""
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
