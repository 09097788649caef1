"""Jackknife intervals of coefficients over few clusters, of which some carry most of the variation.

The delete-a-cluster jackknife (Efron & Tibshirani 1993, equation 11.5) with Student's t. Its degrees of freedom are the
effective number of clusters, (sum d²)² / sum d⁴ of the jackknife's deviations d and G - 1 at most: many where all
clusters move the coefficient alike, few where a few do (as G* = G / (1 + squared coefficient of variation) of Carter,
Schnepel & Steigerwald 2017, Asymptotic behavior of a t-test robust to cluster heterogeneity, Rev. Econ. Stat. 99, with
d² for the clusters' parts). With G - 1 degrees the interval of a kappa of rare errors on 20 stories covers 87 % of 95.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]


def with_jackknife(
    estimate: Estimate,
    left_out: Floats,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> tuple[Estimate, float | None]:
    """A value with its jackknife confidence interval, and its standard error.

    Parameters
    ----------
    estimate : Estimate
        Value of all clusters, without an interval.
    left_out : array, shape (clusters,)
        The coefficient without each cluster; NaN where it is undefined then.
    confidence : float
        Coverage, 0 to 1.
    bounds : tuple of float
        The interval is kept within these.

    Returns
    -------
    Estimate, float or None
        Without an interval, and with the reason, for fewer than 2 clusters, where the coefficient is undefined without
        one of them, and where nothing varies.
    """
    clusters, value = left_out.size, estimate.value
    if value is None:
        return estimate, None
    if clusters < 2:
        return replace(estimate, reason="no interval with fewer than 2 stories"), None
    if not np.isfinite(left_out).all():
        return replace(estimate, reason=f"no interval: it rests on one of the {clusters} stories alone"), None
    square = (left_out - left_out.mean()) ** 2
    error = float(np.sqrt((clusters - 1) / clusters * square.sum()))
    if error < 1e-12:
        return replace(estimate, reason="no interval: all stories agree alike, the standard error is 0"), None
    effective = min(float(square.sum() ** 2 / (square @ square)), clusters - 1.0)
    half = float(special.stdtrit(effective, 0.5 + confidence / 2)) * error
    low, high = min(value, max(bounds[0], value - half)), max(value, min(bounds[1], value + half))
    method = f"jackknife, t({effective:.1f}) over {clusters} stories, {100 * confidence:g} %"
    return replace(estimate, low=low, high=high, method=method), error
