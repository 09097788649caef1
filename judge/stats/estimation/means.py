"""Means with intervals, equivalence tests of them, and means of few human and many judge's ratings.

Single ratings or story-prompts are the independent units.

*As independent* is the method of the HANNA study: every rating counts as one independent observation. *Clustered* takes
story-prompts as the independent units, because all ratings of one story, and all stories for one story-prompt, are
correlated. Which interval is wider depends on the data. If raters agree, the first is too narrow. If raters with
opposite leniency rate every story, the first is too wide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, ratio, renumbered
from judge.base.estimate import ALPHA, CONFIDENCE, Estimate


def as_independent(ratings: Floats) -> Estimate:
    """Mean of single ratings with Student's t interval, mean +- t(n - 1) * s / sqrt(n), each rating one observation.

    `ratings` (any shape) has NaN where missing, left out (Student 1908). Undefined without a rating; no interval, but a
    reason, with a single one."""
    defined = ratings[~np.isnan(ratings)]
    if defined.size == 0:
        return Estimate.undefined("no rating")
    estimate = Estimate(float(defined.mean()), n=defined.size)
    if defined.size < 2:
        return replace(estimate, reason="no interval: one rating only")
    half = _t(defined.size - 1) * float(defined.std(ddof=1)) / np.sqrt(defined.size)
    return _around(estimate, half, "t, ratings as independent, 95 %")


# Two-sided 95 % quantile of the normal distribution.
Z95 = 1.959963984540054

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)
# Where a share, and a difference of two shares, can lie.
OF_SHARES: Bounds = (-1.0, 1.0)


def clustered(values: Floats, cluster: Codes, *, bounds: Bounds = (-np.inf, np.inf)) -> Estimate:
    """Mean of stories' ratings, with an interval in which clusters (story-prompts) are the independent units.

    `values` (n,) has one rating per story (mean over raters or repeats), NaN left out; `cluster` (n,) holds codes 0, 1,
    ... The interval, clipped to `bounds`, is mean +- t(G - 1) * sqrt(G / (G - 1) * sum_g (sum_{i in g} (x_i -
    mean))^2) / n for n stories in G clusters, with the cluster-robust variance of a mean (Liang & Zeger 1986; for
    evaluations of language models: Miller 2024, equation 4, without its large-sample z). With one story per cluster it
    is Student's interval over stories. Undefined without a rated story; no interval with one cluster."""
    present = ~np.isnan(values)
    x, group = values[present], cluster[present]
    if x.size == 0:
        return Estimate.undefined("no rating")
    estimate = Estimate(float(x.mean()), n=x.size)
    error, clusters = clustered_error(x, group)
    if error is None:
        only = "one story only" if x.size == 1 else "stories for one story-prompt only"
        return replace(estimate, reason=f"no interval: {only}")
    method = "t, clustered by story-prompt, 95 %"
    return within(_around(estimate, _t(clusters - 1) * error, method), bounds)


def within(estimate: Estimate, bounds: Bounds) -> Estimate:
    """The `estimate` with its interval clipped to `bounds`, the possible values; as it is without an interval."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(bounds[0], estimate.low), high=min(bounds[1], estimate.high))


def clustered_error(values: Floats, cluster: Codes) -> tuple[float | None, int]:
    """Standard error of the mean of `values` (n,), none missing, over the clusters in `cluster` (n,), and their number.

    None with fewer than two clusters."""
    clusters = int(np.count_nonzero(np.bincount(cluster)))
    if clusters < 2:
        return None, clusters
    residual = np.bincount(cluster, weights=values - values.mean())
    return float(np.sqrt(clusters / (clusters - 1) * (residual @ residual)) / values.size), clusters


def clustered_p(values: Floats, cluster: Codes) -> float | None:
    """Two-sided p that the mean of `values` (n,), none missing, is 0, by Student's t over the clusters in `cluster`.

    None with fewer than two clusters, and where the cluster means do not vary."""
    from scipy.special import stdtr

    error, clusters = clustered_error(values, cluster)
    if error is None or error < 1e-12:
        return None
    return float(2 * stdtr(clusters - 1, -abs(float(values.mean())) / error))


def resampled(values: Floats, group: Codes, groups: int) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to group means in b resamples, (b, r, groups); NaN where a group has no rating.

    `values` (r rows, n stories) has NaN where missing, and `group` (n,) holds the group (system), 0..`groups`-1."""
    rows, n = values.shape
    rated = ~np.isnan(values)
    in_group = group[:, None] == np.arange(groups)[None, :]
    present = (rated.T[:, :, None] & in_group[:, None, :]).reshape(n, rows * groups).astype(np.float64)
    filled = np.where(rated, values, 0.0).T[:, :, None]
    sums = (filled * in_group[:, None, :]).reshape(n, rows * groups)

    def means(weights: Codes) -> Floats:
        w = weights.astype(np.float64)
        return ratio(w @ sums, w @ present).reshape(-1, rows, groups)

    return means


