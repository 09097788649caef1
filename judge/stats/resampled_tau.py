"""tau-b in each bootstrap resample: overall, over system means, within groups. Never draws.

Takes many judges at once against one vector of people's ratings, so that the weights are made once for all of them;
with and without compiled loops the numbers are the same bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.stats import compiled, kendall, weighted_tau

if TYPE_CHECKING:
    from judge.stats.resample import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MATRIX = 8_000_000
"""Floats of matrices between units, or of indicators of levels, that are held at a time."""


def tau_b(resamples: Resamples, x: Codes, y: Codes) -> Floats:
    """Overall tau-b in each resample, each story standing as often as it was drawn.

    Parameters
    ----------
    resamples : Resamples
        B resamples of n stories.
    x : array of int, shape (n,) or (judges, n)
        Codes of each judge's ratings, as made by `kendall.codes`; -1 = missing, left out pairwise for that judge alone.
    y : array of int, shape (n,)
        Codes of the people's ratings.

    Returns
    -------
    array, shape (B,) or (judges, B)
        NaN in a resample where a side is constant or fewer than 2 pairs are left. Equal to tau-b of the repeated pairs.
    """
    judges, people = np.atleast_2d(x), kendall.levels(y)
    rows = np.stack([kendall.levels(np.where(y >= 0, row, -1)) for row in judges]) if len(judges) else judges
    levels, levels_y = rows.max(axis=1, initial=-1) + 1, int(people.max(initial=-1)) + 1
    out = np.empty((len(rows), resamples.size))
    few = levels * levels_y <= kendall.DENSE_CELLS
    for chosen in (np.flatnonzero(few), np.flatnonzero(~few)):
        if chosen.size:
            most = int(levels[chosen].max())
            out[chosen] = _overall(resamples, rows[chosen], people, most if few[chosen[0]] else None)
    return out if np.ndim(x) == 2 else out[0]


def _overall(resamples: Resamples, x: Codes, y: Codes, levels: int | None) -> Floats:
    """By the cheapest way; `levels` is how many the judges have, None = too many for tables."""
    n, judges = resamples.n, len(x)
    one_way = len(resamples.factors) == 1
    units = resamples.factors[0].counts.shape[1] if one_way else n
    by_tables = 2 * n * levels if levels else n * n
    if one_way and units <= kendall.QUADRATIC_N and units**2 <= by_tables:
        step = max(1, _MATRIX // max(1, units**2))
        parts = (weighted_tau.by_units(x[i : i + step], y, resamples.unit) for i in range(0, judges, step))
        return np.concatenate([statistic(resamples.counts) for statistic in parts])
    if compiled.wanted(judges * resamples.size * by_tables):
        return _loops(resamples, x, y, levels)
    step = max(1, _MATRIX // max(1, by_tables))
    out = np.empty((judges, resamples.size))
    for start in range(0, judges, step):
        part = slice(start, start + step)
        statistic = weighted_tau.by_stories(x[part], y)
        for block in resamples.blocks():
            out[part, block] = statistic(resamples.weights(block))
    return out


def _loops(resamples: Resamples, x: Codes, y: Codes, levels: int | None) -> Floats:
    factors = [(factor.counts, factor.unit) for factor in resamples.factors]
    if levels:
        levels_y = int(y.max()) + 1
        code = np.where(x >= 0, y * levels + x, levels * levels_y).astype(np.int16)
        sums = compiled.tables(factors, code, (levels_y, levels))
    else:
        sums = np.empty((4, len(x), resamples.size), dtype=np.int64)
        for j, row in enumerate(x):
            story = np.flatnonzero(row >= 0)
            story = story[np.argsort(row[story], kind="stable")]
            sums[:, j] = compiled.sweep(factors, story, row[story], y[story])
    return kendall.ratio(*sums)
