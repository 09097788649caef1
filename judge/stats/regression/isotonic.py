"""Isotonic regression: the non-decreasing curve with the smallest squared error.

The curve f minimises sum_i w_i (y_i - f(x_i))^2 among non-decreasing curves; it is computed by pooling adjacent
violators (Ayer et al. 1955, An Empirical Distribution Function for Sampling with Incomplete Information, section 2;
Barlow et al. 1972, chapter 1). Equal x are merged into one point with the weighted mean of their y, so that ties share
one prediction (Kruskal 1964, secondary approach).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A fitted isotonic curve: the distinct `scores`, ascending, and the prediction for each, never decreasing."""

    scores: Floats
    values: Floats

    def predict(self, x: Floats) -> Floats:
        """Predictions for scores `x` (any shape), linear between fitted scores and constant outside; NaN gives NaN."""
        return np.asarray(np.interp(x, self.scores, self.values), dtype=np.float64)


def fit_isotonic(x: Floats, y: Floats) -> Isotonic:
    """The isotonic regression of `y` on `x` (n,) by pooling adjacent violators (Ayer et al. 1955).

    Pairs with NaN are left out, ValueError without one; scores that are equal to 1e-9 share one prediction.
    """
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size == 0:
        raise ValueError("isotonic regression needs a pair of score and response")
    level = kendall.codes(x)
    mass = np.bincount(level).astype(np.float64)
    scores, means = (np.bincount(level, weights=side) / mass for side in (x, y))
    return Isotonic(scores, pooled(means, mass))


def pooled(values: Floats, weights: Floats) -> Floats:
    """The non-decreasing sequence with the smallest distance from `values` (k,), squared and weighted by `weights`."""
    # A stack of blocks, each with its mean, its weight and how many values it holds; one pass, O(k).
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, size = value, weight, 1
        while means and means[-1] >= mean:
            before = masses.pop()
            mean = (means.pop() * before + mean * mass) / (before + mass)
            mass += before
            size += sizes.pop()
        means.append(mean)
        masses.append(mass)
        sizes.append(size)
    return np.repeat(np.array(means), sizes)
