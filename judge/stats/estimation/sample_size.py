"""Sample size: the number of story-prompts that an interval, test or equivalence test needs, from a pilot.

A smooth statistic of stories clustered by story-prompt (a tau-b, or a difference of two tau-b) has standard error s /
sqrt(G) over G story-prompts, where s, the *spread*, is the standard deviation of the story-prompts' jackknife
pseudo-values (Efron & Tibshirani 1993, chapter 11). With Student's t of G - 1 degrees of freedom

- the half-width of the 95 % interval is t(.975) s / sqrt(G);
- a test detects a difference d with the wanted power where d >= (t(.975) + t(power)) s / sqrt(G) (Bloom 1995,
  Evaluation Review 19; `power.minimum_detectable_effect`);
- two one-sided tests show a difference d to lie within a margin m where m - |d| >= (t(.95) + t(power)) s /
  sqrt(G). With d = 0 both tests can fail, and t(1 - (1 - power) / 2) takes the place of t(power) (Chow, Shao &
  Wang 2008, Sample Size Calculations in Clinical Research, section 3.2.3).

The estimate of s² from a pilot of G story-prompts has the sampling variance (k / G - (G - 3) / (G (G - 1))) s⁴, where k
is the kurtosis of the pseudo-values (Mood, Graybill & Boes 1974, chapter VI, theorem 2). Each number of story-prompts
is given with a range, which comes from the limits of s: s² is taken to follow a scaled chi-squared distribution with
that variance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import ALPHA, CONFIDENCE, Estimate
from judge.stats.estimation import means
from judge.stats.estimation.proportions import wilson_of_share

# Precision of a mean over stories clustered by story-prompt (`means.clustered`), and the minimum detectable effect.


@dataclass(frozen=True, slots=True)
class Precision:
    """Mean of clustered values with its standard errors and effective sample size.

    `mean` counts in n the values used. `se` is clustered, `se_independent` as if all were independent; None for fewer
    than 2 clusters or values. `effective_n` independent values would give `se`; None where either error is 0 or does
    not exist."""

    mean: Estimate
    se: float | None
    se_independent: float | None
    clusters: int
    effective_n: float | None


def precision(values: Floats, cluster: Codes) -> Precision:
    """Mean of values (e.g. ratings of a system's stories, or paired differences) with its precision under clustering.

    `values` (n,) has NaN where missing, left out; `cluster` (n,) holds any codes of story-prompts. `effective_n`
    exceeds the number of values if values of the same cluster differ more than those of different clusters do."""
    present = ~np.isnan(values)
    y = values[present]
    group = renumbered(cluster[present])
    mean = means.clustered(y, group)
    if y.size < 2:
        return Precision(mean, None, None, int(y.size), None)
    independent = float(y.std(ddof=1) / np.sqrt(y.size))
    se, clusters = means.clustered_error(y, group)
    # The ratio of two standard errors that are rounding noise would be arbitrary.
    tiny = 1e-12 * max(1.0, float(np.abs(y).max()))
    if se is None or se <= tiny or independent <= tiny:
        return Precision(mean, se, independent, clusters, None)
    return Precision(mean, se, independent, clusters, effective_n(y.size, independent, se))


def clustered_proportion(hits: Floats, cluster: Codes) -> Estimate:
    """Proportion of stories with a property, with Wilson's interval for clusters: effective n, and t with G - 1 df.

    `hits` (n,) is 1 with the property, 0 without, NaN = missing, left out; `cluster` (n,) holds story-prompts; This
    interval keeps its coverage in cluster samples for proportions near 0 and 1 (Franco, Little, Louis & Slud 2019,
    Journal of Survey Statistics and Methodology 7). Where all values are equal the effective n cannot be estimated, and
    the number of clusters is used instead. Undefined without values; no interval with fewer than 2 clusters."""
    estimate = precision(hits, cluster)
    if estimate.mean.value is None or estimate.clusters < 2:
        return estimate.mean
    constant = estimate.se_independent == 0
    n = float(estimate.clusters) if constant else min(estimate.effective_n or np.inf, float(estimate.mean.n))
    low, high = wilson_of_share(
        estimate.mean.value, n, float(special.stdtrit(estimate.clusters - 1, 0.5 + CONFIDENCE / 2))
    )
    method = f"Wilson, effective n {n:.1f}, t over {estimate.clusters} story-prompts, 95 %"
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
    not above alpha / 2 (alpha, one-sided)."""
    share = alpha / 2 if two_sided else alpha
    if not (0 < alpha < 1 and share < power < 1):
        above = "alpha / 2" if two_sided else "alpha"
        raise ValueError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, power above {above}")
    quantiles = special.ndtri((1 - share, power)) if df is None else special.stdtrit(df, (1 - share, power))
    return float((quantiles[0] + quantiles[1]) * se)


# No number of story-prompts beyond this is given.
MOST = 100_000

# With fewer story-prompts there are no intervals.
FEWEST = 5

# What a range leaves out below and above.
RANGE = (0.1, 0.9)


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a statistic over story-prompts in a pilot, which gives the standard error for any number of them.

    `value` is the standard deviation of the story-prompts' jackknife pseudo-values; the standard error over G
    story-prompts is value / sqrt(G). `df` are those of the chi-squared distribution that describes the sampling error
    of value²; infinite where value² counts as known. `clusters` counts the pilot's story-prompts. `effective` are the
    degrees of freedom of a test that uses this spread: `clusters` - 1, or fewer if a few story-prompts carry most of
    the variance (`jackknife.with_jackknife`). Two judges were simulated whose true taus differ by exactly the margin,
    with 96 story-prompts. An equivalence test at level 5 % with 95 degrees of freedom found them equivalent in 5.5 % of
    the studies, and with these degrees of freedom in 5.0 %. `skew` is the pseudo-values' skewness divided by the square
    root of their number; the error in the level of a one-sided test is of this order."""

    value: float
    df: float
    clusters: int
    effective: float = math.inf
    skew: float = 0.0

    @property
    def error(self) -> float:
        """Standard error of the statistic over the story-prompts of the pilot."""
        return self.value / math.sqrt(self.clusters)

    def at(self, share: float) -> float:
        """The value below which the true spread lies with probability `share` (chi-squared with `df`)."""
        if math.isinf(self.df):
            return self.value
        return self.value * math.sqrt(self.df / float(special.chdtri(self.df, share)))


@dataclass(frozen=True, slots=True)
class Number:
    """Number of story-prompts (or other units) needed, with its 10 % and 90 % limits; None = above any tried."""

    value: int | None
    low: int | None
    high: int | None

    @property
    def range(self) -> str:
        """The range between the limits as text; ∞ stands for a limit above `MOST`."""
        low, high = ("∞" if end is None else f"{end:,}" for end in (self.low, self.high))
        return low if low == high else f"{low}-{high}"


def spread(left_out: Floats) -> Spread | None:
    """The spread of a statistic from `left_out` (G,), its values without each story-prompt in turn; NaN = undefined.

    None with fewer than 5 story-prompts, where `left_out` holds NaN, and where its values do not vary."""
    clusters = left_out.size
    if clusters < FEWEST or not np.isfinite(left_out).all():
        return None
    deviation = left_out - left_out.mean()
    square = float(deviation @ deviation)
    if square < 1e-18:
        return None
    kurtosis = float((deviation**4).mean() / (square / clusters) ** 2)
    relative = kurtosis / clusters - (clusters - 3) / (clusters * (clusters - 1))
    freedom = 2 / relative if relative > 0 else math.inf
    effective = min(clusters / kurtosis, clusters - 1.0)
    # A statistic is low without a story-prompt that raises it: pseudo-values have the other sign.
    skew = float(-(deviation**3).mean() / (square / clusters) ** 1.5) / math.sqrt(clusters)
    return Spread(math.sqrt((clusters - 1) * square), freedom, clusters, effective, skew)


def half_width(spread: Spread, clusters: int) -> float:
    """Half-width of the 95 % interval with `clusters` story-prompts (2 or more), from a pilot's `spread`."""
    return _t(clusters, 0.5 + CONFIDENCE / 2) * spread.value / math.sqrt(clusters)


def for_half_width(spread: Spread, half_width: float) -> Number:
    """Number of story-prompts for a 95 % interval with this `half_width`, by the `spread` of a pilot."""
    return _ranged(spread, lambda s: fewest(lambda g: _t(g, 0.5 + CONFIDENCE / 2) * s / math.sqrt(g) <= half_width))


def for_difference(spread: Spread, difference: float, *, power: float = 0.8) -> Number:
    """Number of story-prompts for which a two-sided test detects a true `difference` with the wanted `power`.

    `spread` is that of the difference in a pilot (Bloom 1995). ValueError if `power` is not between `ALPHA` / 2 and 1.
    """
    if not ALPHA / 2 < power < 1:
        raise ValueError(f"alpha {ALPHA:g} and power {power:g} must lie between 0 and 1, power above alpha / 2")

    def enough(s: float, g: int) -> bool:
        return (_t(g, 1 - ALPHA / 2) + _t(g, power)) * s / math.sqrt(g) <= abs(difference)

    return _ranged(spread, lambda s: fewest(lambda g: enough(s, g)))


def for_equivalence(spread: Spread, difference: float, margin: float, *, power: float = 0.8) -> Number:
    """Number of story-prompts that show, with the wanted `power`, whether a true `difference` lies within the `margin`.

    `spread` is that of the difference in a pilot. Two one-sided tests must show that the difference lies inside the
    margin, or one that it lies outside. Fields are None where the difference equals the margin, because then no number
    suffices."""
    room = abs(margin - abs(difference))
    inside = abs(difference) < margin

    def enough(s: float, g: int) -> bool:
        error = s / math.sqrt(g)
        if inside:
            return tost_power(difference, error, margin, g - 1) >= power
        return (_t(g, 1 - ALPHA) + _t(g, power)) * error <= room

    return _ranged(spread, lambda s: fewest(lambda g: enough(s, g)))


def tost_power(difference: float, error: float, margin: float, df: int) -> float:
    """Approximate power of two one-sided t tests to show that a `difference` lies within the `margin`.

    `error` is its standard error, with `df` degrees of freedom. Approximated by a t distribution centred at the true
    difference (Chow, Shao & Wang 2008, section 3.2.3)."""
    critical = float(special.stdtrit(df, 1 - ALPHA))
    above, below = ((margin - sign * difference) / error - critical for sign in (1, -1))
    return max(0.0, float(special.stdtr(df, above) + special.stdtr(df, below) - 1))


def fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number, from 5 to `MOST`, for which `enough`, which must be monotone, is true; None without one."""
    high = FEWEST
    while not enough(high):
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    low = max(FEWEST - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _ranged(pilot: Spread, number: Callable[[float], int | None]) -> Number:
    # A small s² goes with a large chi-squared: the 10 % end is at its upper tail, which chdtri takes.
    return Number(number(pilot.value), number(pilot.at(RANGE[0])), number(pilot.at(RANGE[1])))


def _t(clusters: int, share: float) -> float:
    return float(special.stdtrit(clusters - 1, share))
