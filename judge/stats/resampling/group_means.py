"""Mean ratings of groups of stories (systems) in each bootstrap resample, over the stories that both the judge and
people rated.

Where resamples draw whole groups, a group keeps its mean, and its weight is the number of times it was drawn. Where
they draw units (such as story-prompts) within groups, a story's weight in the mean is the number of times it was drawn.
Means are rounded to 1e-9, as in `kendall.codes`, so that equal means are ties in spite of rounding errors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Means = tuple[Floats, Floats, NDArray[np.int64]]
"""Means of x and of y, NaN for a group without stories, and how often each group stands; each of shape (judges, b,
groups)."""

_BLOCK = 4_000_000
"""Means, or weights of stories, worked on at a time."""


def in_resamples(resamples: Resamples, x: Floats, y: Floats, group: Codes) -> Iterator[tuple[slice, slice, Means]]:
    """Yield the mean ratings of groups of stories (systems) in bootstrap resamples, for some judges and one block of
    resamples at a time to limit memory.

    Parameters
    ----------
    resamples : Resamples
        B resamples of n stories.
    x : array, shape (judges, n)
        Ratings of each judge; NaN = missing. Means are over the stories that both the judge and people rated.
    y : array, shape (n,) or (judges, n)
        People's ratings, or those that each judge is compared with; NaN = missing.
    group : array of int, shape (n,)
        Group (system) of each story.

    Yields
    ------
    slice, slice, Means
        Rows of `x`, slice of the resamples, and three arrays: means of the judges' ratings, means of people's ratings,
        and weights of the groups. Each has shape (judges, resamples in the slice, groups).
    """
    groups = int(group.max()) + 1 if group.size else 0
    mass, varying = resamples.split(group)
    if varying is None:
        unit, units = np.zeros(group.size, dtype=np.int64), 1
    elif len(varying.factors) == 1:
        unit, units = varying.unit, varying.counts.shape[1]
    else:
        unit, units = np.arange(group.size), group.size
    step = max(1, _BLOCK // max(1, units, groups))
    several = max(1, _BLOCK // 8 // max(1, units * groups, min(step, resamples.size) * groups))
    cell = unit * groups + group
    for begin in range(0, len(x), several):
        rows = slice(begin, begin + several)
        side_x, side_y = x[rows], np.broadcast_to(y, x.shape)[rows]
        keep = ~(np.isnan(side_x) | np.isnan(side_y))
        sums = [_sums(side, keep, cell, (units, groups)) for side in (None, side_x, side_y)]
        for start in range(0, resamples.size, step):
            block = slice(start, start + step)
            counts = np.ones((mass[block].shape[0], 1)) if varying is None else _counts(varying, block)
            total, of_x, of_y = (counts @ side for side in sums)
            yield rows, block, (_mean(of_x, total), _mean(of_y, total), np.broadcast_to(mass[block], total.shape))


def _counts(varying: Resamples, block: slice) -> Floats:
    counts = varying.counts[block] if len(varying.factors) == 1 else varying.weights(block)
    return counts.astype(np.float64)


def _sums(values: Floats | None, keep: NDArray[np.bool_], cell: Codes, shape: tuple[int, int]) -> Floats:
    """Sum of values over the stories marked in `keep`, for each judge, unit and group; `cell` is the index of the unit
    and group of each story, and `shape` is (units, groups). If `values` is None, the number of these stories.

    `values` and `keep` have shape (judges, n stories).
    """
    judges, cells = len(keep), shape[0] * shape[1]
    weights = None if values is None else values[keep]
    where = (cell + cells * np.arange(judges)[:, None])[keep]
    return np.bincount(where, weights=weights, minlength=judges * cells).reshape(judges, *shape).astype(np.float64)


def _mean(sums: Floats, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(total > 0, sums / total, np.nan)
    return mean.round(kendall.DECIMALS)
