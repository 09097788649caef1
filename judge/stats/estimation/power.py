"""Precision of a mean over stories clustered by story-prompt (`means.clustered`), and the minimum detectable effect.

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

    `mean` counts in n the values used. `se` is clustered, `se_independent` as if all were independent; None for fewer
    than 2 clusters or values. `effective_n` independent values would give `se`; None where either error is 0 or does
    not exist.
    """

    mean: Estimate
    se: float | None
    se_independent: float | None
    clusters: int
    effective_n: float | None


def precision(values: Floats, cluster: Codes, *, confidence: float = 0.95) -> Precision:
    """Mean of values (e.g. ratings of a system's stories, or paired differences) with its precision under clustering.

    `values` (n,) has NaN where missing, left out; `cluster` (n,) holds any codes of story-prompts; `confidence` is the
    coverage. `effective_n` exceeds the number of values if values of the same cluster differ more than those of
    different clusters do.
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
    """Proportion of stories with a property, with Wilson's interval for clusters: effective n, and t with G - 1 df.

    `hits` (n,) is 1 with the property, 0 without, NaN = missing, left out; `cluster` (n,) holds story-prompts;
    `confidence` is the coverage. This interval keeps its coverage in cluster samples for proportions near 0 and 1
    (Franco, Little, Louis & Slud 2019, Journal of Survey Statistics and Methodology 7). Where all values are equal the
    effective n cannot be estimated, and the number of clusters is used instead. Undefined without values; no interval
    with fewer than 2 clusters.
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
    """Number of independent stories that give the clustered error: `n` (`se_independent` / `se_clustered`)²."""
    return n * (se_independent / se_clustered) ** 2


def minimum_detectable_effect(
    se: float, *, alpha: float = 0.05, power: float = 0.8, df: float | None = None, two_sided: bool = True
) -> float:
    """Smallest true difference that a test at level `alpha`, `two_sided` or not, detects with the given `power`.

    `se` is the standard error of the difference, with `df` degrees of freedom (clusters - 1); None = it counts as
    known, and quantiles are normal (2.80 SE at the defaults, 2.49 SE one-sided). With `df`, both quantiles are those of
    Student's t (Bloom 1995, Evaluation Review 19). ValueError if `alpha` or `power` is outside 0 to 1, or `power` is
    not above alpha / 2 (alpha, one-sided).
    """
    share = alpha / 2 if two_sided else alpha
    if not (0 < alpha < 1 and share < power < 1):
        above = "alpha / 2" if two_sided else "alpha"
        raise ValueError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, power above {above}")
    quantiles = special.ndtri((1 - share, power)) if df is None else special.stdtrit(df, (1 - share, power))
    return float((quantiles[0] + quantiles[1]) * se)
