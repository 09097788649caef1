"""How far two distributions of ratings lie apart, not only their means. Never bins what is no point.

- `wasserstein`: the area between the two distribution functions, in points of the scale: how far ratings would have to
  be moved (earth mover's distance; Vallender 1974, Theory of Probability and its Applications 18). 0 = the same.
- `total_variation`: half the sum of differences of shares, 0 to 1: the share of ratings that would have to be changed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def counted(ratings: Floats, points: Floats) -> Floats:
    """How often each point was given: ratings (n, k), NaN = none, to counts (n, points); `points` ascend.

    A rating between two points counts for both by its nearness, so that means stay what they are; one outside counts
    for the end.
    """
    found = np.zeros((len(ratings), points.size))
    story, column = np.nonzero(~np.isnan(ratings))
    value = np.clip(ratings[story, column], points[0], points[-1])
    above = np.clip(np.searchsorted(points, value, side="left"), 1, max(1, points.size - 1))
    if points.size == 1:
        np.add.at(found, (story, np.zeros_like(story)), 1.0)
        return found
    share = (value - points[above - 1]) / (points[above] - points[above - 1])
    np.add.at(found, (story, above - 1), 1 - share)
    np.add.at(found, (story, above), share)
    return found


def shares(counts: Floats) -> Floats:
    """Counts (..., points) as shares; NaN where nothing was counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True), dtype=np.float64)


def wasserstein(one: Floats, other: Floats, points: Floats) -> Floats:
    """The area between the distribution functions of shares (..., points), in units of the points."""
    apart = np.abs(np.cumsum(one - other, axis=-1))[..., :-1]
    return np.asarray((apart * np.diff(points)).sum(axis=-1), dtype=np.float64)


def total_variation(one: Floats, other: Floats) -> Floats:
    """Half the sum of absolute differences of shares (..., points)."""
    return np.asarray(np.abs(one - other).sum(axis=-1) / 2, dtype=np.float64)
