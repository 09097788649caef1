"""Proportions: their intervals, weighted samples, imperfect judges, missing values, and whether what is missing goes
with a group or a number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.estimate import CONFIDENCE, Estimate
from judge.stats.correlation.coefficients import pearson
from judge.stats.estimation import means

# Tests whether missing ratings are associated with a group (such as a system) or with a number (such as length).

# Expected counts below this make the chi-squared approximation doubtful (Cochran 1954).
_SMALL = 5.0

# Tables drawn for a permuted test.
PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True)
class Association:
    """Result of one test of association between missing ratings and a group or number.

    `effect` is Cramér's V (0 to 1) for groups. For numbers it is the AUC, the probability that a lost unit (such as a
    story without a rating) has a higher number than another (.5 = no association), and `correlation` the point-biserial
    one. `p` is not adjusted. `n` and `lost` count units with a known group or number, and those lost. `reason`: why
    there is no test."""

    test: str
    effect: float | None
    p: float | None
    n: int
    lost: int
    correlation: float | None = None
    reason: str | None = None

    @property
    def tail(self) -> str | None:
        """ "greater" (upper tail) for chi-squared tests, otherwise "two-sided"; None without a test."""
        if self.p is None:
            return None
        return "greater" if self.test.startswith("chi2") else "two-sided"


def with_group(lost: Masks, group: Codes, rng: np.random.Generator) -> Association:
    """Test of the association between the loss of units (such as stories without a rating) and their group.

    `lost` and `group` (n,) hold whether each unit was lost and its code 0, 1, ... For a 2 x 2 table this is Fisher's
    exact test. Larger tables use Pearson's chi-squared test if all expected counts are at least 5 (Cochran 1954).
    Otherwise the statistic is compared with that of 9,999 random tables (`rng`) with the same margins, p = (1 + number
    of tables at least as extreme) / (1 + 9,999). No test where no unit or every unit was lost, or there is only one
    group."""
    size = np.bincount(group)
    size = size[size > 0]
    gone = np.bincount(group, weights=lost.astype(np.float64), minlength=int(group.max()) + 1 if group.size else 0)
    gone = gone[np.bincount(group) > 0].astype(np.int64)
    n, m = int(lost.size), int(lost.sum())
    reason = _nothing_to_test(n, m) or ("there is one group only" if size.size < 2 else None)
    if reason:
        return Association("none", None, None, n, m, reason=reason)
    table = np.stack([gone, size - gone])
    statistic = float(_chi2(gone[None, :], size, m)[0])
    effect = float(np.sqrt(statistic / n))  # min(rows, columns) - 1 = 1
    if size.size == 2:
        from scipy import stats  # takes a second to import: only where something was lost

        return Association("Fisher exact", effect, float(stats.fisher_exact(table).pvalue), n, m)
    if float((table.sum(axis=1, keepdims=True) * size[None, :] / n).min()) >= _SMALL:
        return Association("chi2", effect, float(special.chdtrc(size.size - 1, statistic)), n, m)
    drawn = _chi2(rng.multivariate_hypergeometric(size, m, size=PERMUTATIONS), size, m)
    p = (1 + int((drawn >= statistic - 1e-9).sum())) / (1 + PERMUTATIONS)
    return Association("chi2, permuted", effect, p, n, m)


def with_number(lost: Masks, number: Floats) -> Association:
    """Mann-Whitney's test (normal approximation, ties corrected) of the association of the loss of units with a number.

    `lost` and `number` (n,) hold whether each unit was lost and its number (such as length; NaN = unknown, left out).
    The effect is AUC = U / (number lost x number kept). No test where no unit or every unit was lost, or all numbers
    are equal."""
    present = ~np.isnan(number)
    lost, number = lost[present], number[present]
    n, m = int(lost.size), int(lost.sum())
    reason = _nothing_to_test(n, m)
    if reason is None and float(np.ptp(number)) < 1e-9:
        reason = "the numbers are all equal"
    if reason:
        return Association("none", None, None, n, m, reason=reason)
    statistic, p = _mann_whitney(lost, number)
    return Association("Mann-Whitney", statistic / (m * (n - m)), p, n, m, pearson(lost.astype(np.float64), number))


def _mann_whitney(lost: Masks, number: Floats) -> tuple[float, float]:
    """U of the lost units, and two-sided p by the normal approximation, corrected for ties and continuity."""
    # Equals `scipy.stats.mannwhitneyu(..., method="asymptotic")`, whose import takes half a second.
    _, level, count = np.unique(number, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[level]
    n, m = lost.size, int(lost.sum())
    both = m * (n - m)
    statistic = float(ranks[lost].sum()) - m * (m + 1) / 2
    ties = float((count.astype(np.float64) ** 3 - count).sum())
    spread = float(np.sqrt(both / 12 * ((n + 1) - ties / (n * (n - 1)))))
    beyond = max(statistic, both - statistic) - both / 2 - 0.5
    return statistic, min(1.0, 2 * float(special.ndtr(-beyond / spread)))


def _nothing_to_test(n: int, lost: int) -> str | None:
    if n == 0:
        return "nothing is known about these stories"
    if lost == 0:
        return "nothing was lost"
    return "everything was lost" if lost == n else None


def _chi2(gone: Codes, size: Codes, lost: int) -> Floats:
    """Pearson's chi-squared of tables (lost or not, by group) with equal margins."""
    share = lost / size.sum()
    expected = size * share
    return np.asarray((((gone - expected) ** 2) / (expected * (1 - share))).sum(axis=1), dtype=np.float64)


