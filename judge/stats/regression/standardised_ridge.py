"""Ridge regression on standardised columns that limits each column to its range in the fitted rows, so that predictions
do not extrapolate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.regression.ridge import Decomposed, RidgeFit
from judge.stats.regression.ridge import fit_ridge as fit

Floats = NDArray[np.float64]

# A column that spreads no more is constant: its scale counts as 1.
CONSTANT = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class StandardisedRidge:
    """A fitted ridge regression on p standardised columns. For predictions, each column is limited to its range in the
    fitted rows.

    Attributes
    ----------
    low, high, mean, scale : array, shape (p,)
        Lowest and highest value, mean and standard deviation of each column in the fitted rows; for a constant
        column `scale` is 1.
    fitted : RidgeFit
        The regression on standardised columns; its weights are per standard deviation of a column.
    """

    low: Floats
    high: Floats
    mean: Floats
    scale: Floats
    fitted: RidgeFit

    @property
    def weights(self) -> Floats:
        """Weight of each of the p columns in the fitted ridge regression, in units of the response per standard
        deviation of the column, shape (p,).
        """
        return self.fitted.weights

    @property
    def intercept(self) -> float:
        """Mean of the response in the fitted rows, which is the prediction of the ridge regression for the
        average row.
        """
        return self.fitted.intercept

    def predict(self, rows: Floats) -> Floats:
        """Predictions of the fitted ridge regression for n rows, in the units of the response, shape (n,).

        Parameters
        ----------
        rows : array, shape (n, p)
            Values outside a column's range in the fitted rows are set to the nearer limit. A row with NaN gives NaN.
        """
        return self.fitted.predict((np.clip(rows, self.low, self.high) - self.mean) / self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class StandardisedRows:
    """Standardised training rows with their eigenvalue decomposition (`parts`), computed once for ridge regressions on
    several responses. `low`, `high` and `mean` are each column's lowest value, highest value and mean. `scale` is its
    standard deviation, or 1 for a constant column.
    """

    low: Floats
    high: Floats
    mean: Floats
    scale: Floats
    parts: Decomposed

    @classmethod
    def of(cls, rows: Floats) -> StandardisedRows:
        """The given training rows, standardised and decomposed for ridge regressions.

        Parameters
        ----------
        rows : array, shape (n, p)
            Training rows, at least one; no NaN.
        """
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(spread > CONSTANT, spread, 1.0)
        return cls(rows.min(axis=0), rows.max(axis=0), mean, scale, Decomposed.of((rows - mean) / scale))


def fit_ridge(rows: Floats | StandardisedRows, response: Floats, penalties: Sequence[float]) -> StandardisedRidge:
    """A ridge regression fitted on standardised columns, with the penalty that has the smallest leave-one-out error
    (`stats.regression.ridge`).

    Parameters
    ----------
    rows : array, shape (n, p), or StandardisedRows
        Training rows without NaN. Pass `StandardisedRows` where several responses have the same rows, so that these
        are standardised and decomposed only once.
    response : array, shape (n,)
        Responses without NaN.
    penalties : sequence of float
        Penalties to choose from, each above 0; factors of the squared weights of the standardised columns.

    Returns
    -------
    StandardisedRidge
    """
    standardised = rows if isinstance(rows, StandardisedRows) else StandardisedRows.of(rows)
    return StandardisedRidge(
        standardised.low,
        standardised.high,
        standardised.mean,
        standardised.scale,
        fit(standardised.parts, response, penalties),
    )


def out_of_fold(
    rows: Floats, response: Floats, folds: NDArray[np.int64], fit: Callable[[Floats, Floats], StandardisedRidge]
) -> tuple[Floats, Floats]:
    """Out-of-fold predictions: each row is predicted by a regression fitted on the other folds.

    Parameters
    ----------
    rows : array, shape (n, p)
        Predictors, without missing values.
    response : array, shape (n,)
        NaN = missing; rows without a response get a prediction but are not used in fits.
    folds : array of int, shape (n,)
        Fold of each row.
    fit : callable
        Function from rows and responses to the fitted regression.

    Returns
    -------
    predicted, level : array, shape (n,)
        The predictions, and for each prediction the mean response of the rows on which it was fitted. `level` is
        equal for all rows of a fold, and it is high where the fold's own responses are low. Subtract it before
        ranking predictions of several folds, since otherwise predictions of pure noise correlate negatively with
        the responses (Parker, Guenter & Bedo 2007, Stratification bias in low signal microarray studies, BMC
        Bioinformatics 8).
    """
    predicted, level = np.full(len(response), np.nan), np.full(len(response), np.nan)
    rated = ~np.isnan(response)
    for fold in np.unique(folds):
        train = (folds != fold) & rated
        fitted = fit(rows[train], response[train])
        predicted[folds == fold], level[folds == fold] = fitted.predict(rows[folds == fold]), fitted.intercept
    return predicted, level
