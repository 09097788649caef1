"""Distances between two distributions of ratings: Wasserstein distance and total variation.

- `wasserstein`: area between the two distribution functions, in points of the scale; 0 = equal. It is the mean distance
  by which ratings would have to move (earth mover's distance; Vallender 1974, Theory of Probability and its
  Applications 18).
- `total_variation`: half the sum of absolute differences of shares, 0 to 1. It is the share of ratings that would have
  to change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def counted(ratings: Floats, points: Floats) -> Floats:
    """Counts of `ratings` (n stories, k; NaN = none) at each of the `points` of a scale, ascending, (n, points).

    A rating between two points is split between them in proportion to its nearness, which keeps the mean. A rating
    outside the scale counts for the nearest end.
    """
    counts = np.zeros((len(ratings), points.size))
    story, column = np.nonzero(~np.isnan(ratings))
    value = np.clip(ratings[story, column], points[0], points[-1])
    above = np.clip(np.searchsorted(points, value, side="left"), 1, max(1, points.size - 1))
    if points.size == 1:
        np.add.at(counts, (story, np.zeros_like(story)), 1.0)
        return counts
    share = (value - points[above - 1]) / (points[above] - points[above - 1])
    np.add.at(counts, (story, above - 1), 1 - share)
    np.add.at(counts, (story, above), share)
    return counts


def shares(counts: Floats) -> Floats:
    """Shares of ratings at each point, from `counts` (..., points); NaN where all are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True), dtype=np.float64)


def wasserstein(first: Floats, second: Floats, points: Floats) -> Floats:
    """Wasserstein distance of shares `first` and `second` (..., points) on the same `points` (Vallender 1974).

    The points ascend, and the distance is in their unit; NaN where a distribution is NaN.
    """
    apart = np.abs(np.cumsum(first - second, axis=-1))[..., :-1]
    return np.asarray((apart * np.diff(points)).sum(axis=-1), dtype=np.float64)


def total_variation(first: Floats, second: Floats) -> Floats:
    """Total variation distance of shares `first` and `second` (..., points): half the sum of absolute differences."""
    return np.asarray(np.abs(first - second).sum(axis=-1) / 2, dtype=np.float64)
