"""Which of two rows is preferred, from the difference of their columns: penalised logistic regression, no intercept.

P(first preferred) = 1 / (1 + exp(-(x_first - x_second)'w)): Bradley & Terry's model with strengths that are linear in
what is seen of a story. Columns are divided by the root mean square of their differences, and weights w maximise
log-likelihood - penalty |w|² / 2 (le Cessie & van Houwelingen 1992, Applied Statistics 41). Having no intercept, a
prediction turns its sign when the two rows change places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_STEPS = 50
_CONSTANT = 1e-12


def fit(difference: Floats, won: Floats, penalty: float) -> Floats:
    """Weights of the columns, by Newton's method, shape (p,).

    The likelihood is concave and the penalty positive, so that there is one maximum.

    Parameters
    ----------
    difference : array, shape (n, p)
        First less second row of each pair, in comparable units (`out_of_fold` scales them); no NaN.
    won : array, shape (n,)
        1 where the first was preferred, 0 where the second was.
    penalty : float
        Above 0; on half the squared length of the weights.
    """
    weights = np.zeros(difference.shape[1])
    for _ in range(_STEPS):
        share = expit(difference @ weights)
        score = difference.T @ (won - share) - penalty * weights
        spread = share * (1 - share)
        information = (difference * spread[:, None]).T @ difference + penalty * np.eye(weights.size)
        step = np.linalg.solve(information, score)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return weights


def out_of_fold(difference: Floats, lead: Floats, fold: Codes, penalty: float) -> Floats:
    """Log odds of "first preferred" in each row, by the fit on the other folds.

    Parameters
    ----------
    difference : array, shape (n, p)
        First less second row of each pair; no NaN.
    lead : array, shape (n,)
        Above 0 where the first was preferred, below where the second was; 0 and NaN are predicted and not fitted on.
    fold : array of int, shape (n,)
        Fold of each row.
    penalty : float
        As for `fit`.

    Returns
    -------
    array, shape (n,)
        NaN where no row of the other folds can be fitted on.
    """
    predicted = np.full(lead.size, np.nan)
    spread = np.sqrt((difference**2).mean(axis=0)) if lead.size else np.ones(difference.shape[1])
    scaled = difference / np.where(spread > _CONSTANT, spread, 1.0)
    decided = np.abs(np.nan_to_num(lead)) > 0
    for held in np.unique(fold):
        inside = fold == held
        train = decided & ~inside
        if train.any():
            weights = fit(scaled[train], (lead[train] > 0).astype(np.float64), penalty)
            predicted[inside] = scaled[inside] @ weights
    return predicted
