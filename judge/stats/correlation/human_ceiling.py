"""Human ceilings, printed as "one more person": how well human ratings correlate with other people's, as a reference
for a judge's correlation.

=============  ==============================================  ========================================================
ceiling        mean correlation of                             meaning
=============  ==============================================  ========================================================
leave-one-out  each rater with the mean of the others          value for one more person; the default for a panel
one a story    one random rater of each story with the mean    as above, where many people rated a few stories each;
               of the story's others; mean over draws          the default for a pool
=============  ==============================================  ========================================================

People are a *panel* if every rater rated nearly every story (`is_panel`), otherwise a *pool*, such as crowd workers. In
a pool, a single rater has too few stories for a correlation. The ceiling then takes one random rater of each story.

Columns must be persons. If they are positions (first, second, third number of a list), there is no ceiling, and the
caller must not compute one. Every ceiling can be computed in the same resamples as the judges' correlations, so that
differences between a judge and the ceiling are paired.

What one more rating per story would give (correction for attenuation, `next_gain`): error attenuates the correlation of
two means: r = r_true sqrt(rel_x rel_y) (Spearman 1904, The proof and measurement of association between two things).
The reliability of a mean of k ratings is k rel / (1 + (k - 1) rel) (Spearman 1910; Brown 1910). Kendall's tau is
converted to r and back by Greiner's relation r = sin(pi tau / 2) (Kruskal 1958, JASA 53).

The reliability is estimated from tau itself, not from variance components. Variance components overestimate the gain if
error has heavy tails or differs between stories, since tau depends less on outliers than a variance: in simulated
ratings of whole points, the gain from a further rating was .59 to .85 of the predicted one. The prediction used here
extrapolates the last observed step, from k - 1 to k ratings. On average it was within a tenth of the true gain
(`tests/stats/correlation/test_attenuation.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, ratio
from judge.base.estimate import Estimate

# Predicts the correlation with people that one more rating per story would give (correction for attenuation).

# Correction for range restriction: correlations within a class of stories, restated at the spread of all stories.


# A reliability that is estimated below this is taken as this: a small one is hardly known, and divides.
LEAST_RELIABLE = 0.2


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of mean human ratings overall over that within classes (1 or more), and their reliability within."""

    ratio: float = 1.0
    reliability: float = 1.0


def at_spread(values: Floats, spread: Spread, *, rank: bool) -> Floats:
    """Correlations `values` within a class (NaN stays, 0 stays 0), corrected to the spread of all stories.

    `spread` is from `spread_within`; `rank` is true for Kendall's tau, false for Pearson's r or Spearman's rho."""
    u, a = max(1.0, spread.ratio), spread.reliability
    more = (u**2 - 1) / a
    r = np.sin(np.pi * values / 2) if rank else np.asarray(values, dtype=np.float64)
    explained = np.minimum(1.0, r**2 / a)
    restated = np.clip(r * (1 + more) / (u * np.sqrt(1 + explained * more)), -1.0, 1.0)
    return np.asarray(2 / np.pi * np.arcsin(restated) if rank else restated, dtype=np.float64)


def spread_within(ratings: Floats, group: Codes) -> Spread:
    """Ratio of the standard deviation of mean human ratings overall to that within groups, and their reliability there.

    `ratings` (n stories, raters) has NaN where not rated; a column need not be one person. `group` (n,): -1 = none.
    Stories without a group or rating are left out. Both are 1 where nothing varies within groups; the reliability also
    where no story has two ratings."""
    used = ~np.isnan(ratings)
    keep = used.any(axis=1) & (group >= 0)
    ratings, used, group = ratings[keep], used[keep], group[keep]
    count = used.sum(axis=1)
    if count.size < 2:
        return Spread()
    means = np.where(used, ratings, 0.0).sum(axis=1) / count
    levels = np.bincount(group, weights=means) / np.maximum(1, np.bincount(group))
    inner = float(((means - levels[group]) ** 2).mean())
    if inner <= 0:
        return Spread()
    squares = np.where(used, (ratings - means[:, None]) ** 2, 0.0).sum()
    degrees = int((count - 1).sum())
    error = float(squares / degrees * (1 / count).mean()) if degrees else 0.0
    return Spread(float(np.sqrt(means.var() / inner)), float(np.clip(1 - error / inner, LEAST_RELIABLE, 1.0)))


