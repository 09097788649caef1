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
"""Means of x and of y, NaN for a group without stories, and how often each group stands; each of shape (b, groups)."""

_BLOCK = 4_000_000
"""Means, or weights of stories, worked on at a time."""


def in_resamples(resamples: Resamples, judges: Floats, y: Floats, group: Codes) -> Iterator[tuple[int, slice, Means]]:
    """Yield the mean ratings of groups of stories (systems) in bootstrap resamples, for one judge and one block of
    resamples at a time to limit memory.

    Parameters
    ----------
    resamples : Resamples
        B resamples of n stories.
    judges : array, shape (judges, n)
        Ratings of each judge; NaN = missing. Means are over the stories that both the judge and people rated.
    y : array, shape (n,)
        People's ratings; NaN = missing.
    group : array of int, shape (n,)
        Group (system) of each story.

    Yields
    ------
    int, slice, Means
        Row of the judge in `judges`, slice of the resamples, and three arrays: means of the judge's ratings,
        means of people's ratings, and weights of the groups. Each has shape (resamples in the slice, groups).
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
    cell = unit * groups + group
    people: dict[bytes, Floats] = {}
    sums = []
    for row in judges:
        keep = ~(np.isnan(row) | np.isnan(y))
        key = keep.tobytes()
        if key not in people:
            people[key] = np.stack([_sums(y, keep, cell, (units, groups)), _sums(None, keep, cell, (units, groups))])
        sums.append((_sums(row, keep, cell, (units, groups)), people[key]))
    for start in range(0, resamples.size, step):
        block = slice(start, start + step)
        counts = np.ones((mass[block].shape[0], 1)) if varying is None else _counts(varying, block)
        done: dict[int, tuple[Floats, Floats]] = {}
        for j, (ours, shared) in enumerate(sums):
            if id(shared) not in done:
                total = counts @ shared[1]
                done[id(shared)] = total, _mean(counts @ shared[0], total)
            total, mean_y = done[id(shared)]
            yield j, block, (_mean(counts @ ours, total), mean_y, mass[block])


def _counts(varying: Resamples, block: slice) -> Floats:
    counts = varying.counts[block] if len(varying.factors) == 1 else varying.weights(block)
    return counts.astype(np.float64)


def _sums(values: Floats | None, keep: NDArray[np.bool_], cell: Codes, shape: tuple[int, int]) -> Floats:
    """Sum of values over the stories marked in `keep`, for each unit and group; `cell` is the index of the unit and
    group of each story, and `shape` is (units, groups). If `values` is None, the number of these stories.
    """
    weights = None if values is None else values[keep]
    return np.bincount(cell[keep], weights=weights, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _mean(sums: Floats, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(total > 0, sums / total, np.nan)
    return mean.round(kendall.DECIMALS)
