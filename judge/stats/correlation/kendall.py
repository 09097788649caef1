"""Kendall's tau-b, computed from integer codes of the ratings.

tau-b = (C - D) / sqrt((T - X)(T - Y)). C is the number of concordant pairs, D of discordant pairs, T = n(n-1)/2 of all
pairs, and X and Y of pairs tied on x and on y (Kendall 1945). tau-b is undefined (NaN) if x or y is constant or n < 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats

# Values closer than 1e-9 are ties: means of ratings carry noise of 1e-16 that would break exact ties.
DECIMALS = 9

# From how many values on levels are looked up; of how many they are found; bins of the table; values at a time.
_LARGE, _SAMPLE, _BINS, _PIECE = 20_000, 2_000, 4096, 65_536

# Above this many cells a contingency table costs more than it saves.
DENSE_CELLS = 4096

# Up to here the n x n matrix of signs fits easily into memory (float32: 64 MB).
QUADRATIC_N = 4000


def codes(values: Floats) -> Codes:
    """Integer ranks of the distinct `values` after rounding to 1e-9, 0 for the lowest; NaN becomes -1."""
    rounded: Floats = np.asarray(values, dtype=np.float64).round(DECIMALS)
    if rounded.ndim == 1 and rounded.size >= _LARGE:
        few = _few_levels(rounded)
        if few is not None:
            return few
    present = ~np.isnan(rounded)
    if bool(present.all()):
        return _ranks(rounded.reshape(-1)).reshape(rounded.shape)
    out = np.full(rounded.shape, -1, dtype=np.int64)
    out[present] = _ranks(rounded[present])
    return out


def _ranks(values: NDArray[Any]) -> Codes:
    """Position of each value among the distinct values in ascending order."""
    # `numpy.unique` gives the same, and takes several times as long for few values.
    order = values.argsort()
    ascending = values[order]
    out = np.empty(values.shape, dtype=np.int64)
    out[order] = np.concatenate([[0], np.cumsum(ascending[1:] != ascending[:-1])])[: values.size]
    return out


def _few_levels(rounded: Floats) -> Codes | None:
    """Codes of many values with few distinct levels, by table lookup instead of sorting; None where not possible.

    The levels in a sample of the values are assigned to bins of equal width. A value that differs from the level of its
    bin shows that the sample did not contain all levels; the result is then None."""
    sample = rounded[:: rounded.size // _SAMPLE]
    levels = np.unique(sample[~np.isnan(sample)])
    if not 2 <= levels.size <= _BINS // 16 or not np.isfinite(levels).all():
        return None
    scale = (_BINS - 1) / (levels[-1] - levels[0])
    level_of = np.zeros(_BINS, dtype=np.int64)
    level_of[((levels - levels[0]) * scale).astype(np.int64)] = np.arange(levels.size)
    out = np.empty(rounded.shape, dtype=np.int64)
    for start in range(0, rounded.size, _PIECE):
        piece = rounded[start : start + _PIECE]
        gone = np.isnan(piece)
        piece = np.where(gone, levels[0], piece)
        if float(piece.min()) < levels[0] or float(piece.max()) > levels[-1]:
            return None
        code = level_of[((piece - levels[0]) * scale).astype(np.int64)]
        if not np.array_equal(levels[code], piece):
            return None
        out[start : start + _PIECE] = np.where(gone, -1, code)
    return out


def tau_b(x: Codes, y: Codes) -> float:
    """tau-b of codes `x` and `y` (n,), as made by `codes`; NaN where undefined. Stories with a -1 are left out."""
    if x.size and min(int(x.min()), int(y.min())) < 0:
        keep = (x >= 0) & (y >= 0)
        x, y = x[keep], y[keep]
    if x.size < 2:
        return float("nan")
    levels_x, levels_y = int(x.max()) + 1, int(y.max()) + 1
    if levels_x * levels_y <= DENSE_CELLS:
        table = np.bincount(x * levels_y + y, minlength=levels_x * levels_y).reshape(levels_x, levels_y)
        return float(_tau_b_table(table))
    return _tau_b_merge(x, y)


def _tau_b_table(table: Codes) -> Floats:
    """tau-b of each contingency table; the last two axes are the levels of x and of y, ascending."""
    table = np.asarray(table, dtype=np.int64)
    concordant = _above(table)
    discordant = _above(table[..., ::-1])
    margin_x, margin_y = table.sum(axis=-1), table.sum(axis=-2)
    n = margin_x.sum(axis=-1)
    return ratio(concordant - discordant, n, _tied(margin_x), _tied(margin_y))


def level_sums(weights: Codes, level: Codes, levels: int) -> Codes:
    """Sum of the `weights` (b, n) of the stories at each rating level, (b, levels).

    `level` (n,) is that of each story; each of 0..`levels`-1 must occur."""
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(levels))
    return np.asarray(np.add.reduceat(weights[:, order], starts, axis=1), dtype=np.int64)


def _above(table: Codes) -> Codes:
    """Pairs of which one is strictly higher on both axes: each cell times the sum of the cells above it on both."""
    suffix = table[..., ::-1, ::-1].cumsum(axis=-2).cumsum(axis=-1)[..., ::-1, ::-1]
    return np.asarray((table[..., :-1, :-1] * suffix[..., 1:, 1:]).sum(axis=(-2, -1)), dtype=np.int64)


def tied_pairs(counts: Codes) -> Codes:
    """Number of tied pairs at each level, counts (counts - 1) / 2, for `counts` of stories."""
    return counts * (counts - 1) // 2


def _tied(counts: Codes) -> Codes:
    return np.asarray(tied_pairs(counts).sum(axis=-1), dtype=np.int64)


def ratio(score: NDArray[np.generic], n: Codes, tied_x: Codes, tied_y: Codes) -> Floats:
    """tau-b from `score` (concordant minus discordant pairs), `n` stories, and the pairs `tied_x` and `tied_y`.

    NaN where all pairs are tied on x or on y, or there are no pairs."""
    pairs = n * (n - 1) // 2
    return of_untied(score, pairs - tied_x, pairs - tied_y)


def of_untied(score: NDArray[np.generic], untied_x: NDArray[Any], untied_y: NDArray[Any]) -> Floats:
    """tau-b = `score` / sqrt(`untied_x` `untied_y`), of the pairs not tied on x and on y; NaN where either is 0."""
    defined = (untied_x > 0) & (untied_y > 0)
    unit = np.float64(1)
    scale = np.sqrt(np.where(defined, untied_x, unit)) * np.sqrt(np.where(defined, untied_y, unit))
    tau = np.clip(np.asarray(score, dtype=np.float64) / scale, -1.0, 1.0)
    return np.asarray(np.where(defined, tau, np.nan), dtype=np.float64)


def levels(code: Codes) -> Codes:
    """`code` renumbered as 0, 1, 2, ... without gaps, in order; -1 = missing, and stays -1."""
    out = np.full(code.shape, -1, dtype=np.int64)
    out[code >= 0] = dense(code[code >= 0])
    return out


def dense(level: Codes) -> Codes:
    """`level` (none missing) renumbered as 0, 1, 2, ... without gaps, in order."""
    return _ranks(level.reshape(-1))


def _tau_b_merge(x: Codes, y: Codes) -> float:
    """O(n log n) for many levels: sort by (x, y) and count the inversions in y (Knight 1966)."""
    n, levels_y = x.size, int(y.max()) + 1
    pairs = np.sort(x * levels_y + y)
    ends = np.flatnonzero(np.diff(pairs, append=-1)) + 1
    tied_both = _tied(np.diff(ends, prepend=0))
    tied_x, tied_y = _tied(np.bincount(x)), _tied(np.bincount(y))
    discordant = _inversions(pairs % levels_y)
    concordant = n * (n - 1) // 2 - tied_x - tied_y + tied_both - discordant
    return float(ratio(np.asarray(concordant - discordant), np.asarray(n), np.asarray(tied_x), np.asarray(tied_y)))


def _inversions(values: Codes) -> int:
    """Number of pairs i < j with values[i] > values[j]; one pass per bit, highest bit first.

    Two numbers compare by the highest bit in which they differ. Among numbers with equal higher bits, in original
    order, each 0 that follows a 1 is therefore one inversion. After each pass the numbers are partitioned stably by the
    bit, zeros first, so that numbers with equal higher bits stay adjacent and in order (the layout of a wavelet
    matrix)."""
    values, total = values.astype(np.int32 if values.size < 2**31 else np.int64), 0
    for bit in range(int(values.max()).bit_length() - 1, -1, -1):
        high = values >> bit
        ones = high & 1
        before = np.cumsum(ones, dtype=ones.dtype) - ones
        first = np.concatenate(([True], (high[1:] >> 1) != (high[:-1] >> 1)))
        start = before[np.flatnonzero(first)][np.cumsum(first) - 1]
        zeros = ones == 0
        total += int((before - start)[zeros].sum(dtype=np.int64))
        values = np.concatenate([values[zeros], values[~zeros]])
    return total
