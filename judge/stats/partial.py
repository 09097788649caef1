"""Partial correlation: what is left of an agreement once a third variable is held fixed. Never holds two.

r_xy.z = (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)): for Pearson's r Yule (1907), for Spearman's rho the same
on mid-ranks, for Kendall's tau Kendall (1942, Biometrika 32, "Partial rank correlation"), here with tau-b. Holding the
length of stories fixed shows how much of a judge's agreement with people length explains.

A partial tau is not 0 for variables that are independent given z as a partial r of normal variables is (Korn 1984):
read it as a measure of agreement, not as a test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judge.stats.correlation import Coefficient, coefficient_of, undefined_reason
from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]

_ONE = 1 - 1e-12


def partial(xy: ArrayLike, xz: ArrayLike, yz: ArrayLike) -> Floats:
    """The formula above on correlations of any (broadcast) shape, so also on (b,) resampled ones.

    NaN where one of them is NaN, or where |xz| or |yz| is 1: then z fixes x (or y) and nothing is left to correlate.
    """
    r, a, b = (np.asarray(value, dtype=np.float64) for value in (xy, xz, yz))
    fixed = (np.abs(a) >= _ONE) | (np.abs(b) >= _ONE)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (r - a * b) / np.sqrt((1 - a * a) * (1 - b * b))
    return np.asarray(np.where(fixed, np.nan, np.clip(out, -1.0, 1.0)), dtype=np.float64)


def partial_correlation(
    x: Floats,
    y: Floats,
    z: Floats,
    coefficient: Coefficient = "kendall",
    *,
    names: tuple[str, str, str] = ("x", "y", "z"),
    unit: str = "stories",
) -> Estimate:
    """Partial correlation of x and y given z.

    Parameters
    ----------
    x, y, z : arrays, shape (n,)
        NaN = missing; only stories with all three are used.
    coefficient : kendall, spearman or pearson
    names, unit : str
        For reasons.

    Returns
    -------
    Estimate
        `n` counts stories with all three. Undefined, with a reason, with fewer than 4 (no degree of freedom is left),
        where one of the three is constant, and where z fixes x or y entirely.
    """
    keep = ~(np.isnan(x) | np.isnan(y) | np.isnan(z))
    a, b, c = x[keep], y[keep], z[keep]
    n = int(keep.sum())
    if n < 4:
        return Estimate.undefined(f"undefined with fewer than 4 {unit}", n=n)
    reason = undefined_reason(a, b, names[:2], unit) or undefined_reason(a, c, (names[0], names[2]), unit)
    if reason:
        return Estimate.undefined(reason, n=n)
    xz, yz = coefficient_of(a, c, coefficient), coefficient_of(b, c, coefficient)
    for name, value in zip(names, (xz, yz), strict=False):
        if abs(value) >= _ONE:
            return Estimate.undefined(f"undefined because {name} follow {names[2]} exactly", n=n)
    return Estimate(float(partial(coefficient_of(a, b, coefficient), xz, yz)), n=n)
