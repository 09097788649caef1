"""Nearest neighbours of a vector among the vectors of other groups, and the share of them that have the same label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.near_ties import SAME

Floats = NDArray[np.float64]
Vectors = NDArray[np.float64]
Codes = NDArray[np.int64]

_CHUNK = 8_000_000


def nearest(x: Vectors, apart: Codes, k: int) -> Codes:
    """The `k` (at most n - 1) nearest neighbours of each of `x` (n, d; unit length) by cosine in other groups, (n, k).

    `apart` (n,) holds groups (stories): several texts about one story are similar for other reasons than their label.
    Neighbours are unordered row indices, -1 where there are fewer. Cosines are rounded to 1e-9, and among equally near
    vectors the first rows are taken. If the order of the rows has a meaning, shuffle them first.
    """
    n = x.shape[0]
    k = min(k, max(n - 1, 0))
    nearest_rows = np.empty((n, k), dtype=np.int64)
    step = max(1, _CHUNK // max(1, n))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        # Whole numbers below 2^53, all different in a row: a partition has no ties to break in a way of its own.
        nearness = np.rint((x[rows] @ x.T) / SAME) * n - np.arange(n)
        nearness[apart[rows, None] == apart[None, :]] = -np.inf
        if k:
            best = np.argpartition(nearness, n - k, axis=1)[:, n - k :]
            nearest_rows[rows] = np.where(np.isneginf(np.take_along_axis(nearness, best, axis=1)), -1, best)
    return nearest_rows


def purity(neighbours: Codes, labels: Codes) -> Floats:
    """Mean share of a vector's `neighbours` (n, k; from `nearest`) with its own label, for each of b labellings, (b,).

    `labels` (b, n). A vector without a neighbour is left out; NaN where none has one.
    """
    there = neighbours >= 0
    count = there.sum(axis=1)
    use = count > 0
    out = np.full(labels.shape[0], np.nan)
    if not use.any():
        return out
    for b, label in enumerate(labels):
        same = (label[neighbours] == label[:, None]) & there
        out[b] = float((same.sum(axis=1)[use] / count[use]).mean())
    return out
