"""Precision of a mean over clustered stories, and the minimum detectable effect.

Stories for the same story-prompt resemble each other, so the standard error of a mean is computed with story-prompts as
clusters (`means.clustered`).

- effective n = n (SE as if independent / SE clustered)²: Miller 2024, arXiv 2411.00640; Kish 1965, Survey
  Sampling;
- minimum detectable effect = (z(1 - alpha/2) + z(power)) SE, 2.80 SE for alpha .05 two-sided and power .8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.shares.proportion import wilson_of_share

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Precision:
    """Mean of clustered values with its standard errors and effective sample size.

    Attributes
    ----------
    mean : Estimate
        The mean with its t interval clustered by story-prompt; `n` counts the values used.
    se, se_independent : float or None
        Clustered standard error, and the standard error as if all values were independent. None for fewer than 2
        clusters or values.
    clusters : int
        Number of story-prompts.
    effective_n : float or None
        Number of independent values that would give the clustered standard error. None where either standard error
        is 0 or does not exist.
    """

    mean: Estimate
    se: float | None
    se_independent: float | None
    clusters: int
    effective_n: float | None


def precision(values: Floats, cluster: Codes, *, confidence: float = 0.95) -> Precision:
    """Mean of values (e.g. the ratings of a system's stories, or paired differences) with its precision under
    clustering.

    Parameters
    ----------
    values : array, shape (n,)
        NaN = missing, left out.
    cluster : array of int, shape (n,)
        Story-prompt of each value, as any integer codes.
    confidence : float
        Coverage of the t interval.

    Returns
    -------
    Precision
        Its mean is undefined if all values are missing. Its `effective_n` exceeds the number of values if
        values of the same cluster differ more than values of different clusters do.
    """
    present = ~np.isnan(values)
    y = values[present]
    group = np.unique(cluster[present], return_inverse=True)[1]
    mean = means.clustered(y, group, confidence=confidence)
    if y.size < 2:
        return Precision(mean, None, None, int(y.size), None)
    independent = float(y.std(ddof=1) / np.sqrt(y.size))
    se, clusters = means.clustered_error(y, group)
    # The ratio of two standard errors that are rounding noise would be arbitrary.
    tiny = 1e-12 * max(1.0, float(np.abs(y).max()))
    if se is None or se <= tiny or independent <= tiny:
        return Precision(mean, se, independent, clusters, None)
    return Precision(mean, se, independent, clusters, effective_n(y.size, independent, se))


def clustered_proportion(hits: Floats, cluster: Codes, *, confidence: float = 0.95) -> Estimate:
    """Proportion of stories with a property, where the stories are clustered by story-prompt. Its interval is Wilson's,
    computed with the effective n and a quantile of Student's t (G - 1 df for G clusters).

    This interval keeps its coverage in cluster samples for proportions near 0 and 1 (Franco, Little, Louis & Slud 2019,
    Journal of Survey Statistics and Methodology 7). Where all values are equal the effective n cannot be estimated, and
    the number of clusters is used instead.

    Parameters
    ----------
    hits : array, shape (n,)
        1 for a story with the property, 0 for a story without it; NaN = missing, left out.
    cluster : array of int, shape (n,)
        Story-prompt of each value.
    confidence : float
        Coverage of the interval.

    Returns
    -------
    Estimate
        Undefined without values. For fewer than 2 clusters it has no interval but a reason.
    """
    estimate = precision(hits, cluster, confidence=confidence)
    if estimate.mean.value is None or estimate.clusters < 2:
        return estimate.mean
    constant = estimate.se_independent == 0
    n = float(estimate.clusters) if constant else min(estimate.effective_n or np.inf, float(estimate.mean.n))
    low, high = wilson_of_share(
        estimate.mean.value, n, float(special.stdtrit(estimate.clusters - 1, 0.5 + confidence / 2))
    )
    method = f"Wilson, effective n {n:.1f}, t over {estimate.clusters} story-prompts, {100 * confidence:.0f} %"
    return replace(estimate.mean, low=low, high=high, method=method)


def effective_n(n: int, se_independent: float, se_clustered: float) -> float:
    """Number of independent stories that would give the clustered standard error: n (SE_iid / SE_cluster)².

    Parameters
    ----------
    n : int
        Number of stories.
    se_independent, se_clustered : float
        Standard error of the stories' mean as if they were independent, and clustered standard error; the latter
        must be above 0.
    """
    return n * (se_independent / se_clustered) ** 2


def minimum_detectable_effect(
    se: float, *, alpha: float = 0.05, power: float = 0.8, df: float | None = None, two_sided: bool = True
) -> float:
    """Smallest true difference that a test at level alpha detects with the given power.

    Parameters
    ----------
    se : float
        Standard error of the difference that will be tested.
    alpha, power : float
        Between 0 and 1; power above alpha / 2.
    df : float, optional
        Degrees of freedom of the standard error (clusters - 1). None = the standard error counts as known, and
        quantiles are normal (2.80 SE at the defaults). With `df`, both quantiles are those of Student's t
        (Bloom 1995, Evaluation Review 19).
    two_sided : bool
        Whether the test is two-sided; with the other arguments at their defaults, the result is 2.49 SE for a
        one-sided test.

    Raises
    ------
    ValueError
        `alpha` or `power` is outside its range.
    """
    share = alpha / 2 if two_sided else alpha
    if not (0 < alpha < 1 and share < power < 1):
        above = "alpha / 2" if two_sided else "alpha"
        raise ValueError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, power above {above}")
    quantiles = special.ndtri((1 - share, power)) if df is None else special.stdtrit(df, (1 - share, power))
    return float((quantiles[0] + quantiles[1]) * se)
