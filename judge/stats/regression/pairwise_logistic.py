"""Penalised logistic regression without intercept: which of two stories is preferred, by their predictors' difference.

P(first preferred) = 1 / (1 + exp(-(x_first - x_second)'w)): the Bradley-Terry model with strengths that are linear in a
story's predictors. Columns are divided by the root mean square of their differences, and the weights w maximise
log-likelihood - penalty |w|² / 2 (le Cessie & van Houwelingen 1992, Applied Statistics 41). Without an intercept, the
log odds change sign when the two stories are swapped.
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
    """Weights of the p predictors, (p,), by Newton's method; the maximum is unique, as the penalty is positive.

    `difference` (n, p) are the first story's predictors minus the second's, in comparable units (`out_of_fold` scales
    them), no NaN; `won` (n,) is 1 where the first was preferred, 0 where the second was; `penalty` is the factor of
    |w|² / 2.
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
    """Log odds that the first story of each pair is preferred, by a regression fitted on the other folds, (n,).

    `difference` and `penalty` are as in `fit`. `lead` (n,) is above 0 where the first was preferred, below 0 where the
    second was; pairs with 0 or NaN get a prediction but are not used in fits. `fold` (n,) holds folds. NaN where the
    other folds have no pair with a preference.
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
