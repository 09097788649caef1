"""How precise a mean over clustered stories is, and which difference a study can see. Never counts stories as
independent that share a story-prompt.

Stories for one story-prompt resemble each other, so the standard error of a mean over them is taken over story-prompts
(clusters). With G clusters and deviations e from the mean of n values:

- cluster-robust variance (CR1): G / (G - 1) * sum over clusters of (sum of e)² / n². For a mean this is Liang & Zeger
  1986, Biometrika 73, with the factor and Student's t with G - 1 degrees of freedom that Cameron & Miller 2015, Journal
  of Human Resources 50(2), recommend for few clusters;
- effective n = n (SE as if independent / SE clustered)², design effect = n / effective n: Miller 2024,
  arXiv 2411.00640; Kish 1965, Survey Sampling;
- minimum detectable effect = (z(1 - alpha/2) + z(power)) SE, 2.80 SE for alpha .05 two-sided and power .8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judge.stats.estimate import Estimate
from judge.stats.proportion import wilson_of_share

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean with its precision.

    Attributes
    ----------
    mean : Estimate
        With its t interval; n = values used. Without an interval, and with the reason, for fewer than 2 clusters.
    se, se_independent : float or None
        Standard error over clusters, and as if all values were independent (None for fewer than 2).
    clusters : int
        G.
    effective_n, design_effect : float or None
        None where either standard error is 0 or does not exist.
    """

    mean: Estimate
    se: float | None
    se_independent: float | None
    clusters: int
    effective_n: float | None
    design_effect: float | None


def clustered_mean(values: Floats, cluster: Codes, *, confidence: float = 0.95) -> ClusteredMean:
    """Mean of values, e.g. of a system's stories or of paired differences, with a standard error over clusters.

    Parameters
    ----------
    values : array, shape (n,)
        NaN = missing, left out.
    cluster : array of int, shape (n,)
        Story-prompt of each value; any codes.
    confidence : float
        Coverage of the t interval.

    Returns
    -------
    ClusteredMean
        Undefined for no values. The effective n may exceed n where values within clusters differ more than by chance.
    """
    known = ~np.isnan(values)
    y = values[known]
    if y.size == 0:
        return ClusteredMean(Estimate.undefined("a mean of nothing"), None, None, 0, None, None)
    group = np.unique(cluster[known], return_inverse=True)[1]
    groups = int(group.max()) + 1
    mean = Estimate(float(y.mean()), n=y.size)
    independent = float(y.std(ddof=1) / np.sqrt(y.size)) if y.size > 1 else None
    if groups < 2:
        reason = "no interval: all stories share one story-prompt, nothing says how story-prompts differ"
        return ClusteredMean(replace(mean, reason=reason), None, independent, groups, None, None)
    deviations = np.bincount(group, weights=y - y.mean())
    se = float(np.sqrt(groups / (groups - 1) * (deviations**2).sum()) / y.size)
    half = float(stats.t.ppf(0.5 + confidence / 2, groups - 1)) * se
    centre = float(y.mean())
    method = f"t over {groups} story-prompts (CR1), {100 * confidence:.0f} %"
    mean = replace(mean, low=centre - half, high=centre + half, method=method)
    tiny = 1e-12 * max(1.0, float(np.abs(y).max()))
    if independent is None or independent <= tiny or se <= tiny:
        return ClusteredMean(mean, se, independent, groups, None, None)
    effective = effective_n(y.size, independent, se)
    return ClusteredMean(mean, se, independent, groups, effective, y.size / effective)


def clustered_proportion(hits: Floats, cluster: Codes, *, confidence: float = 0.95) -> Estimate:
    """A share among clustered stories: Wilson's interval with the effective n and Student's t (G - 1 df).

    That is the interval that holds its coverage for shares near 0 and 1 in cluster samples (Franco, Little, Louis &
    Slud 2019, Journal of Survey Statistics and Methodology 7). Where all values are equal the effective n cannot be
    estimated, and each cluster counts as one.

    Parameters
    ----------
    hits : array, shape (n,)
        1 or 0, NaN = missing, left out.
    cluster : array of int, shape (n,)
        Story-prompt of each value.
    confidence : float
        Coverage.

    Returns
    -------
    Estimate
        Undefined for no values; without an interval, and with the reason, for fewer than 2 clusters.
    """
    found = clustered_mean(hits, cluster, confidence=confidence)
    if found.mean.value is None or found.clusters < 2:
        return found.mean
    constant = found.se_independent == 0
    n = float(found.clusters) if constant else min(found.effective_n or np.inf, float(found.mean.n))
    low, high = wilson_of_share(found.mean.value, n, float(stats.t.ppf(0.5 + confidence / 2, found.clusters - 1)))
    method = f"Wilson, effective n {n:.1f}, t over {found.clusters} story-prompts, {100 * confidence:.0f} %"
    return replace(found.mean, low=low, high=high, method=method)


def effective_n(n: int, se_independent: float, se_clustered: float) -> float:
    """How many independent stories would give the clustered standard error: n (SE_iid / SE_cluster)²."""
    return n * (se_independent / se_clustered) ** 2


def minimum_detectable_effect(se: float, *, alpha: float = 0.05, power: float = 0.8, df: float | None = None) -> float:
    """Smallest true difference found significant (two-sided, level alpha) with the given power.

    Parameters
    ----------
    se : float
        Standard error of the difference that will be tested.
    alpha, power : float
        Between 0 and 1; power above alpha / 2.
    df : float, optional
        Degrees of freedom of the standard error (clusters - 1). Without them it counts as known: normal quantiles,
        2.80 SE at the defaults. With them: quantiles of t in both places (Bloom 1995, Evaluation Review 19).

    Raises
    ------
    ValueError
        A level or power outside 0 to 1.
    """
    if not (0 < alpha < 1 and alpha / 2 < power < 1):
        raise ValueError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, power above alpha / 2")
    law = stats.norm() if df is None else stats.t(df)
    return float((law.ppf(1 - alpha / 2) + law.ppf(power)) * se)


def power_of(effect: float, se: float, *, alpha: float = 0.05) -> float:
    """Chance that a two-sided normal test at level alpha finds a true difference significant, in either direction."""
    z = float(stats.norm.ppf(1 - alpha / 2))
    return float(stats.norm.sf(z - effect / se) + stats.norm.cdf(-z - effect / se))
