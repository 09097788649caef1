"""Correlations of disjoint stories compared: two by Fisher's z, k by the Q test. Never for those that share stories.

Two: Fisher 1921; the interval of r1 - r2: Zou 2007, Psychological Methods 12, p. 409. Homogeneity of k: Hedges & Olkin
1985, Statistical Methods for Meta-Analysis, chapter 11. All are derived for Pearson's r of independent pairs; see
`judge.stats.dependent_correlations` for correlations over the same stories.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.dependent_correlations import LEAST_P, REASONS, CorrelationTest, Tail, number, tail_probability, zou
from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """The Q test that k independent correlations are one.

    Attributes
    ----------
    pooled : Estimate
        The common correlation with its Fisher interval; n counts all stories. Undefined where none can be used.
    q, p : float or None
        Q = sum of (n - 3)(z - pooled z)², chi-square with k - 1 degrees of freedom; None where undefined (`reason`).
    k, left_out : int
        Correlations used; those without a Fisher z (missing, |r| = 1, n <= 3).
    """

    pooled: Estimate
    q: float | None
    df: int | None
    p: float | None
    k: int
    left_out: int
    reason: str | None = None


def compare(r1: float, n1: int, r2: float, n2: int, *, tail: Tail) -> CorrelationTest:
    """Test r1 = r2 of disjoint sets of stories: (z1 - z2) / sqrt(1/(n1 - 3) + 1/(n2 - 3)), standard normal.

    Undefined, with a reason, for a missing correlation, n <= 3 or |r| = 1. `n` of the result counts both sets.
    """
    n, difference = n1 + n2, number(np.asarray(r1 - r2))
    reason = _why_not(r1, n1) or _why_not(r2, n2)
    if reason:
        return CorrelationTest("fisher", None, None, None, tail, n, difference, reason)
    z = (np.arctanh(r1) - np.arctanh(r2)) / np.sqrt(1 / (n1 - 3) + 1 / (n2 - 3))
    p = float(tail_probability(np.asarray(z), np.asarray(np.nan), tail))
    return CorrelationTest("fisher", float(z), None, p, tail, n, difference)


def zou_interval(r1: float, n1: int, r2: float, n2: int, *, confidence: float = 0.95) -> Estimate:
    """r1 - r2 of disjoint sets of stories with Zou's interval; undefined for the reasons of `compare`."""
    reason = _why_not(r1, n1) or _why_not(r2, n2)
    if reason:
        return Estimate.undefined(reason, n=n1 + n2)
    found = zou(r1, n1, r2, n2, 0.0, confidence)
    return Estimate(found.value, n=n1 + n2, low=found.low, high=found.high, method=found.method)


def homogeneity(r: Floats, n: NDArray[np.int64], *, confidence: float = 0.95) -> Homogeneity:
    """Do k correlations of disjoint sets of stories (systems, data sets) differ more than chance lets them?

    Parameters
    ----------
    r : array, shape (k,)
        Correlations; NaN = undefined there, left out and counted.
    n : array of int, shape (k,)
        Stories of each.
    """
    usable = np.array([_why_not(float(one), int(size)) is None for one, size in zip(r, n, strict=True)], dtype=bool)
    k, left_out = int(usable.sum()), int((~usable).sum())
    if k == 0:
        reason = "undefined: no correlation has a Fisher z (missing, 1 or -1, or n <= 3)"
        return Homogeneity(Estimate.undefined(reason), None, None, None, k, left_out, reason)
    z, weight = np.arctanh(r[usable]), n[usable] - 3.0
    centre = float((weight * z).sum() / weight.sum())
    half = float(special.ndtri(0.5 + confidence / 2) / np.sqrt(weight.sum()))
    low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    method = f"Fisher z, {100 * confidence:g} %"
    pooled = Estimate(float(np.tanh(centre)), n=int(n[usable].sum()), low=low, high=high, method=method)
    if k < 2:
        return Homogeneity(pooled, None, None, None, k, left_out, "undefined with fewer than 2 correlations")
    q = float((weight * (z - centre) ** 2).sum())
    return Homogeneity(pooled, q, k - 1, max(float(special.chdtrc(k - 1, q)), LEAST_P), k, left_out)


def _why_not(r: float, n: int) -> str | None:
    if abs(r) > 1 + 1e-9:
        raise ValueError(f"a correlation of {r:g} is outside -1 to 1")
    cases = np.isnan(r), n <= 3, abs(r) >= 1 - 1e-12
    return next((REASONS[i] for i, holds in enumerate(cases, start=1) if holds), None)
