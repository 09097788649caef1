"""The loops of `judge.stats.kernels.loops`, compiled by numba where it is installed (extra `fast`).

Every loop counts in integers, and its caller has a numpy version that gives the same integers. Results are therefore
identical with and without numba; a test runs both. Only this module imports numba, when a loop is first needed. The
import takes a second or more, so small tasks stay with numpy.

The environment variable JUDGE_COMPILED is ``never`` (numpy only), ``always`` (an error without numba) or ``auto``
(where numba is installed and the task is large; the default).
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
    """Whether the compiled loops should be used for a task; otherwise it is computed with numpy.

    Parameters
    ----------
    seconds : float
        Approximate run time of the task with numpy.

    Raises
    ------
    SpecError
        The environment variable JUDGE_COMPILED is set to none of ``auto``, ``never`` and ``always``.
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
    """The given loop as machine code. It is compiled at its first use, and cached on disk where a folder can be
    written.
    """
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
    """Sums over pairs of stories in each of b resamples of n stories, from which Kendall's tau of several judges with
    people is computed; by contingency tables of the ratings.

    Parameters
    ----------
    factors : list of pairs of arrays, shapes (b, units) and (n,)
        For each of the one or two kinds of units (such as story-prompts) that were drawn: how often each unit
        was drawn in each resample, and the unit of each story. A story's weight is the product of its units'
        counts.
    code : array, shape (judges, n)
        Both ratings of each story as one code: people's level * levels[1] + judge's level. The code levels[0] *
        levels[1] stands for a missing rating.
    levels : tuple of int
        Number of rating levels of people, and of judges.

    Returns
    -------
    array, shape (4, judges, b)
        Four numbers for each judge and resample: concordant minus discordant pairs; stories; pairs tied by the
        judge; pairs tied by people.
    """
    out = np.empty((4, code.shape[0], factors[0][0].shape[0]), dtype=np.int64)
    _compiled(loops.tables)(*_two(factors), code, *levels, out)
    return out


def sweep(factors: list[tuple[Counts, Codes]], story: Codes, x: Codes, y: Codes) -> Sums:
    """Sums over pairs of stories in each of b resamples of n stories, from which Kendall's tau of one judge with many
    rating levels is computed; by a sweep over the stories from low to high ratings.

    Parameters
    ----------
    factors : list of pairs of arrays, shapes (b, units) and (n,)
        For each of the one or two kinds of units (such as story-prompts) that were drawn: how often each unit
        was drawn in each resample, and the unit of each story.
    story, x, y : arrays, shape (m,)
        Indices of the m stories that both the judge and people rated, in ascending order of the judge's rating;
        the judge's levels x and people's levels y of these stories, from 0 on.

    Returns
    -------
    array, shape (4, b)
        Four numbers for each resample: concordant minus discordant pairs; stories; pairs tied by the judge;
        pairs tied by people.
    """
    out = np.empty((4, factors[0][0].shape[0]), dtype=np.int64)
    _compiled(loops.sweep)(*_two(factors), story, x, y, int(y.max()) + 1 if y.size else 0, out)
    return out


def rows(x: Floats, y: Floats, mass: Sums) -> tuple[Sums, Sums, Sums]:
    """Sums over pairs of groups (such as systems) in each of b resamples, from which Kendall's tau over group means is
    computed (`weighted_tau.pairs_of_rows`).

    Parameters
    ----------
    x, y : array, shape (b, groups)
        Group means of the judge's and of the people's ratings in each resample, rounded; NaN = missing, in no
        pair.
    mass : array of int, shape (b, groups)
        How often each group was drawn in each resample.

    Returns
    -------
    three arrays of int, shape (b,)
        Concordant minus discordant pairs; pairs not tied on x; pairs not tied on y.
    """
    out = np.empty((3, x.shape[0]), dtype=np.int64)
    _compiled(loops.rows)(*(np.ascontiguousarray(side) for side in (x, y, mass)), out)
    return out[0], out[1], out[2]


def swaps(masks: Masks, cells: tuple[Codes, Codes], signed: Sums, margin: Sums) -> Sums:
    """Sums over pairs of stories for b patterns in which ratings of two judges are swapped at random (for a permutation
    test), computed from contingency tables.

    Parameters
    ----------
    masks : array, shape (b, n)
        1 where the two judges' ratings of the story are swapped.
    cells : pair of arrays, shape (n,)
        Both ratings of each story as one code for each judge: people's level * levels of judges + judge's
        level.
    signed, margin : arrays, shapes (levels of people, levels of judges) and (levels of judges,)
        Both describe the sum of the two judges' contingency tables. `signed`, for each cell: number of ratings
        in cells concordant with it minus number in cells discordant with it. `margin`: number of ratings of
        both judges at each level.

    Returns
    -------
    array, shape (4, b)
        Four numbers for each pattern, after the swaps: the first judge's concordant minus discordant pairs; the
        sum over cells of the first judge's contingency table times `signed`; pairs tied by the first judge;
        pairs tied by the second judge.
    """
    out = np.empty((4, masks.shape[0]), dtype=np.int64)
    _compiled(loops.swaps)(np.ascontiguousarray(masks), *cells, signed, margin, out)
    return out


def inversions(values: Codes) -> int:
    """Number of pairs i < j with values[i] > values[j].

    Parameters
    ----------
    values : array of int, shape (n,)
        Numbers from 0 on.
    """
    return int(_compiled(loops.inversions)(values, int(values.max(initial=0)) + 1))


def _two(factors: list[tuple[Counts, Codes]]) -> tuple[Counts, Codes, Counts, Codes]:
    """The draws of two kinds of units, as four arrays: how often each unit was drawn in each resample and the unit of
    each story, for the first kind and then for the second. If `factors` holds only one kind, the second kind is a
    single unit that is drawn once in every resample and to which all stories belong.
    """
    counts, unit = factors[0]
    if len(factors) == 2:
        return counts, unit, *factors[1]
    return counts, unit, np.ones((counts.shape[0], 1), dtype=np.int32), np.zeros(unit.size, dtype=np.int64)
