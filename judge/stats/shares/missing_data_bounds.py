"""Bounds of a mean with missing values: the worst case and the best case."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate


def mean_bounds(values: NDArray[np.float64], low: float, high: float) -> Estimate:
    """Mean of the known `values` (n,), with Manski's (1990) bounds of the mean of all: the missing all low or all high.

    `low` and `high` are the limits of the scale. Those of the result are no confidence interval, and equal the value
    when nothing is missing. n counts all values. Undefined where none is known.
    """
    present = ~np.isnan(values)
    n, m = values.size, int(present.sum())
    if m == 0:
        return Estimate.undefined("no rating at all", n=n)
    total = float(values[present].sum())
    lost = n - m
    ends = (total + lost * low) / n, (total + lost * high) / n
    return Estimate(total / m, n=n, low=ends[0], high=ends[1], method="worst case, best case")