def _t(df: int) -> float:
    from scipy.special import stdtrit  # takes half a second to load, which options alone need not wait for

    return float(stdtrit(df, 0.5 + CONFIDENCE / 2))


def _around(estimate: Estimate, half: float, method: str) -> Estimate:
    centre = float(estimate.value if estimate.value is not None else np.nan)
    return replace(estimate, low=centre - float(half), high=centre + float(half), method=method)


# Equivalence tests: two one-sided t tests (TOST) that a difference lies within given bounds.


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Result of two one-sided tests that a difference lies within `bounds`, the smallest differences that would matter.

    A mean difference is shown to lie inside (low, high) at level 5 % if both one-sided hypotheses, "at or below low"
    and "at or above high", are rejected (Schuirmann 1987). That is the case if the 90 % interval lies inside the
    bounds. The user chooses the bounds: the smallest differences that would matter.

    `difference` has its 90 % interval. `p_low` and `p_high` are of "at or below the lower bound" and of "at or above
    the upper bound"."""

    difference: Estimate
    bounds: tuple[float, float]
    p_low: float | None = None
    p_high: float | None = None

    @property
    def p(self) -> float | None:
        """The larger of the two one-sided p; equivalence is shown if it is at most .05. None where undefined."""
        return None if self.p_low is None or self.p_high is None else max(self.p_low, self.p_high)


def tost(differences: Floats, low: float, high: float, *, cluster: Codes | None = None) -> Equivalence:
    """Two one-sided t tests that the mean of `differences` (n,), without NaN, is in (`low`, `high`) (Schuirmann 1987).

    Each has the level 5 %. `cluster` (n,) holds independent clusters: the error is that of `means.clustered`, with
    clusters - 1 degrees of freedom; None = differences are independent. Undefined with fewer than two differences; no
    test where all are equal. ValueError if the bounds do not ascend."""
    present = ~np.isnan(differences)
    d = differences[present]
    n = d.size
    if n < 2:
        _ascending(low, high)
        return Equivalence(Estimate.undefined("undefined with fewer than 2 differences", n=n), (low, high))
    group = np.arange(n) if cluster is None else renumbered(cluster[present])
    error, clusters = clustered_error(d, group)
    mean = Estimate(float(d.mean()), n=n, method=None if cluster is None else "clustered by story-prompt")
    if error is None:
        _ascending(low, high)
        return Equivalence(replace(mean, reason="no test: differences for one story-prompt only"), (low, high))
    return tost_of(mean, error, clusters - 1, low, high)


def tost_of(
    difference: Estimate, error: float, df: float, low: float, high: float, *, skew: float = 0.0
) -> Equivalence:
    """Two one-sided t tests of a `difference` with a standard `error`, such as a difference of two correlations.

    `error` has `df` degrees of freedom; 0 (all differences equal) allows no test. `low` and `high` are the smallest
    differences that would matter (ValueError if they do not ascend). `skew` is the skewness of the averaged values
    (such as story-prompts' pseudo-values), divided by the square root of their number. It causes an error of this order
    in each one-sided test, in either direction (Hall 1992, Journal of the Royal Statistical Society B 54, 221-228): the
    more conservative of Student's t and Hall's corrected t is used."""
    from scipy import stats

    _ascending(low, high)
    mean = difference.value
    if mean is None:
        return Equivalence(difference, (low, high))
    if error < 1e-12:
        return Equivalence(replace(difference, reason="no test: the differences are all equal"), (low, high))
    quantile = float(stats.t.ppf(1 - ALPHA, df))
    method = ", ".join(part for part in ("t", difference.method, "90 %") if part)
    below = max(quantile, _uncorrected(quantile, skew))
    above = max(quantile, -_uncorrected(-quantile, skew))
    from_low, from_high = (mean - low) / error, (mean - high) / error
    return Equivalence(
        replace(difference, low=mean - below * error, high=mean + above * error, method=method),
        (low, high),
        p_low=float(stats.t.sf(min(from_low, _corrected(from_low, skew)), df)),
        p_high=float(stats.t.cdf(max(from_high, _corrected(from_high, skew)), df)),
    )


def _corrected(t: float, skew: float) -> float:
    """t after Hall's monotone transformation, which removes the effect of skewness."""
    return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6


def _uncorrected(t: float, skew: float) -> float:
    """Inverse of Hall's transformation."""
    if abs(skew) < 1e-9:
        return t
    return float(3 / skew * (np.cbrt(1 + skew * (t - skew / 6)) - 1))


def _ascending(low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"equivalence bounds must ascend: {low}, {high}")


# Prediction-powered means: mean human ratings from few human and many judge's ratings, unbiased whatever the judge.

