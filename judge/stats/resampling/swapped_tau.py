"""Kendall's tau-b of two judges with human ratings after the judges' ratings are swapped for some stories, for many
patterns of swaps.

A swap does not change N, the sum of the two judges' contingency tables with human ratings. Let M be one judge's table
as a vector of cells; the other judge's table is then N - M. The number of concordant minus discordant pairs in M is
f(M) = M'KM / 2, where K holds the sign (1, -1 or 0) for each pair of cells. As f(N - M) = f(N) - M'KN + f(M), one sweep
over the stories gives the results of both judges.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall, weighted_tau
from judge.stats.kernels import compiled

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Masks = NDArray[np.uint8]
Sums = tuple[Codes, Codes, Codes, Codes]
"""Concordant less discordant pairs of both judges, and the pairs tied on each judge's side, (b,) each."""

Both = Callable[[Masks], tuple[Floats, Floats]]
"""From which stories are swapped, (b, n) of 0 and 1, to tau-b of both judges with people, (b,) each."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Rating levels of two judges and of people on the same n stories, sorted by people's level.

    Attributes
    ----------
    a, b : array of int, shape (n,)
        The judges' levels, with common codes.
    y : array of int, shape (n,)
        People's levels.
    order : array of int, shape (n,)
        Original index of each story.
    levels, levels_y : int
        Number of levels of the judges and of people.
    """

    a: Codes
    b: Codes
    y: Codes
    order: Codes
    levels: int
    levels_y: int


def overall(a: Floats, b: Floats, people: Codes) -> Both:
    """A function that computes the tau-b of each of two judges with people over all stories, after the judges' ratings
    of some stories are swapped.

    Parameters
    ----------
    a, b : array, shape (n,)
        Standardised ratings of the two judges; none may be missing.
    people : array of int, shape (n,)
        Codes of people's ratings.

    Returns
    -------
    callable
        Function from k patterns of swaps to the tau-b of the first and of the second judge, each of shape (k,).
        The patterns are an array of shape (k, n), with 1 where the ratings of a story are swapped. Ratings
        within 1e-9 are ties; ties are determined once for the ratings of both judges together.
    """
    union, y = kendall.codes(np.concatenate([a, b])), kendall.dense(people)
    order = np.argsort(y, kind="stable")
    levels, levels_y = int(union.max()) + 1, int(y.max()) + 1
    pair = _Pair(union[: a.size][order], union[a.size :][order], y[order], order, levels, levels_y)
    tied_y = kendall.tied_pairs(np.bincount(y)).sum()
    if levels * levels_y > kendall.DENSE_CELLS and y.size > kendall.QUADRATIC_N:
        return _one_by_one(pair)
    sums = _by_tables(pair) if levels * levels_y <= kendall.DENSE_CELLS else _by_signs(pair)

    def both(masks: Masks) -> tuple[Floats, Floats]:
        swapped = masks[:, order]
        score_a, score_b, tied_a, tied_b = sums(swapped)
        n, ties = np.asarray(y.size), np.asarray(tied_y)
        return kendall.ratio(score_a, n, tied_a, ties), kendall.ratio(score_b, n, tied_b, ties)

    return both


def over_means(a: Floats, b: Floats, people: Floats, group: Codes) -> Both:
    """A function that computes the tau-b of each of two judges with people over group means, after the judges' ratings
    of some stories are swapped.

    Parameters
    ----------
    a, b, people : array, shape (n,)
        Standardised ratings of the two judges, and people's ratings; none may be missing.
    group : array of int, shape (n,)
        Group (system) of each story, as codes 0..groups-1, each of which occurs.

    Returns
    -------
    callable
        Function from k patterns of swaps to the tau-b of the first and of the second judge, each of shape (k,).
        The patterns are an array of shape (k, n), with 1 where the ratings of a story are swapped. Means within
        1e-9 are ties.
    """
    groups = int(group.max()) + 1
    size = np.bincount(group)
    mean_a, mean_b, mean_y = (np.bincount(group, weights=side) / size for side in (a, b, people))
    moves = (group[:, None] == np.arange(groups)) * ((b - a) / size[group])[:, None]

    def both(masks: Masks) -> tuple[Floats, Floats]:
        moved = masks.astype(np.float64) @ moves
        rows_y = np.broadcast_to(np.round(mean_y, kendall.DECIMALS), moved.shape)
        once = np.ones(moved.shape, dtype=np.int64)
        rounded = (np.round(side, kendall.DECIMALS) for side in (mean_a + moved, mean_b - moved))
        first, second = (kendall.of_untied(*weighted_tau.pairs_of_rows(side, rows_y, once)) for side in rounded)
        return first, second

    return both


