"""A correlation statistic (one coefficient at one level), computed on data and on resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from judge.analysis.correlation.known import Known, Pair
from judge.analysis.options.choices import LEVELS, Level
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import coefficients, kendall
from judge.stats.correlation.coefficients import Coefficient
from judge.stats.correlation.partial import partial
from judge.stats.resampling import resampled_correlation, true_means
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.many_taus import FEW_STORIES

Floats = NDArray[np.float64]
NAMES = ("the judge's ratings", "the people's ratings")


class Side:
    """One variable of a correlation: values of n stories (NaN = no value), and their rank codes for tau, which are
    computed when they are first needed.
    """

    def __init__(self, values: Floats, codes: kendall.Codes | None = None) -> None:
        self.values, self._codes = values, codes

    @property
    def codes(self) -> kendall.Codes:
        """Rank codes of the values, as `kendall.codes` makes them."""
        if self._codes is None:
            self._codes = kendall.codes(self.values)
        return self._codes

    def only(self, keep: NDArray[np.bool_]) -> Side:
        """Copy of the variable with NaN for all stories outside the mask `keep`."""
        return Side(np.where(keep, self.values, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """The coefficient and the level of a correlation, with each story's system and story-prompt, shape (n stories,).

    With a `seed`, resampled correlations over system means use estimated true means
    (`judge.stats.resampling.true_means`). Correlations that are in `known` are taken from there.
    """

    coefficient: Coefficient
    level: Level
    system: kendall.Codes
    story_prompt: kendall.Codes
    seed: int | None = None
    known: Known | None = None

    @classmethod
    def of(cls, matrix: RatingMatrix, options: CorrelationOptions) -> Statistic:
        """The correlation statistic (coefficient and level) that the options choose, for the stories of this
        dataset.
        """
        seed = options.seed if options.method == "true-means" else None
        return cls(options.coefficient, options.level, matrix.system, matrix.story_prompt, seed)

    @property
    def group(self) -> kendall.Codes:
        """Group of each story for levels that average correlations over groups, shape (n stories,).

        The group is the story-prompt for the level `by-item`, and the system for `by-system`.
        """
        return self.story_prompt if LEVELS[self.level].group == "story-prompts" else self.system

    def estimate(self, x: Side, y: Side, names: tuple[str, str] = NAMES) -> Estimate:
        """The correlation of two variables, without an interval."""
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
        """The correlation of x and y in each resample; NaN = undefined.

        The shape is (b resamples,) for x of shape (n stories,), and (judges, b) for x of shape (judges, n). Then y may
        have that shape too.
        """
        found = None if self.known is None else self.known.resampled(x, y, resamples)
        return self._resampled(x, y, resamples) if found is None else found

    def learn(self, pairs: Sequence[Pair], drawn: Sequence[Pair], sets: Sequence[Resamples]) -> None:
        """Compute the correlations of `pairs`, and those of `drawn` in each set of resamples, and forget those known so
        far. Nothing is computed for many stories, or where there is no method for many pairs at once.
        """
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
        return resampled_correlation.values(resamples, x, y, self.coefficient, grouping=grouping, group=group)

    def given(
        self, x: Side, y: Side, z: Side, name: str, sets: Sequence[Resamples]
    ) -> tuple[Estimate, tuple[Floats, ...]]:
        """Partial correlation of x and y given z, and its values in each set of resamples.

        It uses the stories that have values of x, y and z. Over system means it is computed from sample means, also in
        resamples, because three correlations of separately drawn true means would not be consistent with each other. It
        is undefined if any of the three correlations is undefined.
        """
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