def next_gain(before: Floats | float, now: Floats | float, k: int) -> Floats:
    """Predicted gain in tau from one more rating per story in one of the two means that are correlated.

    `before` and `now` are Kendall's tau with the mean of k - 1 and of `k` (2 or more) ratings; arrays broadcast. 0
    where the last rating brought no gain. NaN where `before` is 0 or less, which does not allow a prediction."""
    earlier, r = (np.sin(np.pi * np.asarray(tau, dtype=np.float64) / 2) for tau in (before, now))
    with np.errstate(invalid="ignore", divide="ignore"):
        # r² with k over r² with k - 1 is k (1 + (k - 2) rel) / ((k - 1) (1 + (k - 1) rel)).
        q = np.where(earlier > 0, (r / earlier) ** 2, np.nan) * (k - 1) / k
        single = np.clip((1 - q) / (q * (k - 1) - (k - 2)), 0.0, 1.0)
        # Above the largest step that noise alone could explain the quotient changes its sign.
        single = np.where(q >= 1, 0.0, np.where(q * (k - 1) - (k - 2) <= 0, 1.0, single))
        single = np.where(np.isnan(q), np.nan, single)
    ratio = spearman_brown(single, k + 1) / np.maximum(spearman_brown(single, k), 1e-300)
    ratio = np.where(single == 0, (k + 1) / k, ratio)
    return np.asarray(2 / np.pi * np.arcsin(np.clip(r * np.sqrt(ratio), -1.0, 1.0)) - now, dtype=np.float64)


def spearman_brown(single: Floats | float, k: float) -> Floats:
    """Reliability of the mean of `k` ratings, from the reliability `single` of one (Spearman 1910; Brown 1910)."""
    reliability = np.asarray(single, dtype=np.float64)
    return np.asarray(k * reliability / (1 + (k - 1) * reliability), dtype=np.float64)


def number_for(single: float, target: float) -> int | None:
    """Smallest number of ratings whose mean has the reliability `target`, below 1 (Spearman 1910; Brown 1910).

    None where the reliability `single` of one rating is 0 or less."""
    if single <= 0:
        return None
    return max(1, int(np.ceil(target * (1 - single) / (single * (1 - target)) - 1e-9)))


# From two vectors (n,), NaN = missing, to their correlation.
Measure = Callable[[Floats, Floats], Estimate]

# In a panel every rater rated at least this share of the stories that two or more rated.
PANEL_SHARE = 0.8

