"""Stacking: a combination of several out-of-sample predictions of one response with non-negative weights.

Least squares with weights >= 0 and an intercept: stacked regressions (Breiman 1996, Stacked Regressions, section 3).
The predictions must be out of sample for the rows on which the weights are fitted, because otherwise the prediction
that overfits most gets the highest weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats = NDArray[np.float64]


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
