"""Ridge regression that chooses the penalty with the smallest leave-one-out error on the training rows.

The weights w minimise |y - mean(y) - X w|^2 + penalty |w|^2 (Hoerl & Kennard 1970). The leave-one-out errors have a
closed form, e_i / (1 - h_i) with h the leverages (PRESS, Allen 1974), so that one eigenvalue decomposition suffices for
all penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from judge.base.arrays import Floats
from judge.stats import near_ties

# Stacking: a combination of several out-of-sample predictions of one response with non-negative weights.


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """A fitted combination of p predictions of one response, with non-negative `weights` (p,)."""

    weights: Floats
    intercept: float

    def predict(self, x: Floats) -> Floats:
        """Combined predictions for rows `x` (n, p); NaN gives NaN if the column's weight is above 0."""
        used = self.weights > 0
        return np.asarray(x[:, used] @ self.weights[used] + self.intercept, dtype=np.float64)


def fit_stack(x: Floats, y: Floats) -> Stack:
    """Non-negative least-squares weights of predictions `x` (n, p) of `y` (n,), with intercept (Breiman 1996, sec. 3).

    Predictions must be out of sample. Rows with NaN are left out; ValueError without a complete one.
    """
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y = x[complete], y[complete]
    if not y.size:
        raise ValueError("weights need a complete row")
    centre, middle = x.mean(axis=0), float(y.mean())
    weights, _ = nnls(x - centre, y - middle)
    return Stack(np.asarray(weights, dtype=np.float64), middle - float(centre @ weights))


# Standardised rank scores: each value of a column is replaced by its mid-rank among the training values.


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


# For a few hundred rows of standardised columns: from hardly any shrinkage to nearly all.
PENALTIES = (3.16, 10.0, 31.6, 100.0, 316.0, 1000.0, 3160.0, 10000.0, 31600.0)

# Stands for 1 - leverage where that is 0 (a row that alone decides its own prediction): a huge error, not NaN.
LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """A fitted ridge regression; `weights` (p,) are in units of the response per unit of each column.

    `centre` (p,) are column means of the training rows; `intercept` is the prediction there, the mean response. `press`
    is the mean squared leave-one-out error with the chosen `penalty`.
    """

    weights: Floats
    centre: Floats
    intercept: float
    penalty: float
    press: float

    def predict(self, x: Floats) -> Floats:
        """Predictions for rows `x` (n, p), in the units of the response; a row with NaN gives NaN."""
        return np.asarray((x - self.centre) @ self.weights + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Decomposed:
    """Eigenvalue decomposition of n training rows with p columns, computed once for several responses.

    `centre` (p,) are column means, `axes` (p, p) the principal axes, `along` (n, p) the coordinates of the centred rows
    on them, and `size` (p,) the sums of squares of these.
    """

    centre: Floats
    size: Floats
    axes: Floats
    along: Floats

    @classmethod
    def of(cls, x: Floats) -> Decomposed:
        """The decomposition of training rows `x` (n, p), at least one and no NaN."""
        centre = x.mean(axis=0)
        rows = x - centre
        size, axes = np.linalg.eigh(rows.T @ rows)
        return cls(centre, np.maximum(size, 0.0), axes, rows @ axes)


def fit_ridge(x: Floats | Decomposed, y: Floats, penalties: Sequence[float] = PENALTIES) -> RidgeFit:
    """A ridge regression with the penalty of the smallest leave-one-out error (the first of several).

    `x` (n, p), or decomposed, and `y` (n,) have no NaN. Columns should have a common scale, e.g. rank scores: a column
    multiplied by g is penalised g^2 times less. ValueError without rows, or if one of `penalties` is not positive.
    """
    if not y.size or min(penalties) <= 0:
        raise ValueError("ridge regression needs rows, and penalties above 0")
    parts = x if isinstance(x, Decomposed) else Decomposed.of(x)
    intercept, along = float(y.mean()), parts.along
    response = y - intercept
    # All penalties at once: one column each.
    shrunk = 1 / (parts.size[:, None] + np.asarray(penalties, dtype=np.float64)[None, :])
    turned = shrunk * (along.T @ response)[:, None]
    residual = response[:, None] - along @ turned
    leverage = (along**2) @ shrunk + 1 / y.size
    press = ((residual / np.maximum(1 - leverage, LEAST)) ** 2).mean(axis=0)
    best = near_ties.lowest(press.tolist())
    return RidgeFit(parts.axes @ turned[:, best], parts.centre, intercept, float(penalties[best]), float(press[best]))
