"""Ridge regression by folds of groups, to fit the control judge with. Never runs while judging: it needs numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ridge:
    """A fitted regression on standardised columns.

    Attributes
    ----------
    low, high, mean, scale, weights : array, shape (n_features,)
        Range seen in fitting, mean and standard deviation there (a constant column has scale 1), weight per
        standard deviation.
    intercept : float
        Mean of the response in fitting: the prediction for the average row.
    penalty : float
        Ridge penalty on the squared weights of the standardised columns.
    """

    low: Array
    high: Array
    mean: Array
    scale: Array
    weights: Array
    intercept: float
    penalty: float

    def predict(self, rows: Array) -> Array:
        """Predictions, shape (n,). Values outside the range seen in fitting count as its nearer end."""
        standard = (np.clip(rows, self.low, self.high) - self.mean) / self.scale
        return np.asarray(standard @ self.weights + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Decomposed:
    """What a fit needs of its rows, whatever the response: their standard form, taken apart by singular values."""

    low: Array
    high: Array
    mean: Array
    scale: Array
    left: Array
    singular: Array
    right: Array

    @classmethod
    def of(cls, rows: Array) -> Decomposed:
        """Of rows of shape (n, n_features)."""
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(spread > 1e-12, spread, 1.0)
        left, singular, right = np.linalg.svd((rows - mean) / scale, full_matrices=False)
        return cls(rows.min(axis=0), rows.max(axis=0), mean, scale, left, singular, right)


def fit_ridge(rows: Array, response: Array, penalties: Sequence[float], known: Decomposed | None = None) -> Ridge:
    """Fit, with the penalty of `penalties` that has the least squared leave-one-out error (PRESS, closed form).

    Parameters
    ----------
    rows : array, shape (n, n_features)
    response : array, shape (n,), no NaN
    penalties : the first of equally good ones is taken; with one, it is simply used.
    known : the rows taken apart, where somebody has done that.
    """
    parts = known or Decomposed.of(rows)
    left, singular, centred = parts.left, parts.singular, response - response.mean()
    rotated = left.T @ centred

    def press(penalty: float) -> float:
        shrink = singular**2 / (singular**2 + penalty)
        leverage = (left**2) @ shrink + 1 / len(response)
        return float(np.sum(((centred - left @ (shrink * rotated)) / (1 - leverage)) ** 2))

    penalty = penalties[0] if len(penalties) == 1 else min(penalties, key=press)
    weights = parts.right.T @ (singular / (singular**2 + penalty) * rotated)
    center = float(response.mean())
    return Ridge(parts.low, parts.high, parts.mean, parts.scale, weights, center, float(penalty))


def folds_of_groups(groups: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """Fold number of each row: groups are dealt out at random, so that no group is in two folds.

    The same groups, count and seed give the same folds, in whatever order the rows come.
    """
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[place]: turn % count for turn, place in enumerate(order)}
    return np.array([fold[group] for group in groups], dtype=np.int64)


def out_of_fold(
    rows: Array, response: Array, folds: NDArray[np.int64], fit: Callable[[Array, Array], Ridge]
) -> tuple[Array, Array]:
    """Predictions of each row by the regression fitted on the other folds' rows that have a response (NaN = none).

    Returns
    -------
    predicted, level : array, shape (n,)
        `level` is the mean response behind each prediction. It is the same for all rows of a fold and lies the higher
        the lower the fold's own responses are: whoever ranks predictions of several folds takes it off first, since
        with it noise runs against the responses (Parker, Guenter & Bedo 2007, Stratification bias in low signal
        microarray studies, BMC Bioinformatics 8).
    """
    predicted, level = np.full(len(response), np.nan), np.full(len(response), np.nan)
    rated = ~np.isnan(response)
    for fold in np.unique(folds):
        train = (folds != fold) & rated
        fitted = fit(rows[train], response[train])
        predicted[folds == fold], level[folds == fold] = fitted.predict(rows[folds == fold]), fitted.intercept
    return predicted, level
