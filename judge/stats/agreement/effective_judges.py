"""The effective number of judges: how many independent judges a panel of correlated judges is worth.

Let J_i be the standardised ratings of judge i, P the mean human ratings, and T the part of the human ratings that
people share. The covariance of two judges is b_i b_k var(T) + cov(e_i, e_k). The covariance of a judge with P is b_i
var(T), because people's errors are not shared by judges. The covariance of the judges' errors is therefore

    cov(e_i, e_k) = cov(J_i, J_k) - cov(J_i, P) cov(J_k, P) / var(T),      var(T) = var(P) - error variance of P.

If the errors of k judges have mean variance v and mean covariance c, the mean of these judges has error variance (v +
(k - 1) c) / k. A mean of k' = k v / (v + (k - 1) c) independent judges has the same error variance: the design effect
of Kish (1965, Survey Sampling, section 8.2)."""

from __future__ import annotations

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.resampling.jackknife import Weights, against_zero


def effective_judges(ratings: Floats, people: Floats, noise: float, cluster: Codes) -> Estimate:
    """Number of independent judges whose mean has the same error variance as the mean of these judges.

    `ratings` (n stories, k judges): stories with a NaN are left out. `people` (n,) are mean human ratings, and `noise`
    their error variance (`noise_of_means`); 0 where not known: their errors then count as errors that all judges share.
    `cluster` (n,) holds story-prompts, for the jackknife interval. More than k where errors cancel. Undefined for fewer
    than two judges, a judge whose ratings are all equal, human means that vary no more than their error, and errors
    without variance."""
    complete = ~(np.isnan(ratings).any(axis=1) | np.isnan(people))
    j, y, unit = ratings[complete], people[complete], cluster[complete]
    n, k = j.shape
    if k < 2:
        return Estimate.undefined("undefined for a single judge", n=n)
    if n < 3 or (j.std(axis=0) < 1e-9).any():
        return Estimate.undefined("undefined: a judge gives all these stories the same rating", n=n)
    j = (j - j.mean(axis=0)) / j.std(axis=0)
    if float(y.var()) - noise <= 0:
        return Estimate.undefined("undefined: people's means vary no more than their noise", n=n)
    products = np.column_stack([j, y])
    outer = (products[:, :, None] * products[:, None, :]).reshape(n, -1)

    def statistic(weights: Weights) -> Floats:
        total = weights.sum(axis=1)[:, None]
        means = (weights @ products) / total
        covariance = ((weights @ outer) / total).reshape(-1, k + 1, k + 1) - means[:, :, None] * means[:, None, :]
        truth = covariance[:, k, k] - noise
        with_people = covariance[:, :k, k]
        shared = with_people[:, :, None] * with_people[:, None, :] / truth[:, None, None]
        errors = covariance[:, :k, :k] - shared
        own, every = np.trace(errors, axis1=1, axis2=2), errors.sum(axis=(1, 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            effective = k * own / every
        return np.where((truth > 0) & (own > 0) & (every > 0), effective, np.nan)

    if not np.isfinite(statistic(np.ones((1, n)))[0]):
        return Estimate.undefined(
            "undefined: people agree too little to separate shared errors from true differences", n=n
        )
    return against_zero(statistic, unit, np.ones(n, dtype=bool)).estimate


def noise_of_means(ratings: Floats) -> float:
    """Mean error variance of mean human `ratings` (n stories, people).

    Variance within stories x mean of 1 / number of ratings; 0 where no story has two ratings."""
    count = (~np.isnan(ratings)).sum(axis=1)
    several = ratings[count > 1]
    if not several.size:
        return 0.0
    within = np.nanvar(several, axis=1, ddof=1)
    return float(within.mean() * (1 / count[count > 0]).mean())
