"""Pairs of a better and a worse story: win rate and mean difference, clustered. Never treats pairs of one unit as new.

Pairs may share a story or a story-prompt; those form a cluster. Intervals for clustered pairs treat the statistic as a
ratio of cluster totals, with the linearised variance G / (G - 1) * sum_g (s_g - R n_g)^2 / n^2 (Cochran 1977, chapter
6; the cluster-robust variance of a mean) and the t distribution with G - 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate
from judge.stats.proportion import wilson

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class WinRate:
    """Share of pairs won, ties one half, and the counts it is made of; `estimate.n` counts pairs."""

    estimate: Estimate
    wins: int
    ties: int
    losses: int


def win_rate(difference: Floats, cluster: Codes | None = None) -> WinRate:
    """How often the better story of a pair gets the higher rating: (wins + ties / 2) / pairs.

    Parameters
    ----------
    difference : array, shape (n pairs,)
        Rating of the better minus rating of the worse story; NaN = a side is missing, left out. Closer to 0 than 1e-9
        is a tie.
    cluster : array of int, shape (n pairs,), optional
        Pairs with the same code are not independent. None: every pair is, and the interval is Wilson's; ties at one
        half make the true variance smaller than the binomial one, so it is then wider than need be.

    Returns
    -------
    WinRate
        Undefined without a pair. No interval with fewer than two clusters, or where all clusters have the same rate.
    """
    known = ~np.isnan(difference)
    d = difference[known]
    wins, losses = int((d > _SAME).sum()), int((d < -_SAME).sum())
    ties = d.size - wins - losses
    if not d.size:
        return WinRate(Estimate.undefined("undefined without a pair of rated stories"), 0, 0, 0)
    if cluster is None:
        return WinRate(wilson(wins + ties / 2, d.size), wins, ties, losses)
    credit = np.where(d > _SAME, 1.0, np.where(d < -_SAME, 0.0, 0.5))
    found = clustered_mean(credit, cluster[known])
    if found.low is not None and found.high is not None:
        found = replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
    return WinRate(found, wins, ties, losses)


def clustered_mean(values: Floats, cluster: Codes | None = None, *, confidence: float = 0.95) -> Estimate:
    """Mean of values (n,), NaN left out, with a t interval over clusters (n,); None = every value is its own.

    With one value a cluster this is the ordinary t interval. Undefined without a value; no interval with fewer than
    two clusters or a variance of 0.
    """
    from scipy import stats

    known = ~np.isnan(values)
    v = values[known]
    if not v.size:
        return Estimate.undefined("undefined without a pair of rated stories")
    g = np.arange(v.size) if cluster is None else np.unique(cluster[known], return_inverse=True)[1].reshape(-1)
    groups = int(g.max()) + 1
    mean = float(v.mean())
    estimate = Estimate(mean, n=v.size)
    if groups < 2:
        return replace(estimate, reason="no interval: all pairs belong to one cluster")
    rest = np.bincount(g, weights=v - mean, minlength=groups)
    error = float(np.sqrt(groups / (groups - 1) * (rest**2).sum())) / v.size
    if error <= _SAME * max(1.0, abs(mean)):
        return replace(estimate, reason="no interval: every cluster has the same mean")
    half = float(stats.t.ppf(0.5 + confidence / 2, groups - 1)) * error
    of = f" of {groups} clusters" if groups < v.size else ""
    return replace(estimate, low=mean - half, high=mean + half, method=f"t{of}, {100 * confidence:.0f} %")
