"""Standardised rank scores: each value of a column is replaced by its mid-rank among the training values.

A value's rank score is its relative rank in the training distribution, (number of values below + half the number of
equal values) / number of values (the mid-distribution function, Parzen 1989). It does not change under a monotone
transformation of a judge's scale, and a single outlier has little influence. Rank scores are then standardised by the
training rows' mean and standard deviation. A missing value becomes 0, the training mean, which carries no information.
Rank scores are used as predictors only, not as ratings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RankScores:
    """Transformation of p columns to standardised mid-ranks among training values.

    `sorted` holds each column's training values without NaN. `mean` and `scale` (p,) are the mean and standard
    deviation of the training rows' mid-ranks; scale is 1 where a column is constant or all missing, so that it becomes
    0.
    """

    sorted: tuple[Floats, ...]
    mean: Floats
    scale: Floats

    def apply(self, x: Floats) -> Floats:
        """Standardised rank scores of rows `x` (n, p); NaN becomes 0."""
        return np.where(np.isnan(x), 0.0, (_places(self.sorted, x) - self.mean) / self.scale)


def fit_rank_scores(x: Floats) -> RankScores:
    """The transformation to rank scores, learned from training rows `x` (n, p); NaN is left out by column."""
    sorted_columns = tuple(np.sort(column[~np.isnan(column)]) for column in x.T)
    own = [_place(values, values) for values in sorted_columns]
    mean = np.array([scores.mean() if scores.size else 0.0 for scores in own])
    spread = np.array([scores.std() if scores.size else 0.0 for scores in own])
    return RankScores(sorted_columns, mean, np.where(spread > 1e-12, spread, 1.0))


def _places(sorted_columns: tuple[Floats, ...], x: Floats) -> Floats:
    if not sorted_columns:
        return np.empty(x.shape)
    return np.column_stack([_place(values, column) for values, column in zip(sorted_columns, x.T, strict=True)])


def _place(values: Floats, x: Floats) -> Floats:
    """Relative mid-rank of each x among sorted `values`; 0 without any, so that the column is constant."""
    if values.size == 0:
        return np.zeros(x.shape)
    sides = np.searchsorted(values, x, "left") + np.searchsorted(values, x, "right")
    return np.asarray(sides / (2 * values.size), dtype=np.float64)
