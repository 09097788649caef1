"""Silhouette of groups of unit vectors under cosine distance, for many labellings at once.

The silhouette is that of Rousseeuw 1987 (Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis, Journal of Computational and Applied Mathematics 20). For unit vectors, the cosine distances from a vector x
to all vectors of a group sum to size - x.S, where S is the sum of the group's vectors. The cost is therefore n x groups
instead of n x n.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.near_ties import SAME

Floats = NDArray[np.float64]
Vectors = NDArray[np.float64]
Codes = NDArray[np.int64]

_DISTANCES = 4_000_000


def mean_silhouette(x: Vectors, labels: Codes, groups: int) -> Floats:
    """Mean silhouette of all vectors under cosine distance, for each of b labellings, (b,).

    `x` (n, d) has rows of unit length, and `labels` (b, n) hold 0..`groups`-1. Mean of (b_i - a_i) / max(a_i, b_i),
    where a_i is the mean distance of vector i to its own group and b_i that to the nearest other group. A vector alone
    in its group counts 0, as in scikit-learn's ``silhouette_score(metric="cosine")``. NaN with fewer than two groups.
    """
    step = max(1, _DISTANCES // max(1, x.shape[0] * groups))
    parts = [_some(x, labels[start : start + step], groups) for start in range(0, labels.shape[0], step)]
    return np.concatenate(parts) if parts else np.empty(0)


def _some(x: Vectors, labels: Codes, groups: int) -> Floats:
    b, n = labels.shape
    belongs = labels[:, None, :] == np.arange(groups)[None, :, None]
    size = belongs.sum(axis=2).astype(np.float64)
    sums = belongs.reshape(b * groups, n).astype(np.float64) @ x
    away = size[:, :, None] - (sums @ x.T).reshape(b, groups, n)
    own = np.take_along_axis(away, labels[:, None, :], axis=1)[:, 0, :]
    own_size = np.take_along_axis(size, labels, axis=1)
    inside = _distance(own / np.maximum(own_size - 1, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        other = _distance(np.where((size[:, :, None] > 0) & ~belongs, away / size[:, :, None], np.inf).min(axis=1))
        ratio = (other - inside) / np.maximum(np.maximum(inside, other), 1e-12)
    value = np.where(own_size > 1, ratio, 0.0).mean(axis=1)
    return np.where((size > 0).sum(axis=1) > 1, value, np.nan)


def _distance(mean: Floats) -> Floats:
    """Of equal vectors exactly 0, because a ratio of two rounding errors is arbitrary."""
    return np.where(mean < SAME, 0.0, mean)
