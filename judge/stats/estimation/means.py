"""Means with intervals, with single ratings or story-prompts as the independent units.

*As independent* is the method of the HANNA study: every rating counts as one independent observation. *Clustered* takes
story-prompts as the independent units, because all ratings of one story, and all stories for one story-prompt, are
correlated. Which interval is wider depends on the data. If raters agree, the first is too narrow. If raters with
opposite leniency rate every story, the first is too wide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate


def as_independent(ratings: Floats, *, confidence: float = 0.95) -> Estimate:
    """Mean of single ratings with Student's t interval, mean +- t(n - 1) * s / sqrt(n), each rating one observation.

    `ratings` (any shape) has NaN where missing, left out, and `confidence` is the coverage (Student 1908). Undefined
    without a rating; no interval, but a reason, with a single one.
    """
    defined = ratings[~np.isnan(ratings)]
    if defined.size == 0:
        return Estimate.undefined("no rating")
    estimate = Estimate(float(defined.mean()), n=defined.size)
    if defined.size < 2:
        return replace(estimate, reason="no interval: one rating only")
    half = _t(confidence, defined.size - 1) * float(defined.std(ddof=1)) / np.sqrt(defined.size)
    return _around(estimate, half, "t, ratings as independent, 95 %")


# Two-sided 95 % quantile of the normal distribution.
Z95 = 1.959963984540054

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)
# Where a share, and a difference of two shares, can lie.
OF_SHARES: Bounds = (-1.0, 1.0)


def clustered(
    values: Floats, cluster: Codes, *, confidence: float = 0.95, bounds: Bounds = (-np.inf, np.inf)
) -> Estimate:
    """Mean of stories' ratings, with an interval in which clusters (story-prompts) are the independent units.

    `values` (n,) has one rating per story (mean over raters or repeats), NaN left out; `cluster` (n,) holds codes 0, 1,
    ... The interval, of coverage `confidence` and clipped to `bounds`, is mean +- t(G - 1) * sqrt(G / (G - 1) * sum_g
    (sum_{i in g} (x_i - mean))^2) / n for n stories in G clusters, with the cluster-robust variance of a mean (Liang &
    Zeger 1986; for evaluations of language models: Miller 2024, equation 4, without its large-sample z). With one story
    per cluster it is Student's interval over stories. Undefined without a rated story; no interval with one cluster.
    """
    present = ~np.isnan(values)
    x, group = values[present], cluster[present]
    if x.size == 0:
        return Estimate.undefined("no rating")
    estimate = Estimate(float(x.mean()), n=x.size)
    error, clusters = clustered_error(x, group)
    if error is None:
        only = "one story only" if x.size == 1 else "stories for one story-prompt only"
        return replace(estimate, reason=f"no interval: {only}")
    return within(_around(estimate, _t(confidence, clusters - 1) * error, "t, clustered by story-prompt, 95 %"), bounds)


def within(estimate: Estimate, bounds: Bounds) -> Estimate:
    """The `estimate` with its interval clipped to `bounds`, the possible values; as it is without an interval."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(bounds[0], estimate.low), high=min(bounds[1], estimate.high))


def clustered_error(values: Floats, cluster: Codes) -> tuple[float | None, int]:
    """Standard error of the mean of `values` (n,), none missing, over the clusters in `cluster` (n,), and their number.

    None with fewer than two clusters.
    """
    clusters = int(np.count_nonzero(np.bincount(cluster)))
    if clusters < 2:
        return None, clusters
    residual = np.bincount(cluster, weights=values - values.mean())
    return float(np.sqrt(clusters / (clusters - 1) * (residual @ residual)) / values.size), clusters


def clustered_p(values: Floats, cluster: Codes) -> float | None:
    """Two-sided p that the mean of `values` (n,), none missing, is 0, by Student's t over the clusters in `cluster`.

    None with fewer than two clusters, and where the cluster means do not vary.
    """
    from scipy.special import stdtr

    error, clusters = clustered_error(values, cluster)
    if error is None or error < 1e-12:
        return None
    return float(2 * stdtr(clusters - 1, -abs(float(values.mean())) / error))


def resampled(values: Floats, group: Codes, groups: int) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to group means in b resamples, (b, r, groups); NaN where a group has no rating.

    `values` (r rows, n stories) has NaN where missing, and `group` (n,) holds the group (system), 0..`groups`-1.
    """
    rows, n = values.shape
    rated = ~np.isnan(values)
    in_group = group[:, None] == np.arange(groups)[None, :]
    present = (rated.T[:, :, None] & in_group[:, None, :]).reshape(n, rows * groups).astype(np.float64)
    filled = np.where(rated, values, 0.0).T[:, :, None]
    sums = (filled * in_group[:, None, :]).reshape(n, rows * groups)

    def means(weights: Codes) -> Floats:
        w = weights.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled_means = (w @ sums) / (w @ present)
        return np.asarray(
            np.where(np.isfinite(resampled_means), resampled_means, np.nan).reshape(-1, rows, groups), dtype=np.float64
        )

    return means


def _t(confidence: float, df: int) -> float:
    from scipy.special import stdtrit  # takes half a second to load, which options alone need not wait for

    return float(stdtrit(df, 0.5 + confidence / 2))


def _around(estimate: Estimate, half: float, method: str) -> Estimate:
    centre = float(estimate.value if estimate.value is not None else np.nan)
    return replace(estimate, low=centre - float(half), high=centre + float(half), method=method)
