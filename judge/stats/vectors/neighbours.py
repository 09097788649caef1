"""Nearest neighbours of a vector among the vectors of other groups, and the share of these neighbours that have the
same label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.near_ties import SAME

Floats = NDArray[np.float64]
Vectors = NDArray[np.float64]
Codes = NDArray[np.int64]

_CHUNK = 8_000_000


def nearest(x: Vectors, apart: Codes, k: int) -> Codes:
    """The k nearest neighbours of each vector by cosine, among the vectors of other groups.

    Parameters
    ----------
    x : array, shape (n, d)
        Rows of unit length.
    apart : array of int, shape (n,)
        Group of each vector (its story). Vectors of the same group are not counted as neighbours, because several
        texts about one story are similar for other reasons than their label.
    k : int
        Number of neighbours, at most n - 1.

    Returns
    -------
    array of int, shape (n, k)
        Row indices of the neighbours, unordered; -1 where a vector has fewer than k neighbours. Cosines are
        rounded to 1e-9, and among equally near vectors the first rows are taken. If the order of the rows has a
        meaning, shuffle them first.
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
    """Mean over vectors of the share of a vector's nearest neighbours that have the same label as the vector, for each
    of several labellings.

    Parameters
    ----------
    neighbours : array of int, shape (n, k)
        Neighbours of each vector, from `nearest`; -1 = no neighbour. A vector without a neighbour is left out.
    labels : array of int, shape (b, n)
        Label of each vector in each of b labellings.

    Returns
    -------
    array, shape (b,)
        The mean shares; NaN where no vector has a neighbour.
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
