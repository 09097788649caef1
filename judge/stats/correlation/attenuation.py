"""Predicts the correlation with people that one more rating per story would give (correction for attenuation).

Error attenuates the correlation of two means: r = r_true sqrt(rel_x rel_y) (Spearman 1904, The proof and measurement of
association between two things). The reliability of a mean of k ratings is k rel / (1 + (k - 1) rel) (Spearman 1910;
Brown 1910). Kendall's tau is converted to r and back by Greiner's relation r = sin(pi tau / 2) (Kruskal 1958, JASA 53).

The reliability is estimated from tau itself, not from variance components. Variance components overestimate the gain if
error has heavy tails or differs between stories, since tau depends less on outliers than a variance: in simulated
ratings of whole points, the gain from a further rating was .59 to .85 of the predicted one. The prediction used here
extrapolates the last observed step, from k - 1 to k ratings. On average it was within a tenth of the true gain
(`tests/stats/correlation/test_attenuation.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats

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

    `spread` is from `spread_within`; `rank` is true for Kendall's tau, false for Pearson's r or Spearman's rho.
    """
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
    where no story has two ratings.
    """
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
    where the last rating brought no gain. NaN where `before` is 0 or less, which does not allow a prediction.
    """
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

    None where the reliability `single` of one rating is 0 or less.
    """
    if single <= 0:
        return None
    return max(1, int(np.ceil(target * (1 - single) / (single * (1 - target)) - 1e-9)))
