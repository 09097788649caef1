"""Counting loops compiled by numba where it is installed (extra `fast`). Never decides what a number is.

Every loop here counts in integers, and its caller has a numpy form that gives the same integers, so that results are
the same bit for bit with and without numba; a test runs both. This module alone imports numba, when a loop is first
wanted: importing and loading takes about a second, so small tasks stay with numpy.

The environment variable JUDGE_COMPILED says ``never`` (numpy only), ``always`` (an error without numba) or ``auto``
(where numba is installed and the task is large; the default).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.errors import MissingExtraError, SpecError

Codes = NDArray[np.int64]
Counts = NDArray[np.int32]
Levels = NDArray[np.int16]
Sums = NDArray[np.int64]

VARIABLE = "JUDGE_COMPILED"
WORTH = 2e9
"""Elementary steps below which importing numba costs more than it saves."""

_loaded: dict[str, Callable[..., Any]] = {}


def wanted(steps: float) -> bool:
    """Whether compiled loops are to be used for a task of so many elementary steps."""
    setting = os.environ.get(VARIABLE, "auto")
    if setting not in ("auto", "never", "always"):
        raise SpecError(f"{VARIABLE}={setting} must be auto, never or always")
    if setting == "never":
        return False
    if setting == "always":
        return True
    return bool(_loaded) or (steps >= WORTH and find_spec("numba") is not None)


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The loop as machine code: compiled at its first use, and kept on disk where a folder can be written."""
    name = loop.__name__
    if name not in _loaded:
        try:
            import numba
        except ImportError as error:
            raise MissingExtraError(f"{VARIABLE}=always", "fast") from error
        try:
            _loaded[name] = numba.njit(cache=True, nogil=True)(loop)
        except RuntimeError:  # numba found no folder that it may write
            _loaded[name] = numba.njit(nogil=True)(loop)
    return _loaded[name]


def tables(factors: list[tuple[Counts, Codes]], code: Levels, levels: tuple[int, int]) -> Sums:
    """Sums over pairs in each resample, by contingency tables.

    Parameters
    ----------
    factors : list of (counts (b, units), unit (n,))
        One or two; a story's weight is the product of its units' counts.
    code : array, shape (judges, n)
        people's level * levels of judges + judge's level; levels[0] * levels[1] = missing.
    levels : (levels of people, levels of judges)

    Returns
    -------
    array, shape (4, judges, b)
        Concordant less discordant pairs, stories, pairs tied on the judge's side, pairs tied on the people's side.
    """
    out = np.empty((4, code.shape[0], factors[0][0].shape[0]), dtype=np.int64)
    _compiled(_tables)(*_two(factors), code, *levels, out)
    return out


def sweep(factors: list[tuple[Counts, Codes]], story: Codes, x: Codes, y: Codes) -> Sums:
    """Sums over pairs in each resample for one judge with many levels, by sweeping the stories from low to high.

    Parameters
    ----------
    factors
        As for `tables`.
    story, x, y : arrays, shape (m,)
        Stories with both sides in ascending order of the judge's rating, their levels x, and the people's, 0..

    Returns
    -------
    array, shape (4, b)
        As `tables`.
    """
    out = np.empty((4, factors[0][0].shape[0]), dtype=np.int64)
    _compiled(_sweep)(*_two(factors), story, x, y, int(y.max()) + 1 if y.size else 0, out)
    return out


def _two(factors: list[tuple[Counts, Codes]]) -> tuple[Counts, Codes, Counts, Codes]:
    """The factors as two; a missing second one is drawn once always."""
    counts, unit = factors[0]
    if len(factors) == 2:
        return counts, unit, *factors[1]
    return counts, unit, np.ones((counts.shape[0], 1), dtype=np.int32), np.zeros(unit.size, dtype=np.int64)


def _tables(
    counts_1: Counts,
    unit_1: Codes,
    counts_2: Counts,
    unit_2: Codes,
    code: Levels,
    levels_y: int,
    levels_x: int,
    out: Sums,
) -> None:
    n, judges, cells = unit_1.size, code.shape[0], levels_x * levels_y
    drawn, weight = np.empty(n, np.int64), np.empty(n, np.int64)
    table, below = np.empty(cells + 1, np.int64), np.empty(levels_x, np.int64)
    for b in range(counts_1.shape[0]):
        m = 0
        for i in range(n):
            w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
            drawn[m], weight[m] = i, w
            m += w > 0
        for judge in range(judges):
            level = code[judge]
            table[:] = 0
            for t in range(m):
                table[level[drawn[t]]] += weight[t]
            below[:] = 0
            total, score, tied_x, tied_y = 0, 0, 0, 0
            for row in range(levels_y):
                lower, size = 0, 0
                for column in range(levels_x):
                    here, under = table[row * levels_x + column], below[column]
                    score += here * (2 * lower + under - total)  # lower less higher among those below on y
                    lower += under
                    size += here
                    below[column] = under + here
                tied_y += size * (size - 1) // 2
                total += size
            for column in range(levels_x):
                tied_x += below[column] * (below[column] - 1) // 2
            out[0, judge, b], out[1, judge, b], out[2, judge, b], out[3, judge, b] = score, total, tied_x, tied_y


def _sweep(
    counts_1: Counts,
    unit_1: Codes,
    counts_2: Counts,
    unit_2: Codes,
    story: Codes,
    x: Codes,
    y: Codes,
    levels_y: int,
    out: Sums,
) -> None:
    m = story.size
    # A Fenwick tree: sums over the people's levels below one, in steps that are logarithmic in their number.
    tree, count = np.empty(levels_y + 1, np.int64), np.empty(levels_y, np.int64)
    for b in range(counts_1.shape[0]):
        tree[:] = 0
        count[:] = 0
        total, score, tied_x, tied_y = 0, 0, 0, 0
        start = 0
        while start < m:
            stop, size = start, 0
            while stop < m and x[stop] == x[start]:
                i = story[stop]
                w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
                if w > 0:
                    lower, at = 0, y[stop]
                    while at > 0:
                        lower += tree[at]
                        at -= at & -at
                    score += w * (2 * lower + count[y[stop]] - total)
                    size += w
                stop += 1
            if size > 0:
                for k in range(start, stop):
                    i = story[k]
                    w = counts_1[b, unit_1[i]] * counts_2[b, unit_2[i]]
                    if w > 0:
                        count[y[k]] += w
                        at = y[k] + 1
                        while at <= levels_y:
                            tree[at] += w
                            at += at & -at
            tied_x += size * (size - 1) // 2
            total += size
            start = stop
        for k in range(levels_y):
            tied_y += count[k] * (count[k] - 1) // 2
        out[0, b], out[1, b], out[2, b], out[3, b] = score, total, tied_x, tied_y