# Proportions with Wilson's score interval.


def wilson(successes: float, n: int, *, z: float = means.Z95) -> Estimate:
    """A share of `n` independent trials with Wilson's (1927) score interval; undefined without a trial.

    Of the `successes` a tie may count one half: its variance is below the binomial variance, so the interval is
    conservative. `z` is the normal quantile. For clustered stories use `sample_size.clustered_proportion`."""
    if n == 0:
        return Estimate.undefined("a share of nothing")
    low, high = wilson_of_share(successes / n, n, z)
    return Estimate(successes / n, n=n, low=low, high=high, method=f"Wilson, {_coverage(z)}")


def _coverage(z: float) -> str:
    return f"{100 * (2 * special.ndtr(z) - 1):.0f} %"


def wilson_of_share(p: float, n: float, z: float) -> tuple[float, float]:
    """Limits of Wilson's (1927) score interval of a share `p`: (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    `n` trials, above 0, may be an effective number; `z` is a quantile of the normal or t distribution."""
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


# Prevalence of a label as estimated by an imperfect judge, corrected for the judge's sensitivity and specificity.


def corrected_share(
    judged_positive: float,
    n: float,
    *,
    hits: float,
    positives: float,
    rejections: float,
    negatives: float,
    z: float = means.Z95,
) -> Estimate:
    """Share of truly positive stories among `n` judged stories, corrected for the judge's errors and clipped to 0..1.

    `judged_positive` of the `n` stories without a human label are called positive. Of the `positives` and `negatives`
    with a human label, the judge calls `hits` positive and `rejections` negative (sensitivity and specificity). All may
    be effective numbers where stories are not independent. `z` is the normal quantile of the interval.

    Undefined without judged stories, without one of the two human labels, and where sensitivity + specificity <= 1,
    because then the judge has no information about the share. No interval, but a reason, where too few stories have a
    human label to tell the judge from chance."""
    count = round(n)
    if n < 1 or positives < 1 or negatives < 1:
        return Estimate.undefined("undefined without judged stories and calibration stories of both kinds", n=count)
    share, sensitivity, specificity = judged_positive / n, hits / positives, rejections / negatives
    if sensitivity + specificity <= 1:
        reason = f"undefined: sensitivity {sensitivity:.2f} + specificity {specificity:.2f} do not exceed 1"
        return Estimate.undefined(reason, n=count)
    value = (share + specificity - 1) / (sensitivity + specificity - 1)
    # Counts pulled towards one half, as in Agresti & Coull's interval.
    m, m1, m0 = n + z * z, positives + 2, negatives + 2
    p, q1, q0 = (judged_positive + z * z / 2) / m, (hits + 1) / m1, (rejections + 1) / m0
    slope = q0 + q1 - 1
    # Once its counts are pulled towards one half, a judge barely better than chance can lose its slope.
    if slope <= 0:
        return Estimate(
            _cut(value), n=count, reason="no interval: too few calibration stories to separate the judge from chance"
        )
    centre = (p + q0 - 1) / slope
    e1, e0 = q1 * (1 - q1) / m1, q0 * (1 - q0) / m0
    half = z * math.sqrt(p * (1 - p) / m + (1 - centre) ** 2 * e0 + centre**2 * e1) / slope
    centre += 2 * z * z * (centre * e1 - (1 - centre) * e0)
    return Estimate(
        _cut(value),
        n=count,
        low=_cut(centre - half),
        high=_cut(centre + half),
        method=f"Lang-Reiczigel, {_coverage(z)}",
    )


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))