def _by_tables(pair: _Pair) -> Callable[[Masks], Sums]:
    shape = (pair.levels_y, pair.levels)
    cell_a, cell_b = (pair.y * pair.levels + side for side in (pair.a, pair.b))
    table_a, table_b = (np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape) for cell in (cell_a, cell_b))
    total = table_a + table_b
    signs_y, signs_x = (np.sign(np.arange(k)[:, None] - np.arange(k)[None, :]) for k in shape)
    signed = signs_y @ total @ signs_x.T
    of_total = int((total * signed).sum()) // 2
    kind = weighted_tau.exact(4 * pair.y.size**2)
    change = (np.equal.outer(pair.b, np.arange(shape[1])) * 1 - np.equal.outer(pair.a, np.arange(shape[1]))).astype(
        kind
    )
    both_changes = np.concatenate([change, change @ -signs_x.astype(kind)], axis=1)
    start = np.concatenate([table_a, table_a @ -signs_x], axis=1).astype(kind)
    bounds = np.searchsorted(pair.y, np.arange(shape[0] + 1))

    def in_numpy(masks: Masks) -> Sums:
        m: NDArray[Any] = masks.astype(kind)
        below: NDArray[Any] = np.zeros((len(m), shape[1]), dtype=kind)
        margin: NDArray[Any] = np.zeros((len(m), shape[1]), dtype=kind)
        score, lent = np.zeros((2, len(m)), dtype=np.int64)
        for level, (first, last) in enumerate(itertools.pairwise(bounds.tolist())):
            cells = start[level] + m[:, first:last] @ both_changes[first:last]
            here = cells[:, : shape[1]]
            score += np.einsum("bk,bk->b", here, below).astype(np.int64)
            lent += (here @ signed[level].astype(kind)).astype(np.int64)
            margin += here
            below += cells[:, shape[1] :]
        other = total.sum(axis=0).astype(kind) - margin
        tied_a, tied_b = (
            (np.einsum("bk,bk->b", side, side).astype(np.int64) - pair.y.size) // 2 for side in (margin, other)
        )
        return score, of_total - lent + score, tied_a, tied_b

    def sums(masks: Masks) -> Sums:
        if compiled.wanted(4e-10 * masks.size * pair.levels):
            score, lent, tied_a, tied_b = compiled.swaps(masks, (cell_a, cell_b), signed, total.sum(axis=0))
            return score, of_total - lent + score, tied_a, tied_b
        return in_numpy(masks)

    return sums


def _by_signs(pair: _Pair) -> Callable[[Masks], Sums]:
    """A function from patterns of swaps to each judge's number of concordant minus discordant pairs and number of tied
    pairs, for judges with many rating levels. The number of concordant minus discordant pairs after a pattern of swaps
    m is a quadratic form in m, computed from the signs of all pairs of stories.
    """
    n = pair.y.size
    kind = weighted_tau.exact(4 * n**2)
    signs_y = _signs(pair.y, pair.y)
    aa, bb, ab = (signs_y * _signs(p, q) for p, q in ((pair.a, pair.a), (pair.b, pair.b), (pair.a, pair.b)))
    linear = (ab.sum(axis=0, dtype=np.int64) - aa.sum(axis=1, dtype=np.int64)).astype(np.float64)
    form: NDArray[Any] = (aa + bb - ab - ab.T).astype(kind)
    row_sums = form.sum(axis=1, dtype=np.float64)
    none, every = int(aa.sum(dtype=np.int64)) // 2, int(linear.sum()) + int(row_sums.sum()) // 2
    counts = np.bincount(np.concatenate([pair.a, pair.b]), minlength=pair.levels)
    shared = np.flatnonzero(counts > 1)
    at = np.full(pair.levels, -1)
    at[shared] = np.arange(shared.size)
    change = np.zeros((n, shared.size), dtype=kind)
    for side, sign in ((pair.a, -1), (pair.b, 1)):
        rows = np.flatnonzero(at[side] >= 0)
        np.add.at(change, (rows, at[side[rows]]), sign)
    whole: NDArray[Any] = counts[shared].astype(kind)
    start: NDArray[Any] = np.bincount(pair.a, minlength=pair.levels)[shared].astype(kind)

    def sums(masks: Masks) -> Sums:
        m: NDArray[Any] = masks.astype(kind)
        quadratic = np.einsum("bi,bi->b", m @ form, m).astype(np.int64) // 2
        m64 = m.astype(np.float64)
        moved, edge = (m64 @ linear).astype(np.int64), (m64 @ row_sums).astype(np.int64)
        margin = start + m @ change
        tied_a, tied_b = (kendall.tied_pairs(side.astype(np.int64)).sum(axis=1) for side in (margin, whole - margin))
        return none + moved + quadratic, none + every - moved - edge + quadratic, tied_a, tied_b

    return sums


def _one_by_one(pair: _Pair) -> Both:
    """A function that computes the tau-b of two judges with people, for one pattern of swaps of their ratings at a
    time. It is used for many levels and stories, where a matrix of all pairs of stories would not fit into memory.
    """

    def both(masks: Masks) -> tuple[Floats, Floats]:
        taus = np.empty((2, len(masks)))
        for i, mask in enumerate(masks[:, pair.order] > 0):
            taus[0, i] = kendall.tau_b(np.where(mask, pair.b, pair.a), pair.y)
            taus[1, i] = kendall.tau_b(np.where(mask, pair.a, pair.b), pair.y)
        return taus[0], taus[1]

    return both


def _signs(p: Codes, q: Codes) -> NDArray[np.int8]:
    return np.asarray(np.sign(p[:, None] - q[None, :]), dtype=np.int8)
