"""Ridge regression on standardised columns, limited to their range in the fitted rows: it does not extrapolate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.stats.regression.ridge import Decomposed, RidgeFit
from judge.stats.regression.ridge import fit_ridge as fit

# A column that spreads no more is constant: its scale counts as 1.
CONSTANT = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class StandardisedRidge:
    """A fitted ridge regression on p standardised columns; `scale` is their standard deviation, 1 for a constant one.

    For predictions, each column is limited to its range `low` to `high` in the fitted rows. The weights of `fitted` are
    per standard deviation.
    """

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


def fit_ridge(rows: Floats | StandardisedRows, response: Floats, penalties: Sequence[float]) -> StandardisedRidge:
    """A ridge regression on standardised columns, with the penalty of the smallest leave-one-out error (`ridge`).

    `rows` (n, p) and `response` (n,) have no NaN; pass `StandardisedRows` where several responses have the same rows.
    `penalties`, each above 0, are factors of the squared weights of the standardised columns.
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
    rows: Floats, response: Floats, folds: Codes, fit: Callable[[Floats, Floats], StandardisedRidge]
) -> tuple[Floats, Floats]:
    """Predictions by regressions fitted on the other folds, and the mean response of the rows fitted on, (n,) each.

    `rows` (n, p) has no NaN. `response` (n,): rows with NaN get a prediction but are not used in fits. `folds` (n,)
    holds folds, and `fit` makes a regression from rows and responses. The second result is equal for all rows of a
    fold, and it is high where the fold's own responses are low. Subtract it before ranking predictions of several
    folds, since otherwise predictions of pure noise correlate negatively with the responses (Parker, Guenter & Bedo
    2007, Stratification bias in low signal microarray studies, BMC Bioinformatics 8).
    """
    predicted, level = np.full(len(response), np.nan), np.full(len(response), np.nan)
    rated = ~np.isnan(response)
    for fold in np.unique(folds):
        train = (folds != fold) & rated
        fitted = fit(rows[train], response[train])
        predicted[folds == fold], level[folds == fold] = fitted.predict(rows[folds == fold]), fitted.intercept
    return predicted, level
