"""Kendall's tau-b of many pairs of variables over the same few stories, on the data and in resamples.

Where hundreds of criteria have tens of stories each, the time goes to calls and not to sums. All pairs of variables are
therefore computed together, from the signs of differences between each two stories. Drawn as often as their units are,
two stories count as often as the product of both numbers, which is the same for all pairs of variables. All sums are of
integers and exact, so that every value is that of `kendall.tau_b` and `resampled_tau.tau_b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall, weighted_tau
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEW_STORIES = 128
"""Up to so many stories all pairs of them are held at once."""

_BLOCK = 4_000_000


def taus(x: Floats, y: Floats, sets: Sequence[Resamples] = ()) -> tuple[Floats, tuple[Floats, ...]]:
    """tau-b of each row of x with the same row of y.

    Parameters
    ----------
    x, y : array, shape (rows, n stories)
        Ratings, NaN = missing; a story that lacks one of the two is left out of that row. Values within 1e-9 are tied,
        as in `kendall.codes`. n is small: time and memory grow with its square.
    sets : sequence of Resamples
        Sets of B resamples of the n stories; they may differ in B.

    Returns
    -------
    array of shape (rows,), and one array of shape (rows, B) for each set of resamples
        NaN where all values of a side are tied or fewer than two stories are left.
    """
    rows, n = x.shape
    first, second = np.triu_indices(n, 1)
    drawn = [_draws(resamples, first, second) for resamples in sets]
    whole, in_sets = np.empty(rows), tuple(np.empty((rows, resamples.size)) for resamples in sets)
    step = max(1, _BLOCK // max(1, 3 * first.size))
    for start in range(0, rows, step):
        block = slice(start, start + step)
        signs = _signs(x[block], y[block], first, second)
        whole[block] = kendall.of_untied(*signs.sum(axis=2, dtype=np.float64))
        for resamples, out, (order, bounds, weights) in zip(sets, in_sets, drawn, strict=True):
            sums = np.add.reduceat(signs[..., order], bounds, axis=2) if bounds.size else signs[..., :0]
            sums = sums.reshape(3 * len(x[block]), bounds.size).astype(weights.dtype, copy=False)
            out[block] = kendall.of_untied(*(sums @ weights).reshape(3, -1, resamples.size).astype(np.float64))
    return whole, in_sets


def _signs(x: Floats, y: Floats, first: Codes, second: Codes) -> NDArray[np.float32]:
    """For each pair of stories whether it is concordant (1) or discordant (-1), and whether it is untied on x and on y,
    shape (3, rows, pairs of stories); all 0 where a rating is missing.
    """
    x, y = (side.round(kendall.DECIMALS) for side in (x, y))
    sign_x, sign_y = (np.sign(side[:, second] - side[:, first]) for side in (x, y))
    gone = np.isnan(sign_x) | np.isnan(sign_y)
    sign_x[gone] = sign_y[gone] = 0
    return np.stack([sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)]).astype(np.float32)


def _draws(
    resamples: Resamples, first: Codes, second: Codes
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
    """How often pairs of stories count in each resample, by pairs of the units that are drawn.

    An order of the pairs of stories, in which those of the same two units are neighbours; where each two units begin;
    and the number of times that each two units count, shape (pairs of units, B resamples).
    """
    one_way = len(resamples.factors) == 1
    unit, counts = (resamples.unit, resamples.counts) if one_way else (np.arange(resamples.n), resamples.weights())
    low, high = np.minimum(unit[first], unit[second]), np.maximum(unit[first], unit[second])
    code = low * (int(unit.max(initial=-1)) + 1) + high
    order = np.argsort(code, kind="stable")
    bounds = np.flatnonzero(np.diff(code[order], prepend=-1))
    at = order[bounds]
    sizes = np.bincount(unit, minlength=counts.shape[1])
    drawn = int((counts @ sizes).max(initial=0))
    whole: NDArray[Any] = counts.T.astype(weighted_tau.exact(drawn * drawn))
    return order, bounds, whole[low[at]] * whole[high[at]]
