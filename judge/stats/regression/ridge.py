"""Ridge regression that chooses the penalty with the smallest leave-one-out error on the training rows.

The weights w minimise |y - mean(y) - X w|^2 + penalty |w|^2 (Hoerl & Kennard 1970). The leave-one-out errors have a
closed form, e_i / (1 - h_i) with h the leverages (PRESS, Allen 1974), so that one eigenvalue decomposition suffices for
all penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
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

    Predictions must be out of sample. Rows with NaN are left out; ValueError without a complete one."""
    from scipy.optimize import nnls

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
    0."""

    sorted: tuple[Floats, ...]
    mean: Floats
    scale: Floats

    def apply(self, x: Floats) -> Floats:
        """Standardised rank scores of rows `x` (n, p); NaN becomes 0."""
        return np.where(np.isnan(x), 0.0, (_places(self.sorted, x) - self.mean) / self.scale)


# Values that agree so far are ties: what a sum's rounding tells apart gets no rank of its own.
_DIGITS = 9


def fit_rank_scores(x: Floats) -> RankScores:
    """The transformation to rank scores, learned from training rows `x` (n, p); NaN is left out by column."""
    sorted_columns = tuple(np.sort(np.round(column[~np.isnan(column)], _DIGITS)) for column in x.T)
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
    near = np.round(x, _DIGITS)
    sides = np.searchsorted(values, near, "left") + np.searchsorted(values, near, "right")
    return np.asarray(sides / (2 * values.size), dtype=np.float64)


# For a few hundred rows of standardised columns: from hardly any shrinkage to nearly all.
PENALTIES = (3.16, 10.0, 31.6, 100.0, 316.0, 1000.0, 3160.0, 10000.0, 31600.0)

# A column that spreads no more is constant: its scale counts as 1.
CONSTANT = 1e-12

# Stands for 1 - leverage where that is 0 (a row that alone decides its own prediction): a huge error, not NaN.
LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """A fitted ridge regression; `weights` (p,) are in units of the response per unit of each column.

    `centre` (p,) are column means of the training rows; `intercept` is the prediction there, the mean response. `press`
    is the mean squared leave-one-out error with the chosen `penalty`."""

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
    on them, and `size` (p,) the sums of squares of these."""

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
    multiplied by g is penalised g^2 times less. ValueError without rows, or if one of `penalties` is not positive."""
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


def shrunk_weights(x: Floats, y: Floats) -> Floats:
    """Weights of p sub-scores `x` (n, p) that add up to a score like `y` (n,): none below 0, 1 in sum, (p,).

    They are shrunk towards equal ones: the mean's slope is fitted first, and then by ridge regression what each
    sub-score's distance from the mean adds to it, with the penalty of the smallest leave-one-out error. Rows with NaN
    are left out. Equal weights with fewer than 2 p + 2 rows, and where the mean does not rise with `y`."""
    used = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y = x[used], y[used]
    count = x.shape[1]
    equal = np.full(count, 1 / count)
    if y.size < 2 * count + 2 or (spread := float(x.std())) <= CONSTANT:
        return equal
    mean = x.mean(axis=1)
    centred = mean - mean.mean()
    if (size := float(centred @ centred)) <= CONSTANT or (slope := float(centred @ y) / size) <= 0:
        return equal
    apart = fit_ridge((x - mean[:, None]) / spread, y - slope * mean, (*PENALTIES, 1e9)).weights / spread
    weights = np.maximum(slope / count + apart - apart.mean(), 0.0)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


# Ridge regression on standardised columns, limited to their range in the fitted rows: it does not extrapolate.


@dataclass(frozen=True, slots=True, eq=False)
class StandardisedRidge:
    """A fitted ridge regression on p standardised columns; `scale` is their standard deviation, 1 for a constant one.

    For predictions, each column is limited to its range `low` to `high` in the fitted rows. The weights of `fitted` are
    per standard deviation."""

    low: Floats
    high: Floats
    mean: Floats
    scale: Floats
    fitted: RidgeFit

    @property
    def weights(self) -> Floats:
        """Weight of each column, in units of the response per standard deviation, (p,)."""
        return self.fitted.weights

    @property
    def intercept(self) -> float:
        """Mean of the response in the fitted rows: the prediction for the average row."""
        return self.fitted.intercept

    def predict(self, rows: Floats) -> Floats:
        """Predictions for `rows` (n, p), whose values are limited to the fitted ranges; a row with NaN gives NaN."""
        return self.fitted.predict((np.clip(rows, self.low, self.high) - self.mean) / self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class StandardisedRows:
    """Standardised training rows, decomposed once for several responses; fields as in `StandardisedRidge`."""

    low: Floats
    high: Floats
    mean: Floats
    scale: Floats
    parts: Decomposed

    @classmethod
    def of(cls, rows: Floats) -> StandardisedRows:
        """Training `rows` (n, p), at least one and no NaN, standardised and decomposed."""
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(spread > CONSTANT, spread, 1.0)
        return cls(rows.min(axis=0), rows.max(axis=0), mean, scale, Decomposed.of((rows - mean) / scale))


def fit_standardised(
    rows: Floats | StandardisedRows, response: Floats, penalties: Sequence[float]
) -> StandardisedRidge:
    """A ridge regression on standardised columns, with the penalty of the smallest leave-one-out error (`ridge`).

    `rows` (n, p) and `response` (n,) have no NaN; pass `StandardisedRows` where several responses have the same rows.
    `penalties`, each above 0, are factors of the squared weights of the standardised columns."""
    standardised = rows if isinstance(rows, StandardisedRows) else StandardisedRows.of(rows)
    return StandardisedRidge(
        standardised.low,
        standardised.high,
        standardised.mean,
        standardised.scale,
        fit_ridge(standardised.parts, response, penalties),
    )


def out_of_fold(
    rows: Floats, response: Floats, folds: Codes, fit: Callable[[Floats, Floats], StandardisedRidge]
) -> tuple[Floats, Floats]:
    """Predictions by regressions fitted on the other folds, and the mean response of the rows fitted on, (n,) each.

    `rows` (n, p) has no NaN. `response` (n,): rows with NaN get a prediction but are not used in fits. `folds` (n,)
    holds folds, and `fit` makes a regression from rows and responses. The second result is equal for all rows of a
    fold, and it is high where the fold's own responses are low. Subtract it before ranking predictions of several
    folds, since otherwise predictions of pure noise correlate negatively with the responses (Parker, Guenter & Bedo
    2007, Stratification bias in low signal microarray studies, BMC Bioinformatics 8)."""
    predicted, level = np.full(len(response), np.nan), np.full(len(response), np.nan)
    rated = ~np.isnan(response)
    for fold in np.unique(folds):
        train = (folds != fold) & rated
        fitted = fit(rows[train], response[train])
        predicted[folds == fold], level[folds == fold] = fitted.predict(rows[folds == fold]), fitted.intercept
    return predicted, level