# With fewer stories that people rated, the tuned lambda and skewed ratings make the interval too narrow.
FEW = 30


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """Prediction-powered mean, with the mean of the human ratings alone and the mean of the judge's ratings alone.

    `estimate` counts in n stories that people rated. `people` has an interval by the same formula (lambda = 0). `judge`
    is the mean over all stories, without correction; None without a rating. `power` is lambda; None where undefined.
    `both`, `judge_only` and `lost` count stories rated by both, by the judge only, and not by the judge."""

    estimate: Estimate
    people: Estimate
    judge: float | None
    power: float | None
    both: int
    judge_only: int
    lost: int

    @property
    def worth(self) -> float | None:
        """Relative efficiency: the variance of the mean of human ratings alone / that of the prediction-powered mean.

        Above 1, the judge's ratings make the mean more precise; None where a variance is unknown or the second is 0."""
        widths = [None if e.low is None or e.high is None else e.high - e.low for e in (self.people, self.estimate)]
        plain, powered = widths
        return None if plain is None or powered is None or powered == 0.0 else (plain / powered) ** 2


def powered_mean(
    people: Floats, judge: Floats, *, power: float | None = None, small_sample: bool = False
) -> PoweredMean:
    """The mean rating that people would give to all stories, from few human ratings and many ratings by a judge.

    `people` and `judge` (n + N,) have NaN where missing. `power` is lambda, 0 to 1; None = that with the smallest
    variance. `small_sample` uses divisor n - 1 and quantiles of Student's t. Undefined with fewer than two stories
    rated by both, or by the judge only. In the second case the judge adds nothing, and the attribute `people` is the
    result to use.

    Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, Science 382) with power tuning
    (PPI++; Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453): with n stories that people rated and N stories that
    they did not rate,

        mean = lambda * mean(judge, N) + mean(people - lambda * judge, n)
        variance = lambda^2 var(judge, N) / N + var(people - lambda * judge, n) / n

    The method allows any function of the story in the place of the judge's rating. A story without a rating by the
    judge therefore stays in and gets a constant, the mean of the judge's other ratings. If it were left out, and the
    judge declines bad stories more often than good ones, the means would be biased, also the mean of the human ratings
    alone.

    lambda = 1 gives PPI, and lambda = 0 the plain mean of the human ratings. PPI++ takes the lambda with the smallest
    variance, cov(people, judge) / ((1 + n / N) var(judge)), clipped to 0..1. Conventions are those of ppi-python 0.2.3:
    the divisor is n in the variances of the interval and in the covariance, and n + N - 1 in var(judge) over all n + N
    ratings; quantiles are normal. With `small_sample`, the divisor in the variances of the interval is n - 1, and
    quantiles are those of Student's t with n - 1 degrees of freedom. With normal quantiles, 95 % intervals cover only
    93 % where people rated 30 stories. The n stories must be a random sample of all n + N, so the method does not hold
    where raters chose which stories to rate. Stories are taken as independent."""
    judged, rated = ~np.isnan(judge), ~np.isnan(people)
    both, more = int((judged & rated).sum()), int((judged & ~rated).sum())
    counts = (both, more, int((~judged).sum()))
    mean = float(judge[judged].mean()) if judged.any() else float("nan")
    overall = mean if judged.any() else None
    y, n = people[rated], int(rated.sum())
    plain = Estimate.undefined("undefined with fewer than 2 human ratings", n=n)
    if n >= 2:
        plain = _mean(y, y, y, 0.0, small_sample=small_sample)
    if both < 2 or more < 2:
        side = "by both" if both < 2 else "by the judge only"
        reason = f"undefined with fewer than 2 stories rated {side}"
        return PoweredMean(Estimate.undefined(reason, n=n), plain, overall, None, *counts)
    filled = np.where(judged, judge, mean)
    f, rest = filled[rated], filled[~rated]
    tuned = _power(y, f, rest) if power is None else power
    powered = _mean(y, f, rest, tuned, small_sample=small_sample)
    name = f"{'PPI++' if power is None else 'PPI'}, lambda {tuned:.2f}, {powered.method}"
    estimate = replace(powered, method=name)
    return PoweredMean(estimate, plain, overall, tuned, *counts)


def _power(y: Floats, f: Floats, rest: Floats) -> float:
    spread = float(np.concatenate([f, rest]).var(ddof=1))
    if spread < 1e-18:
        return 0.0  # a constant judge says nothing
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(covariance / ((1 + y.size / rest.size) * spread), 0.0, 1.0))


def _mean(y: Floats, f: Floats, rest: Floats, power: float, *, small_sample: bool) -> Estimate:
    """The prediction-powered mean and its interval for a given lambda; `rest` are the judge's other ratings."""
    less = 1 if small_sample else 0
    value, variance = float((y - power * f).mean()), float((y - power * f).var(ddof=less)) / y.size
    if power:
        value += power * float(rest.mean())
        variance += power**2 * float(rest.var(ddof=less)) / rest.size
    from scipy.special import stdtrit

    quantile = float(stdtrit(y.size - 1, 0.975)) if small_sample else Z95
    half = quantile * float(np.sqrt(variance))
    method = f"{'t' if small_sample else 'normal'}, 95 %"
    return Estimate(value, n=y.size, low=value - half, high=value + half, method=method)
