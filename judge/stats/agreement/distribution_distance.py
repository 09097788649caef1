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
    """Counts of ratings at each point of a scale.

    A rating between two points is split between them in proportion to its nearness, which keeps the mean. A rating
    outside the scale counts for the nearest end.

    Parameters
    ----------
    ratings : array, shape (n stories, k)
        Up to k ratings of each story; NaN = no rating.
    points : array, shape (points,)
        In ascending order.

    Returns
    -------
    array, shape (n, points)
        All 0 for a story without a rating.
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
    """Shares of ratings at each point, from counts.

    Parameters
    ----------
    counts : array, shape (..., points)
        As from `counted`, or sums of such counts.

    Returns
    -------
    array, shape (..., points)
        0 to 1; NaN where all counts are 0.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True), dtype=np.float64)


def wasserstein(first: Floats, second: Floats, points: Floats) -> Floats:
    """Wasserstein distance of two distributions on the same points (Vallender 1974).

    Parameters
    ----------
    first, second : array, shape (..., points)
        Shares of each point; NaN where nothing was counted.
    points : array, shape (points,)
        The points in ascending order.

    Returns
    -------
    array, shape (...)
        Area between the distribution functions, in the unit of the points; NaN where a distribution is NaN.
    """
    apart = np.abs(np.cumsum(first - second, axis=-1))[..., :-1]
    return np.asarray((apart * np.diff(points)).sum(axis=-1), dtype=np.float64)


def total_variation(first: Floats, second: Floats) -> Floats:
    """Total variation distance of two distributions: half the sum of absolute differences.

    Parameters
    ----------
    first, second : array, shape (..., points)
        Shares of each point; NaN where nothing was counted.

    Returns
    -------
    array, shape (...)
        0 to 1; NaN where a distribution is NaN.
    """
    return np.asarray(np.abs(first - second).sum(axis=-1) / 2, dtype=np.float64)