# Bounds of a mean with missing values: the worst case and the best case.


def mean_bounds(values: Floats, low: float, high: float) -> Estimate:
    """Mean of the known `values` (n,), with Manski's (1990) bounds of the mean of all: the missing all low or all high.

    `low` and `high` are the limits of the scale. Those of the result are no confidence interval, and equal the value
    when nothing is missing. n counts all values. Undefined where none is known."""
    present = ~np.isnan(values)
    n, m = values.size, int(present.sum())
    if m == 0:
        return Estimate.undefined("no rating at all", n=n)
    total = float(values[present].sum())
    lost = n - m
    ends = (total + lost * low) / n, (total + lost * high) / n
    return Estimate(total / m, n=n, low=ends[0], high=ends[1], method="worst case, best case")


def weighted_share(hits: Floats, weight: Floats, cluster: Codes, *, trials: int | None = None) -> Estimate:
    """Share of a population from a weighted, clustered sample, sum w y / sum w (Hájek 1971), with its interval.

    `hits` (n,) are values y between 0 and 1 (such as the share of an item's annotators who see an error in it), NaN
    left out; `weight` (n,) the population's items that each represents, above 0; `cluster` (n,) any codes (such as
    stories). `trials` limits the effective n; None = the number of values used; it may be larger where a value is a
    share of several annotators. `sample_size.clustered_proportion` (Franco, Little, Louis & Slud 2019). Where all
    clusters have the same share, or it is 0 or 1, the effective n is Kish's number of clusters, (sum w)² / sum w². n
    counts values. Undefined without a value; no interval with one cluster."""
    present = ~np.isnan(hits)
    y, w = hits[present], weight[present]
    group = renumbered(cluster[present])
    if y.size == 0:
        return Estimate.undefined("nothing was answered")
    total = float(w.sum())
    share = float(np.clip(w @ y / total, 0.0, 1.0))
    clusters = int(group.max()) + 1
    if clusters < 2:
        return Estimate(share, n=y.size, reason="no interval: one story only")
    part = np.bincount(group, weights=w * (y - share))
    variance = clusters / (clusters - 1) * float(part @ part) / total**2
    mass = np.bincount(group, weights=w)
    kish = min(float(mass.sum() ** 2 / (mass @ mass)), float(clusters))
    spread = share * (1 - share)
    # Shares of 0 or 1, and equal clusters, have no variance from which an effective n could be estimated.
    effective = kish if spread < 1e-12 or variance < 1e-18 else min(spread / variance, float(trials or y.size))
    quantile = float(special.stdtrit(clusters - 1, 0.5 + CONFIDENCE / 2))
    low, high = wilson_of_share(share, effective, quantile)
    method = f"Wilson, effective n {effective:.1f}, t over {clusters} stories, 95 %"
    # Rounding must not leave a share of exactly 0 or 1 outside its own interval.
    return Estimate(share, n=y.size, low=min(low, share), high=max(high, share), method=method)


def effective_size(hits: Floats, cluster: Codes) -> float:
    """Effective sample size of a share: p (1 - p) divided by its cluster-robust variance, at most n.

    `hits` (n,) are between 0 and 1, no NaN; `cluster` (n,) holds any codes. It is the number of clusters where it
    cannot be estimated: all values are 0 or all 1, or the clusters do not differ."""
    group = renumbered(cluster)
    clusters, share = int(group.max()) + 1, float(hits.mean())
    part = np.bincount(group, weights=hits - share)
    spread, variance = share * (1 - share), clusters / max(1, clusters - 1) * float(part @ part) / hits.size**2
    return float(clusters) if min(spread, variance) < 1e-12 else min(spread / variance, float(hits.size))
