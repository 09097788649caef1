"""The proportional-odds model: probabilities of ordered levels, given a score.

P(Y <= level k | x) = F(theta_k - x . beta) with F(t) = 1 / (1 + exp(-t)) and theta_1 < ... < theta_{K-1} (McCullagh
1980, Regression Models for Ordinal Data, equation 2.1). The model is fitted by maximising the log likelihood or, with a
penalty, log likelihood - penalty / 2 * |beta|^2. Both functions are concave in (theta, beta) (Pratt 1981; Burridge
1981), so damped Newton steps reach the unique maximum, if it exists.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from judge.stats.correlation import kendall

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# People's means of five ratings on 1-5 have at most 21 levels; more than this is a continuous response.
MAX_LEVELS = 60

_STEPS = 60
# Twice the gain that the next Newton step is expected to make, relative to the log likelihood.
_SETTLED = 1e-10
# Where the predictors part the levels perfectly, slopes grow without end and log likelihood a story reaches 0.
_PERFECT = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Ordinal:
    """A fitted proportional-odds model of a response with K levels and p predictors.

    Attributes
    ----------
    levels : array, shape (K,)
        The response's distinct values in ascending order.
    thresholds : array, shape (K - 1,)
        theta, the limits between neighbouring levels on the logit scale.
    weights : array, shape (p,)
        beta, the predictors' weights, in logits per unit of each predictor.
    log_likelihood : float
        Log likelihood at the fit, without the penalty.
    """

    levels: Floats
    thresholds: Floats
    weights: Floats
    log_likelihood: float

    def probabilities(self, x: Floats) -> Floats:
        """Probability of each of the K levels for each of n rows of predictors, shape (n, K).

        Parameters
        ----------
        x : array, shape (n, p)
            Predictors; a row with NaN gives NaN.
        """
        below = expit(self.thresholds[None, :] - (x @ self.weights)[:, None])
        ends = np.zeros((x.shape[0], 1)), np.ones((x.shape[0], 1))
        probabilities = np.diff(np.hstack([ends[0], below, ends[1]]), axis=1)
        return np.where(np.isnan(below).any(axis=1, keepdims=True), np.nan, probabilities)

    def predict(self, x: Floats) -> Floats:
        """Expected level for each of n rows of predictors, in the response's units, shape (n,).

        Parameters
        ----------
        x : array, shape (n, p)
            Predictors; a row with NaN gives NaN.
        """
        return np.asarray(self.probabilities(x) @ self.levels, dtype=np.float64)


def _why_not(y: Floats) -> str | None:
    """Reason why no ordinal model can be fitted to the responses y, shape (n,); None where one can be fitted."""
    levels = np.unique(np.round(y[~np.isnan(y)], kendall.DECIMALS)).size
    if levels < 2:
        return "the people's ratings are all equal"
    if levels > MAX_LEVELS:
        return f"the people's ratings take {levels} values, an ordinal model at most {MAX_LEVELS}"
    return None


def fit_ordinal(x: Floats, y: Floats, penalty: float = 0.0) -> Ordinal | str:
    """The proportional-odds model fitted to responses with ordered levels.

    Parameters
    ----------
    x : array, shape (n, p)
        p predictors for each of n rows; p may be 0. Rows with a missing value (NaN) in `x` or `y` are left out.
    y : array, shape (n,)
        Responses; values closer than 1e-9 are one level.
    penalty : float
        Factor of |beta|^2 / 2, which is subtracted from the log likelihood (beta: the predictors' weights); 0 =
        maximum likelihood. Thresholds are not penalised.

    Returns
    -------
    Ordinal, or str
        The fitted model, or a string that says why there is no fit: only one level, more than `MAX_LEVELS`
        levels, or perfect separation.
    """
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y = x[complete], y[complete]
    reason = _why_not(y)
    if reason:
        return reason
    levels = np.unique(np.round(y, kendall.DECIMALS))
    at = kendall.codes(y)
    problem = _Likelihood(x, at, levels.size - 1, penalty)
    share = np.cumsum(np.bincount(at))[:-1] / at.size
    parameters = np.concatenate([logit(share), np.zeros(x.shape[1])])
    value = problem.value(parameters)
    for _ in range(_STEPS):
        gradient, curvature = problem.derivatives(parameters)
        try:
            step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
        except np.linalg.LinAlgError:
            return "the predictors are collinear, or part the levels perfectly"
        if float(gradient @ step) < _SETTLED * (1 + abs(value)):
            # A full step, as gains this close to the maximum are rounding errors of the log likelihood.
            parameters = parameters + step
            fitted = parameters[: problem.cuts], parameters[problem.cuts :]
            return Ordinal(levels, *fitted, problem.log_likelihood(parameters))
        parameters, value = problem.improved(parameters, step, value)
        # Under perfect separation the likelihood approaches 1 while the slopes grow without end.
        if value > -_PERFECT * at.size:
            return "the predictors part the levels of people's ratings perfectly"
    return f"the fit did not settle in {_STEPS} Newton steps"


class _Likelihood:
    """Penalised log likelihood of a proportional-odds model with parameters (theta, beta): thresholds and weights of
    the predictors. Its gradient and its negative Hessian are also computed.

    Let u and l be the upper and lower threshold of a story's level, each minus x . beta. The level's probability is
    then F(u) (1 - F(l)) (1 - exp(l - u)) with F the logistic function. The logarithm of this product is numerically
    stable and has simple derivatives.
    """

    def __init__(self, x: Floats, at: Codes, cuts: int, penalty: float) -> None:
        self.x, self.at, self.cuts, self.penalty = x, at, cuts, penalty
        self.has_upper, self.has_lower = at < cuts, at > 0
        self.in_level = np.eye(cuts + 1)[at]

    def _ends(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        theta, eta = parameters[: self.cuts], self.x @ parameters[self.cuts :]
        upper = np.where(self.has_upper, theta[np.minimum(self.at, self.cuts - 1)] - eta, np.inf)
        lower = np.where(self.has_lower, theta[np.maximum(self.at - 1, 0)] - eta, -np.inf)
        return upper, lower, np.diff(theta)

    def log_likelihood(self, parameters: Floats) -> float:
        """Log likelihood of the parameters (thresholds and weights), without the penalty: the sum of the log
        probabilities of the responses. It is minus infinity where the thresholds are not in ascending order.
        """
        upper, lower, gaps = self._ends(parameters)
        if (gaps <= 0).any():
            return -np.inf
        between = np.bincount(self.at, minlength=self.cuts + 1)[1:-1]
        return float(log_expit(upper).sum() + log_expit(-lower).sum() + between @ np.log(-np.expm1(-gaps)))

    def value(self, parameters: Floats) -> float:
        """The log likelihood of the parameters (thresholds and weights) minus the penalty."""
        beta = parameters[self.cuts :]
        return self.log_likelihood(parameters) - self.penalty / 2 * float(beta @ beta)

    def improved(self, start: Floats, step: Floats, value: float) -> tuple[Floats, float]:
        """Parameters after a step of Newton's method from `start`, and the penalised log likelihood there. The step is
        halved until this likelihood is at least `value`, the likelihood at `start`. If 40 halvings do not suffice, the
        result is `start` and `value`.
        """
        for halving in range(40):
            there = start + step / 2**halving
            better = self.value(there)
            if better >= value:
                return there, better
        return start, value

    def derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Gradient, shape (m,), and negative Hessian, shape (m, m), of the penalised log likelihood for the m
        parameters.
        """
        upper, lower, gaps = self._ends(parameters)
        a, b, beta = expit(upper), expit(lower), parameters[self.cuts :]
        bend_a, bend_b = a * (1 - a), b * (1 - b)
        between = np.bincount(self.at, minlength=self.cuts + 1)[1:-1]
        pull, stiff = between / np.expm1(gaps), between * np.exp(gaps) / np.expm1(gaps) ** 2
        by_upper, by_lower = self.in_level[:, :-1], self.in_level[:, 1:]
        slope = (1 - a) @ by_upper - b @ by_lower
        slope[1:] += pull
        slope[:-1] -= pull
        gradient = np.concatenate([slope, (a + b - 1) @ self.x - self.penalty * beta])
        diagonal = bend_a @ by_upper + bend_b @ by_lower
        diagonal[1:] += stiff
        diagonal[:-1] += stiff
        cuts = np.diag(diagonal) - np.diag(stiff, 1) - np.diag(stiff, -1)
        mixed = -(by_upper * bend_a[:, None] + by_lower * bend_b[:, None]).T @ self.x
        weights = self.x.T @ (self.x * (bend_a + bend_b)[:, None]) + self.penalty * np.eye(beta.size)
        return gradient, np.block([[cuts, mixed], [mixed.T, weights]])
