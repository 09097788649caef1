"""Bounds of a mean with missing values: the worst case and the best case."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate


def mean_bounds(values: NDArray[np.float64], low: float, high: float) -> Estimate:
    """The mean of the known values, with Manski's (1990) bounds for the mean of all values: all missing values could be
    the lowest, or the highest possible value.

    Parameters
    ----------
    values : array, shape (n,)
        NaN = missing.
    low, high : float
        Limits of the scale, i.e. the lowest and highest value that a missing value could have.

    Returns
    -------
    Estimate
        `value` is the mean of the known values. `low` and `high` are the bounds, not a confidence interval;
        they equal `value` when nothing is missing. `n` counts all values, known and missing. Undefined where no
        value is known.
    """
    present = ~np.isnan(values)
    n, m = values.size, int(present.sum())
    if m == 0:
        return Estimate.undefined("no rating at all", n=n)
    total = float(values[present].sum())
    lost = n - m
    ends = (total + lost * low) / n, (total + lost * high) / n
    return Estimate(total / m, n=n, low=ends[0], high=ends[1], method="worst case, best case")
