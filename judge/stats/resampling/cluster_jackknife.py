"""Jackknife intervals of coefficients for few clusters, some of which contribute most of the variance.

The interval is that of the delete-a-cluster jackknife (Efron & Tibshirani 1993, equation 11.5) with Student's t. The
degrees of freedom are the effective number of clusters, (sum d²)² / sum d⁴ for the jackknife's deviations d, but at
most G - 1 for G clusters. They are few if a few clusters have most of the influence on the coefficient. (sum d²)² / sum
d⁴ equals G* = G / (1 + squared coefficient of variation of the d²), as in Carter, Schnepel & Steigerwald 2017,
Asymptotic behavior of a t-test robust to cluster heterogeneity, Rev. Econ. Stat. 99. With G - 1 degrees of freedom, the
95 % interval of a kappa of rare errors on 20 stories covers only 87 %.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate

Floats = NDArray[np.float64]


def with_jackknife(
    estimate: Estimate,
    left_out: Floats,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> tuple[Estimate, float | None]:
    """A coefficient with a jackknife confidence interval, and its standard error.

    Parameters
    ----------
    estimate : Estimate
        The coefficient over all clusters, without an interval.
    left_out : array, shape (clusters,)
        The coefficient recomputed without each cluster in turn; NaN = undefined without that cluster.
    confidence : float
        Coverage of the interval, 0 to 1.
    bounds : tuple of float
        Lowest and highest possible value, to which the interval is clipped.

    Returns
    -------
    Estimate, float or None
        The estimate with its interval, and the standard error. With fewer than 2 clusters, where `left_out` holds
        NaN, and where its values do not vary, the estimate has a reason instead of an interval, and the standard
        error is None.
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
