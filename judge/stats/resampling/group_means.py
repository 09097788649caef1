"""Means of groups of stories (systems) in each resample, over the same stories on both sides.

A group that is drawn as a whole keeps its mean and stands as often as it was drawn; within it, stories count as often
as they were drawn. Means are rounded to 1e-9, as `kendall.codes` does, so that ties are ties.
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
    """Means of groups in resamples, judge by judge and some resamples at a time, so that memory stays bounded.

    Parameters
    ----------
    resamples : Resamples
        B resamples of n stories.
    judges : array, shape (judges, n)
        Ratings of each judge; NaN = missing. Means are over the stories that both sides rated.
    y : array, shape (n,)
        People's ratings; NaN = missing.
    group : array of int, shape (n,)
        Group (system) of each story.

    Yields
    ------
    int, slice, Means
        The judge's row, the resamples, and the means of both sides with the weight of each group.
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
    """Sums of values, or numbers of stories, in each unit and group."""
    weights = None if values is None else values[keep]
    return np.bincount(cell[keep], weights=weights, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _mean(sums: Floats, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(total > 0, sums / total, np.nan)
    return mean.round(kendall.DECIMALS)
