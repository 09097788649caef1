"""Partial correlation: the agreement that remains when a third variable is held fixed.

r_xy.z = (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)). Sources: Yule (1907) for Pearson's r, and, on mid-ranks,
for Spearman's rho; Kendall (1942, Biometrika 32, "Partial rank correlation") for tau, applied here to tau-b. Holding
the length of stories fixed shows how much of a judge's agreement with people is explained by length.

A partial tau need not be 0 for variables that are independent given z, unlike the partial r of normal variables (Korn
1984). It should be read as a measure of agreement, not as a test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_ONE = 1 - 1e-12


def partial(xy: ArrayLike, xz: ArrayLike, yz: ArrayLike) -> Floats:
    """Partial correlation of x and y given z (Yule 1907; tau-b: Kendall 1942), from correlations `xy`, `xz` and `yz`.

    Shapes broadcast. NaN where one is NaN, or where |xz| or |yz| is 1: z then determines x (or y) completely.
    """
    r, a, b = (np.asarray(value, dtype=np.float64) for value in (xy, xz, yz))
    fixed = (np.abs(a) >= _ONE) | (np.abs(b) >= _ONE)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (r - a * b) / np.sqrt((1 - a * a) * (1 - b * b))
    return np.asarray(np.where(fixed, np.nan, np.clip(out, -1.0, 1.0)), dtype=np.float64)
