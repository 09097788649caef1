"""Types of arrays (real numbers, NaN = none; codes of groups; masks), and sums that most statistics need."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Masks = NDArray[np.bool_]


def renumbered(groups: NDArray[Any]) -> Codes:
    """Codes 0, 1, ... of `groups` (any shape), in the order of the distinct values; shape (n,)."""
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)


def ratio(total: NDArray[Any], count: NDArray[Any]) -> Floats:
    """`total` / `count`, NaN where the count is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan), dtype=np.float64)


def number(value: Floats | float) -> float | None:
    """The single number in `value`, of shape (); None for NaN."""
    return None if np.isnan(value) else float(value)


def row_means(ratings: Floats) -> Floats:
    """Mean of each row of `ratings` (n, k) without its NaN, shape (n,); NaN where nothing is left."""
    rated = ~np.isnan(ratings)
    return ratio(np.where(rated, ratings, 0.0).sum(axis=1), rated.sum(axis=1))
