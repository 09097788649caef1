"""One set of bootstrap resamples, shared by every cell of a table, and percentile intervals. Never seeds itself.

A resample is a vector of counts: how often each unit (a story, or a story-prompt with all its stories) was drawn. As
all cells of a table use the same set, differences between cells are paired. Percentile intervals: Efron & Tibshirani
1993, chapter 13; resampling the inputs: Deutsch, Dror & Roth 2021 (BOOT-INPUTS).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

_CHUNK = 4_000_000
"""Weights expanded at a time, so that memory does not grow with resamples x stories."""

DEGENERATE = 0.05
"""Above this share of resamples in which the statistic is undefined, no interval is given."""


@dataclass(frozen=True, slots=True)
class Resamples:
    """Counts (b, units) of drawn units, and the unit (n,) to which each story belongs."""

    counts: NDArray[np.int32]
    unit: NDArray[np.int64]
    name: str

    def values(self, statistic: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """The statistic in each resample; it is called with weights (some b, n) and returns shape (some b,)."""
        step = max(1, _CHUNK // max(1, self.unit.size))
        parts = [
            statistic(self.counts[i : i + step][:, self.unit].astype(np.int64))
            for i in range(0, self.counts.shape[0], step)
        ]
        return np.concatenate(parts)


def draw(unit: NDArray[np.int64], resamples: int, rng: np.random.Generator, name: str) -> Resamples:
    """Draw units with replacement, as many as there are.

    Parameters
    ----------
    unit : array of int, shape (n,)
        Unit of each story, 0..units-1.
    resamples : int
        Number of resamples (B).
    rng : numpy Generator
        Source of randomness; the caller's seed.
    name : str
        How the units are called in signatures, e.g. ``boot-inputs``.
    """
    units = int(unit.max()) + 1 if unit.size else 0
    counts = np.zeros((resamples, units), dtype=np.int32)
    if units:
        counts[:] = rng.multinomial(units, np.full(units, 1.0 / units), size=resamples)
    return Resamples(counts=counts, unit=unit, name=name)


def percentile(estimate: Estimate, values: NDArray[np.float64], method: str, *, confidence: float = 0.95) -> Estimate:
    """The estimate with a percentile interval from resampled values, shape (b,); NaN = undefined in that resample.

    Undefined resamples are left out and counted in `method`; where they exceed 5 %, there is no interval and `reason`
    says so. An undefined estimate is returned as it is.
    """
    if not estimate.defined:
        return estimate
    known = values[~np.isnan(values)]
    lost = values.size - known.size
    if values.size == 0 or lost > DEGENERATE * values.size:
        return replace(estimate, reason=f"no interval: undefined in {lost} of {values.size} resamples")
    tail = 50 * (1 - confidence)
    low, high = np.percentile(known, [tail, 100 - tail])
    note = f", {lost} degenerate" if lost else ""
    return replace(estimate, low=float(low), high=float(high), method=f"{method}{note}")
