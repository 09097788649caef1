"""Differences between two sides (such as a judge and the raters) that rated the same stories, *second minus first*.

Each has a function that computes it in bootstrap resamples (`stats.resampling.bootstrap`) of whole story-prompts, so
that intervals allow for the dependence of their stories.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Weights = NDArray[np.int64]
Statistic = Callable[[Weights], Floats]

_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RateDifference:
    """Success rates of two sides (such as two judges) in the same trials (repeats of a query about a story).

    `first` and `second` are shares, None without a trial; `difference` is second minus first, n counts trials.
    `only_first` and `only_second` count trials that succeeded on one side only, called discordant (McNemar's test,
    1947); `discordant` (n stories,) marks stories that have one.
    """

    first: float | None
    second: float | None
    difference: Estimate
    only_first: int
    only_second: int
    discordant: Mask

    @classmethod
    def undefined(cls, reason: str, discordant: Mask) -> RateDifference:
        """Trials from which no share can be computed, for a `reason`; `discordant` as in the class."""
        return cls(None, None, Estimate.undefined(reason), 0, 0, discordant)

    @property
    def h(self) -> Estimate:
        """Cohen's h of the two success rates, second minus first on the arcsine scale; undefined without a trial."""
        if self.first is None or self.second is None:
            return Estimate.undefined(self.difference.reason or "nothing was tried")
        return Estimate(cohen_h(self.first, self.second), n=self.difference.n)


def mean_difference(first: Floats, second: Floats) -> Estimate:
    """Mean of `second` minus `first` (n,), ratings of the same stories; n counts the pairs without a NaN."""
    d = second - first
    d = d[~np.isnan(d)]
    if d.size == 0:
        return Estimate.undefined("undefined: no story has a rating on both sides")
    return Estimate(float(d.mean()), n=d.size)


def resampled_mean_difference(first: Floats, second: Floats) -> Statistic:
    """A function from weights (b, n) to the `mean_difference` of `first` and `second` in b resamples, (b,)."""
    d = second - first
    present = ~np.isnan(d)
    return _ratio(np.where(present, d, 0.0), present.astype(np.float64))


def standardised(first: Floats, second: Floats) -> Estimate:
    """Standardised mean difference d_av of `second` minus `first` (n,) (Lakens 2013, equation 10).

    The mean difference is divided by the mean of both sides' standard deviations (divisor n - 1) over the stories that
    both rated. The standard deviation of the differences is not used, because then the effect size would grow with the
    correlation between the sides. Undefined with fewer than two stories or where each side's ratings are all equal.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    x, y = first[both], second[both]
    if x.size < 2:
        return Estimate.undefined("undefined with fewer than 2 stories", n=x.size)
    spread = float(x.std(ddof=1) + y.std(ddof=1)) / 2
    if spread < _SAME:
        return Estimate.undefined("undefined because both sides' ratings are all equal", n=x.size)
    return Estimate(float((y - x).mean()) / spread, n=x.size)


def rate_difference(tried: Mask, first: Mask, second: Mask) -> RateDifference:
    """Success rates of two sides in the same trials, and their difference; undefined where no trial was made by both.

    `tried` (n stories, k repeats) marks trials that both made, only these count; `first` and `second` mark successes.
    """
    first, second = first & tried, second & tried
    trials = int(tried.sum())
    alone, other = first & ~second, second & ~first
    discordant = np.asarray((alone | other).any(axis=1), dtype=np.bool_)
    if trials == 0:
        return RateDifference.undefined("undefined: no request was made on both sides", discordant)
    shares = float(first.sum()) / trials, float(second.sum()) / trials
    difference = Estimate((int(second.sum()) - int(first.sum())) / trials, n=trials)
    return RateDifference(*shares, difference, int(alone.sum()), int(other.sum()), discordant)


def resampled_rate_difference(tried: Mask, first: Mask, second: Mask) -> Statistic:
    """A function from weights (b, n) to the difference of success rates in b resamples, (b,); NaN without a trial.

    `tried`, `first` and `second` are as in `rate_difference`.
    """
    gain = (second & tried).sum(axis=1) - (first & tried).sum(axis=1)
    return _ratio(gain.astype(np.float64), tried.sum(axis=1).astype(np.float64))


def cohen_h(first: float, second: float) -> float:
    """2 asin(sqrt(p2)) - 2 asin(sqrt(p1)) of shares `first` p1 and `second` p2 (Cohen 1988, equation 6.2.1)."""
    return 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))


def _ratio(numerator: Floats, denominator: Floats) -> Statistic:
    def statistic(weights: Weights) -> Floats:
        w = weights.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = (w @ numerator) / (w @ denominator)
        return np.asarray(np.where(np.isfinite(ratio), ratio, np.nan), dtype=np.float64)

    return statistic
