"""Correlations of many pairs of variables that are computed together, before each is asked for.

With few stories a correlation takes less time than the calls around it. All pairs of some criteria are therefore
computed at once, and looked up by their values. What is not known is computed where it is asked for, so that nothing
depends on what was learned but the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import coefficients
from judge.stats.resampling import many_taus
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Drawn = Callable[[Floats, Floats, Resamples], Floats]
Pair = tuple[Floats, Floats]
"""Two variables, shape (n stories,) each; NaN = no value."""


class Known:
    """Correlations of pairs of variables on the data and in resamples, by the values of the pairs."""

    def __init__(self) -> None:
        self._estimates: dict[bytes, Estimate] = {}
        self._drawn: dict[tuple[int, bytes], Floats] = {}

    def learn(self, pairs: Iterable[Pair], group: Codes | None) -> None:
        """Compute Kendall's tau-b of these pairs: over stories, or over means of groups of stories where the `group` of
        each story is given. Forget all that was known.
        """
        self._estimates, self._drawn = {}, {}
        keys, x, y = _stacked(pairs)
        if not keys:
            return
        if group is not None:
            x, y = _group_means(x, y, group)
        taus, _ = many_taus.taus(x, y)
        counts, defined = _defined(x, y)
        defined_rows = np.flatnonzero(defined).tolist()
        self._estimates = {keys[i]: Estimate(float(taus[i]), n=int(counts[i])) for i in defined_rows}

    def learn_drawn(self, pairs: Iterable[Pair], resamples: Resamples, drawn: Drawn) -> None:
        """Compute the values of these pairs in resamples by `drawn`, which takes pairs of shape (pairs, n stories)."""
        keys, x, y = _stacked(pairs)
        if keys:
            values = drawn(x, y, resamples)
            self._drawn |= {(id(resamples), key): row for key, row in zip(keys, values, strict=True)}

    def estimate(self, x: Floats, y: Floats) -> Estimate | None:
        """The correlation of two variables without an interval; None where it is not known or undefined."""
        return self._estimates.get(_key(x, y)) if self._estimates else None

    def resampled(self, x: Floats, y: Floats, resamples: Resamples) -> Floats | None:
        """The correlation of x, shape (n,) or (judges, n), and y, shape (n,), in each resample: shape (B,) or (judges,
        B). None where it is not known.
        """
        if not self._drawn or y.ndim > 1:
            return None
        rows = [self._drawn.get((id(resamples), _key(row, y))) for row in np.atleast_2d(x)]
        known = [row for row in rows if row is not None]
        if len(known) < len(rows):
            return None
        return np.stack(known) if x.ndim > 1 else known[0]


def _key(x: Floats, y: Floats) -> bytes:
    return x.tobytes() + y.tobytes()


def _stacked(pairs: Iterable[Pair]) -> tuple[list[bytes], Floats, Floats]:
    """The keys of these pairs, each once, and the first and the second variables, shape (pairs, n stories)."""
    of_key = {_key(x, y): (x, y) for x, y in pairs}
    x, y = (np.stack([pair[side] for pair in of_key.values()]) if of_key else np.empty((0, 0)) for side in (0, 1))
    return list(of_key), x, y


def _defined(x: Floats, y: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each row the number of values that both variables have, and whether their correlation is defined."""
    both = ~(np.isnan(x) | np.isnan(y))
    counts = both.sum(axis=1)
    defined = counts >= coefficients.MIN_PAIRS
    for side in (x, y):
        spread = np.where(both, side, -np.inf).max(axis=1) - np.where(both, side, np.inf).min(axis=1)
        defined &= spread >= coefficients.SAME
    return counts, defined


def _group_means(x: Floats, y: Floats, group: Codes) -> tuple[Floats, Floats]:
    """Means of the rows of x and y in each group over the stories that have both, shape (rows, groups); NaN without a
    story.
    """
    both, groups = ~(np.isnan(x) | np.isnan(y)), int(group.max()) + 1
    cell = (group + groups * np.arange(len(x))[:, None])[both]
    counts, *sums = (
        np.bincount(cell, weights=side, minlength=len(x) * groups).reshape(-1, groups)
        for side in (None, x[both], y[both])
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = (np.where(counts > 0, side / counts, np.nan) for side in sums)
    return mean_x, mean_y
