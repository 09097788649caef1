"""The effective number of judges: how many independent judges a panel of correlated judges is worth.

Of judges' ratings J_i (each standardised) and people's means P, let T be what people's ratings have in common. The
covariance of two judges is b_i b_k var(T) + cov(e_i, e_k), and that of a judge with P is b_i var(T), as noise of people
is nobody else's; so the covariance of the judges' errors is

    cov(e_i, e_k) = cov(J_i, J_k) - cov(J_i, P) cov(J_k, P) / var(T),      var(T) = var(P) - noise of P.

The mean of k judges whose errors have mean variance v and mean covariance c has error variance (v + (k - 1) c) / k, as
k' = k v / (v + (k - 1) c) independent ones would: the design effect of Kish (1965, Survey Sampling, section 8.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate
from judge.stats.resampling.jackknife import against_zero

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def effective_judges(ratings: Floats, people: Floats, noise: float, cluster: Codes) -> Estimate:
    """Number of independent judges whose mean has the same error variance as the mean of these judges.

    Parameters
    ----------
    ratings : array, shape (n stories, k judges)
        Stories with a missing rating, NaN, are left out.
    people : array, shape (n,)
        People's mean ratings.
    noise : float
        Variance of the noise in them: within stories, over raters. 0 where it is not known, and then what people's
        noise does to all judges alike counts as an error that they share.
    cluster : array of int, shape (n,)
        Story-prompt of each story, for the jackknife interval.

    Returns
    -------
    Estimate
        Between 0 and, where errors cancel, more than k. Undefined for fewer than two judges, where a judge gives one
        rating to all, where people's ratings do not vary beyond their noise, and where errors have no variance left.
    """
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

    def statistic(weights: Floats) -> Floats:
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
    """Mean variance of the noise in people's mean ratings.

    Parameters
    ----------
    ratings : array, shape (n, people)
        In points of the scale; NaN = not rated.

    Returns
    -------
    float
        Mean variance within stories that two or more rated, times the mean of 1 / number of ratings over rated stories,
        in squared points; 0 where no story has two ratings.
    """
    count = (~np.isnan(ratings)).sum(axis=1)
    several = ratings[count > 1]
    if not several.size:
        return 0.0
    within = np.nanvar(several, axis=1, ddof=1)
    return float(within.mean() * (1 / count[count > 0]).mean())
