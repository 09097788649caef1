"""Partial correlation: the agreement that is left once a third variable is held fixed.

r_xy.z = (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)): for Pearson's r Yule (1907), for Spearman's rho the same
on mid-ranks, for Kendall's tau Kendall (1942, Biometrika 32, "Partial rank correlation"), here with tau-b. Holding the
length of stories fixed shows how much of a judge's agreement with people length explains.

A partial tau is not 0 for variables that are independent given z as a partial r of normal variables is (Korn 1984):
read it as a measure of agreement, not as a test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_ONE = 1 - 1e-12


def partial(xy: ArrayLike, xz: ArrayLike, yz: ArrayLike) -> Floats:
    """Partial correlation of x and y given z (Yule 1907; of tau-b Kendall 1942).

    Parameters
    ----------
    xy, xz, yz : array_like
        Correlations of x with y, x with z and y with z, in shapes that broadcast, e.g. (b,) resampled ones; NaN =
        undefined.

    Returns
    -------
    array, in the shape that they broadcast to
        NaN where one of them is NaN, or where |xz| or |yz| is 1: then z fixes x (or y), and nothing is left to
        correlate.
    """
    r, a, b = (np.asarray(value, dtype=np.float64) for value in (xy, xz, yz))
    fixed = (np.abs(a) >= _ONE) | (np.abs(b) >= _ONE)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (r - a * b) / np.sqrt((1 - a * a) * (1 - b * b))
    return np.asarray(np.where(fixed, np.nan, np.clip(out, -1.0, 1.0)), dtype=np.float64)
