"""Stacking: non-negative weights for several out-of-sample predictions of one response.

Least squares with weights >= 0 and an intercept: stacked regressions (Breiman 1996, Stacked Regressions, section 3).
The predictions must be out of sample for the rows the weights are fitted on, or the one that remembers best wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Weights (p,) >= 0, in units of y per unit of each prediction, and the intercept."""

    weights: Floats
    intercept: float

    def predict(self, x: Floats) -> Floats:
        """Predictions of the response, shape (n,).

        Parameters
        ----------
        x : array, shape (n, p)
            The predictions to be weighted; NaN gives NaN where its weight is above 0.
        """
        used = self.weights > 0
        return np.asarray(x[:, used] @ self.weights[used] + self.intercept, dtype=np.float64)


def fit_stack(x: Floats, y: Floats) -> Stack:
    """Non-negative least-squares weights of predictions, with an intercept (Breiman 1996, section 3).

    Parameters
    ----------
    x : array, shape (n, p)
        Predictions, one column each; they must be out of sample for these rows.
    y : array, shape (n,)
        The response. Rows with a missing value (NaN) on either side are left out.

    Returns
    -------
    Stack
        Weights in units of y per unit of each prediction.

    Raises
    ------
    ValueError
        Without a single complete row.
    """
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y = x[complete], y[complete]
    if not y.size:
        raise ValueError("weights need a complete row")
    centre, middle = x.mean(axis=0), float(y.mean())
    weights, _ = nnls(x - centre, y - middle)
    return Stack(np.asarray(weights, dtype=np.float64), middle - float(centre @ weights))
