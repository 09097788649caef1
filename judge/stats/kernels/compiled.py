"""The loops of `judge.stats.kernels.loops`, compiled by numba where it is installed (extra `fast`).

Every loop counts in integers, and its caller has a numpy version that gives the same integers. Results are therefore
identical with and without numba; a test runs both. Only this module imports numba, when a loop is first needed. The
environment variable JUDGE_COMPILED is ``never`` (numpy only), ``always`` (an error without numba) or ``auto`` (where
numba is installed and the task is large; the default).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError, SpecError
from judge.stats.kernels import loops

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.int32]
Masks = NDArray[np.uint8]
Levels = NDArray[np.int16]
Sums = NDArray[np.int64]

VARIABLE = "JUDGE_COMPILED"
# Seconds that numpy would take, below which importing numba costs more than it saves; and where it is imported.
WORTH, WORTH_LOADED = 2.0, 0.02

_loaded: dict[str, Callable[..., Any]] = {}


def wanted(seconds: float) -> bool:
    """Whether to use the compiled loops for a task that takes numpy about so many `seconds`.

    SpecError if JUDGE_COMPILED is none of ``auto``, ``never`` and ``always``.
    """
    setting = os.environ.get(VARIABLE, "auto")
    if setting not in ("auto", "never", "always"):
        raise SpecError(f"{VARIABLE}={setting} must be auto, never or always")
    if setting != "auto":
        return setting == "always"
    return seconds >= (WORTH_LOADED if _loaded else WORTH) and _numba() is not None


def _numba() -> Any | None:
    try:
        import numba
    except ImportError:  # not installed, or not for this numpy
        return None
    return numba


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The loop as machine code, compiled at its first use, and cached on disk where a folder can be written."""
    name = loop.__name__
    if name not in _loaded:
        numba = _numba()
        if numba is None:
            raise MissingExtraError(f"{VARIABLE}=always", "fast")
        try:
            _loaded[name] = numba.njit(cache=True, nogil=True)(loop)
        except RuntimeError:  # numba found no folder that it may write
            _loaded[name] = numba.njit(nogil=True)(loop)
    return _loaded[name]


def tables(factors: list[tuple[Counts, Codes]], code: Levels, levels: tuple[int, int]) -> Sums:
    """Concordant minus discordant pairs; stories; pairs tied by the judge; pairs tied by people: (4, judges, b).

    For Kendall's tau in b resamples of n stories, by contingency tables. `factors` holds, for each of the one or two
    kinds of units (such as story-prompts) that were drawn, how often each was drawn, (b, units), and each story's unit
    (n,); a story's weight is the product of its units' counts. `code` (judges, n) is people's level * levels[1] +
    judge's level; levels[0] * levels[1] stands for a missing rating. `levels` are the numbers of levels of people and
    of judges.
    """
    out = np.empty((4, code.shape[0], factors[0][0].shape[0]), dtype=np.int64)
    _compiled(loops.tables)(*_two(factors), code, *levels, out)
    return out


def sweep(factors: list[tuple[Counts, Codes]], story: Codes, x: Codes, y: Codes) -> Sums:
    """The sums of `tables` for one judge with many levels, (4, b), by a sweep over stories from low to high ratings.

    `factors` is as in `tables`. `story`, `x` and `y` (m,) are indices of the stories that both rated, in ascending
    order of the judge's rating, and the judge's and people's levels of these, from 0 on.
    """
    out = np.empty((4, factors[0][0].shape[0]), dtype=np.int64)
    _compiled(loops.sweep)(*_two(factors), story, x, y, int(y.max()) + 1 if y.size else 0, out)
    return out


def rows(x: Floats, y: Floats, mass: Sums) -> tuple[Sums, Sums, Sums]:
    """The loop of `weighted_tau.pairs_of_rows`, where `x`, `y`, `mass` and the three arrays (b,) are described."""
    out = np.empty((3, x.shape[0]), dtype=np.int64)
    _compiled(loops.rows)(*(np.ascontiguousarray(side) for side in (x, y, mass)), out)
    return out[0], out[1], out[2]


def swaps(masks: Masks, cells: tuple[Codes, Codes], signed: Sums, margin: Sums) -> Sums:
    """Sums over pairs of stories for b patterns of swaps of two judges' ratings, (4, b), by contingency tables.

    `masks` (b, n) is 1 where a story's ratings are swapped. `cells` holds, for each judge, (n,) people's level * levels
    of judges + judge's level. `signed` (levels of people, of judges) and `margin` (levels of judges,) describe the sum
    of both judges' tables: for each cell, ratings in cells concordant with it minus discordant ones; and ratings at
    each level. The rows, after the swaps: the first judge's concordant minus discordant pairs; the sum over cells of
    its table times `signed`; pairs tied by the first judge; pairs tied by the second.
    """
    out = np.empty((4, masks.shape[0]), dtype=np.int64)
    _compiled(loops.swaps)(np.ascontiguousarray(masks), *cells, signed, margin, out)
    return out


def inversions(values: Codes) -> int:
    """Number of pairs i < j with values[i] > values[j], of `values` from 0 on."""
    return int(_compiled(loops.inversions)(values, int(values.max(initial=0)) + 1))


def _two(factors: list[tuple[Counts, Codes]]) -> tuple[Counts, Codes, Counts, Codes]:
    """Counts and units of both factors; a missing second one is a single unit, drawn once, of all stories."""
    counts, unit = factors[0]
    if len(factors) == 2:
        return counts, unit, *factors[1]
    return counts, unit, np.ones((counts.shape[0], 1), dtype=np.int32), np.zeros(unit.size, dtype=np.int64)
