"""The proportional-odds model: probabilities of ordered levels, given a score.

P(Y <= level k | x) = F(theta_k - x . beta) with F(t) = 1 / (1 + exp(-t)) and theta_1 < ... < theta_{K-1} (McCullagh
1980, Regression Models for Ordinal Data, equation 2.1). The model is fitted by maximising the log likelihood or, with a
penalty, log likelihood - penalty / 2 * |beta|^2. Both functions are concave in (theta, beta) (Pratt 1981; Burridge
1981), so damped Newton steps reach the unique maximum, if it exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logit

from judge.base.arrays import Codes, Floats
from judge.stats.correlation import kendall

# Penalised logistic regression without intercept: which of two stories is preferred, by their predictors' difference.


_PAIRWISE_LOGISTIC_STEPS = 50
_CONSTANT = 1e-12


def fit(difference: Floats, won: Floats, penalty: float) -> Floats:
    """Weights of the p predictors, (p,), by Newton's method; the maximum is unique, as the penalty is positive.

    `difference` (n, p) are the first story's predictors minus the second's, in comparable units (`out_of_fold` scales
    them), no NaN; `won` (n,) is 1 where the first was preferred, 0 where the second was; `penalty` is the factor of
    |w|² / 2."""
    weights = np.zeros(difference.shape[1])
    for _ in range(_PAIRWISE_LOGISTIC_STEPS):
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
    other folds have no pair with a preference."""
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


# People's means of five ratings on 1-5 have at most 21 levels; more than this is a continuous response.
MAX_LEVELS = 60

_STEPS = 60
# Twice the gain that the next Newton step is expected to make, relative to the log likelihood.
_SETTLED = 1e-10
# Where the predictors part the levels perfectly, slopes grow without end and log likelihood a story reaches 0.
_PERFECT = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Ordinal:
    """A fitted proportional-odds model of a response with K `levels`, ascending, and p predictors.

    `thresholds` (K - 1,) are theta, the limits between levels on the logit scale, and `weights` (p,) beta, in logits
    per unit of each predictor. `log_likelihood` is without the penalty."""

    levels: Floats
    thresholds: Floats
    weights: Floats
    log_likelihood: float

    def probabilities(self, x: Floats) -> Floats:
        """Probability of each level for each row of predictors `x` (n, p), shape (n, K); a row with NaN gives NaN."""
        below = expit(self.thresholds[None, :] - (x @ self.weights)[:, None])
        ends = np.zeros((x.shape[0], 1)), np.ones((x.shape[0], 1))
        probabilities = np.diff(np.hstack([ends[0], below, ends[1]]), axis=1)
        return np.where(np.isnan(below).any(axis=1, keepdims=True), np.nan, probabilities)

    def predict(self, x: Floats) -> Floats:
        """Expected level, in the response's units, for each row of predictors `x` (n, p); a row with NaN gives NaN."""
        return np.asarray(self.probabilities(x) @ self.levels, dtype=np.float64)


def _why_not(y: Floats) -> str | None:
    levels = np.unique(np.round(y[~np.isnan(y)], kendall.DECIMALS)).size
    if levels < 2:
        return "the people's ratings are all equal"
    if levels > MAX_LEVELS:
        return f"the people's ratings take {levels} values, an ordinal model at most {MAX_LEVELS}"
    return None


def fit_ordinal(x: Floats, y: Floats, penalty: float = 0.0) -> Ordinal | str:
    """The proportional-odds model fitted to responses with ordered levels, or a string that says why there is no fit.

    `x` (n, p) are predictors, p may be 0, and `y` (n,) responses; rows with NaN are left out, and values closer than
    1e-9 are one level. `penalty` times |beta|^2 / 2 is subtracted from the log likelihood; thresholds are not
    penalised. No fit with one level, more than `MAX_LEVELS` levels, or perfect separation."""
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
    """Penalised log likelihood of a proportional-odds model with parameters (theta, beta), and its derivatives.

    Let u and l be the upper and lower threshold of a story's level, each minus x . beta. The level's probability is
    then F(u) (1 - F(l)) (1 - exp(l - u)) with F the logistic function. The logarithm of this product is numerically
    stable and has simple derivatives."""

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
        """Without the penalty; minus infinity where the thresholds are not ascending."""
        upper, lower, gaps = self._ends(parameters)
        if (gaps <= 0).any():
            return -np.inf
        between = np.bincount(self.at, minlength=self.cuts + 1)[1:-1]
        return float(log_expit(upper).sum() + log_expit(-lower).sum() + between @ np.log(-np.expm1(-gaps)))

    def value(self, parameters: Floats) -> float:
        beta = parameters[self.cuts :]
        return self.log_likelihood(parameters) - self.penalty / 2 * float(beta @ beta)

    def improved(self, start: Floats, step: Floats, value: float) -> tuple[Floats, float]:
        """After a step, halved until `value` is reached; `start` and `value` if 40 halvings do not suffice."""
        for halving in range(40):
            there = start + step / 2**halving
            better = self.value(there)
            if better >= value:
                return there, better
        return start, value

    def derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Gradient and negative Hessian."""
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
