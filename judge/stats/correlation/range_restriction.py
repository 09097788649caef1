"""Correction for range restriction: correlations within a class of stories, restated at the spread of all stories.

Human ratings vary less within a class than over all stories, and that alone makes a correlation within the class
smaller. If the regression line of the judge on people's true ratings, and the scatter around it, are the same within a
class and overall, a correlation r within the class corresponds to

    r U**2 / (u sqrt(1 + (r**2 / a) (U**2 - 1))),    U**2 = 1 + (u**2 - 1) / a

over all stories. Here u is the standard deviation of the mean human ratings over all stories, divided by that within
classes; a is the reliability of the mean human ratings within classes; and U is what u would be for ratings without
error. This is indirect range restriction (Hunter, Schmidt & Le 2006, J. Applied Psychology 91, case IV). With a = 1 it
is Thorndike's case 2, r u / sqrt(1 + r**2 (u**2 - 1)) (Thorndike 1949, Personnel Selection). Kendall's tau is converted
to r and back by Greiner's relation r = sin(pi tau / 2), which holds for bivariate normal ratings (Kendall 1949, Rank
and product-moment correlation, Biometrika 36).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

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
