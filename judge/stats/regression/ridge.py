"""Ridge regression that chooses the penalty with the smallest leave-one-out error on the training rows.

The weights w minimise |y - mean(y) - X w|^2 + penalty |w|^2 (Hoerl & Kennard 1970). The leave-one-out errors have a
closed form, e_i / (1 - h_i) with h the leverages (PRESS, Allen 1974), so that one eigenvalue decomposition suffices for
all penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats import near_ties

Floats = NDArray[np.float64]

# For a few hundred rows of standardised columns: from hardly any shrinkage to nearly all.
PENALTIES = (3.16, 10.0, 31.6, 100.0, 316.0, 1000.0, 3160.0, 10000.0, 31600.0)

# Stands for 1 - leverage where that is 0 (a row that alone decides its own prediction): a huge error, not NaN.
LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """A fitted ridge regression with p columns.

    Attributes
    ----------
    weights : array, shape (p,)
        Weight of each column, in units of the response per unit of the column.
    centre : array, shape (p,)
        Column means of the training rows.
    intercept : float
        Mean of the training responses, which is the prediction at `centre`.
    penalty : float
        The chosen penalty.
    press : float
        Mean squared leave-one-out error of the training rows with the chosen penalty.
    """

    weights: Floats
    centre: Floats
    intercept: float
    penalty: float
    press: float

    def predict(self, x: Floats) -> Floats:
        """Predictions of the fitted ridge regression for n rows, in the units of the response, shape (n,).

        Parameters
        ----------
        x : array, shape (n, p)
            Rows with the columns of the training rows; a row with NaN gives NaN.
        """
        return np.asarray((x - self.centre) @ self.weights + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Decomposed:
    """Eigenvalue decomposition of n training rows with p columns, computed once for ridge regressions on several
    responses.

    `centre` (p,) holds the column means. `axes` (p, p) are the principal axes, `along` (n, p) the coordinates of the
    centred rows along these axes, and `size` (p,) the sums of squares of these coordinates.
    """

    centre: Floats
    size: Floats
    axes: Floats
    along: Floats

    @classmethod
    def of(cls, x: Floats) -> Decomposed:
        """The eigenvalue decomposition of training rows, to be used for ridge regressions on one or more responses.

        Parameters
        ----------
        x : array, shape (n, p)
            Training rows, at least one; no NaN.
        """
        centre = x.mean(axis=0)
        rows = x - centre
        size, axes = np.linalg.eigh(rows.T @ rows)
        return cls(centre, np.maximum(size, 0.0), axes, rows @ axes)


def fit_ridge(x: Floats | Decomposed, y: Floats, penalties: Sequence[float] = PENALTIES) -> RidgeFit:
    """A ridge regression fitted with the penalty that has the smallest leave-one-out error (the first one where several
    have it).

    Parameters
    ----------
    x : array, shape (n, p), or Decomposed
        Training rows without NaN. Columns should have a common scale, e.g. rank scores: a column multiplied by g is
        penalised g^2 times less.
    y : array, shape (n,)
        Responses without NaN.
    penalties : sequence of float
        Penalties to choose from, each above 0.

    Returns
    -------
    RidgeFit

    Raises
    ------
    ValueError
        There are no rows, or a penalty is not positive.
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
