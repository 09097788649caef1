"""Adjustment of p values for multiple tests, over a family that the caller declares.

==============  =======================================================================  =============================
name            source                                                                   controls
==============  =======================================================================  =============================
bh              Benjamini & Hochberg 1995, J. Royal Statist. Soc. B 57                   false discovery rate
by              Benjamini & Yekutieli 2001, Annals of Statistics 29                      false discovery rate, also for
                                                                                         dependent tests
holm            Holm 1979, Scandinavian Journal of Statistics 6                          P(any false rejection)
bonferroni      Dunn 1961, J. Am. Statist. Assoc. 56                                     P(any false rejection)
none            the p values as they are                                                 nothing
==============  =======================================================================  =============================

``hanna-published`` reproduces Chhun, Suchanek & Clavel 2024 (TACL): Benjamini-Hochberg separately for each column of a
table of criteria x measures, in which comparisons that were not tested count as p = 0. These placeholders rank first
and lower the other adjusted p values, so that the false discovery rate is not controlled. Use it only to reproduce the
paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Method = Literal["bh", "by", "holm", "bonferroni", "none", "hanna-published"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Adjusted p values, and the `family` of tests over which they are adjusted.

    `p` has NaN where there was no test. `m` is the size of the family, the number of actual `tests`; for
    ``hanna-published`` that of one column, placeholders included, as in the paper.
    """

    p: Floats
    m: int
    tests: int
    method: Method
    family: str


def adjust(p: Floats, method: Method, *, family: str) -> Adjusted:
    """Adjusted p values. The family, named `family` for printing, consists of all entries of `p` that are not NaN.

    `p` (any shape) is raw, NaN = no test; for ``hanna-published`` a table (criteria, measures). `method` is as in the
    module. Each adjusted p is the lowest level at which the procedure would reject, at least the raw p and at most 1.
    ValueError for a p outside 0 to 1, an unknown method, or no table for ``hanna-published``.
    """
    raw = np.asarray(p, dtype=np.float64)
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    real = ~np.isnan(raw)
    if np.any((raw[real] < 0) | (raw[real] > 1)):
        raise ValueError("p values lie between 0 and 1")
    tests = int(real.sum())
    if method == "hanna-published":
        if raw.ndim != 2:
            raise ValueError(f"hanna-published takes a table of criteria x measures, not {raw.ndim} dimensions")
        filled = np.where(real, raw, 0.0)
        columns = [_adjusted(filled[:, j], "bh") for j in range(raw.shape[1])]
        adjusted_p = np.stack(columns, axis=1) if columns else filled
        return Adjusted(np.where(real, adjusted_p, np.nan), raw.shape[0], tests, method, family)
    adjusted_p = np.full(raw.shape, np.nan)
    adjusted_p[real] = _adjusted(raw[real], method)
    return Adjusted(adjusted_p, tests, tests, method, family)


def _adjusted(p: Floats, method: Method) -> Floats:
    m = p.size
    if method == "none" or m == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, m + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - rank + 1))
    elif method in ("bh", "by"):
        factor = (1 / rank).sum() if method == "by" else 1.0
        stepped = np.minimum.accumulate((p[order] * (m * factor) / rank)[::-1])[::-1]
    else:
        raise ValueError(f"{method} adjusts a table of p values, no family of them")
    adjusted_p = np.empty(m)
    # p * m / m can fall below p by one rounding.
    adjusted_p[order] = np.maximum(np.minimum(stepped, 1.0), p[order])
    return adjusted_p