# Draws of one rater a story that a pool's ceiling is averaged over: in `one_of_each_story` they are balanced.
DRAWS = 20


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A human ceiling: pairs of rating vectors whose mean correlation is the ceiling.

    `of` is what the mean is over: raters, or random draws of one rater per story. `x` and `y` (pairs, n stories) are
    the two vectors of each pair."""

    name: str
    of: str
    x: Floats
    y: Floats

    def estimate(self, measure: Measure) -> Estimate:
        """The ceiling: mean over pairs of their correlation by `measure`.

        It takes two vectors with NaN = missing. n is the largest number of stories of a pair. Pairs whose correlation
        is undefined are left out and counted in `method`. Undefined where all are, or without a pair."""
        if len(self.x) == 0:
            why = ": no story was rated by two people" if self.of == "draws" else " with fewer than 2 raters"
            return Estimate.undefined(f"one more person is undefined{why}")
        estimates = [measure(x, y) for x, y in zip(self.x, self.y, strict=True)]
        values = np.array([np.nan if each.value is None else each.value for each in estimates])
        combined = float(self.of_resampled(values[:, None])[0])
        if np.isnan(combined):
            reason = next(each.reason for each in estimates if each.value is None)
            every = "" if reason is None else f" ({reason})"
            return Estimate.undefined(f"one more person is undefined for every {self.of.removesuffix('s')}{every}")
        defined = int((~np.isnan(values)).sum())
        return Estimate(
            combined,
            n=max(each.n for each in estimates if each.value is not None),
            method=f"{self.name}, {defined} of {len(estimates)} {self.of}",
        )

    def values(self, values_of: Callable[[Floats, Floats], Floats]) -> Floats:
        """The ceiling in each of b resamples, (b,); NaN where no pair has a correlation, ValueError without pairs.

        `values_of` takes two vectors (n,) with NaN = missing and gives their correlation in each resample, (b,)."""
        return self.of_resampled(np.stack([values_of(x, y) for x, y in zip(self.x, self.y, strict=True)]))

    @staticmethod
    def of_resampled(values: Floats) -> Floats:
        """The ceiling in each of b resamples: mean of the defined correlations `values` (pairs, b), NaN without any."""
        present = ~np.isnan(values)
        return ratio(np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0))


def leave_one_out(ratings: Floats, measure: Measure) -> Estimate:
    """Leave-one-out ceiling of `ratings`, as in `one_against_others`, by `measure`, as in `Ceiling.estimate`."""
    return one_against_others(ratings).estimate(measure)


def one_against_others(ratings: Floats) -> Ceiling:
    """The leave-one-out ceiling, as pairs of each rater and the mean of the others; no pair for a single rater.

    `ratings` (n stories, r raters) has NaN where not rated; each column must be one person."""
    total, count = np.nansum(ratings, axis=1), (~np.isnan(ratings)).sum(axis=1)
    raters = ratings.T if ratings.shape[1] > 1 else ratings.T[:0]
    own = ~np.isnan(raters)
    others = [ratio(total - np.where(k, r, 0.0), count - k) for r, k in zip(raters, own, strict=True)]
    return Ceiling("leave-one-out", "raters", raters, (np.stack(others) if others else np.empty(raters.shape)))


def is_panel(ratings: Floats) -> bool:
    """Whether each rater rated at least 80 % (`PANEL_SHARE`) of the stories with two or more ratings.

    `ratings` (n stories, r raters). False where there is no such story."""
    present = ~np.isnan(ratings)
    shared = present[present.sum(axis=1) > 1]
    return bool(len(shared)) and bool((shared.mean(axis=0) >= PANEL_SHARE).all())


def one_of_each_story(ratings: Floats, draws: int, rng: np.random.Generator) -> Ceiling:
    """Human ceiling for a pool of raters, who each rated few stories; without a pair where no story has two ratings.

    A pair is one random rater of each story, and the mean of the story's others. `draws` are balanced: in k consecutive
    ones, each of a story's k raters is drawn once, in random order (`rng`). Stories with fewer than two of `ratings` (n
    stories, r raters) are left out."""
    story, column = np.nonzero(~np.isnan(ratings))
    count = np.bincount(story, minlength=len(ratings))
    shared = np.flatnonzero(count > 1)
    packed = np.full((len(ratings), int(count.max(initial=0))), np.nan)
    first = np.cumsum(count) - count
    packed[story, np.arange(story.size) - first[story]] = ratings[story, column]
    packed, count = packed[shared], count[shared]
    total, order = np.nansum(packed, axis=1), np.empty(packed.shape, dtype=np.int64)
    x, y = np.full((2, draws if shared.size else 0, len(ratings)), np.nan)
    for draw in range(len(x)):
        begins = draw % count == 0
        keys = np.where(np.isnan(packed[begins]), 2.0, rng.random(packed[begins].shape))
        order[begins] = np.argsort(keys, axis=1)
        drawn = packed[np.arange(shared.size), order[np.arange(shared.size), draw % count]]
        x[draw, shared], y[draw, shared] = drawn, (total - drawn) / (count - 1)
    return Ceiling("one rater a story", "draws", x, y)
