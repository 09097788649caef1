"""Differences between two sides (such as a judge and the raters) that rated the same stories: differences of means and
of rates, and effect sizes.

Every difference is *second minus first*. For each value there is also a function that computes it in bootstrap
resamples (`stats.resampling.bootstrap`). The resamples draw story-prompts as a whole, so that intervals allow for the
dependence of their stories.
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
    """Success rates of two sides (such as two judges) in the same trials, and their difference. A trial is one repeat
    of a query about a story.

    Attributes
    ----------
    first, second : float or None
        Share of trials that succeeded on each side; None where no trial was made.
    difference : Estimate
        Second share minus first, without an interval; its `n` counts trials.
    only_first, only_second : int
        Number of trials that succeeded on the first side only, and on the second side only. These trials are
        called discordant (McNemar's test, 1947).
    discordant : array of bool, shape (n stories,)
        True for each story that has a discordant trial.
    """

    first: float | None
    second: float | None
    difference: Estimate
    only_first: int
    only_second: int
    discordant: Mask

    @classmethod
    def undefined(cls, reason: str, discordant: Mask) -> RateDifference:
        """A `RateDifference` without shares and without a difference, for trials from which no share can be computed.

        Parameters
        ----------
        reason : str
            Why the shares cannot be computed.
        discordant : array of bool, shape (n stories,)
            True for each story that has a discordant trial.
        """
        return cls(None, None, Estimate.undefined(reason), 0, 0, discordant)

    @property
    def h(self) -> Estimate:
        """Cohen's h of the two success rates, second minus first on the arcsine scale. Where no trial was made it is
        undefined, with the reason.
        """
        if self.first is None or self.second is None:
            return Estimate.undefined(self.difference.reason or "nothing was tried")
        return Estimate(cohen_h(self.first, self.second), n=self.difference.n)


def mean_difference(first: Floats, second: Floats) -> Estimate:
    """Mean over stories of the second side's rating minus the first side's.

    Parameters
    ----------
    first, second : array, shape (n,)
        Ratings of the same stories by each of the two sides (such as a judge and the raters), in points of the
        scale; NaN = missing. A story with a missing rating is left out.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined where no story has both ratings.
    """
    d = second - first
    d = d[~np.isnan(d)]
    if d.size == 0:
        return Estimate.undefined("undefined: no story has a rating on both sides")
    return Estimate(float(d.mean()), n=d.size)


def resampled_mean_difference(first: Floats, second: Floats) -> Statistic:
    """A function that computes, in each of b resamples of the stories, the mean of the second side's rating minus the
    first side's. Its argument holds the stories' weights in the resamples, an array of shape (b, n); it returns the
    means, shape (b,).

    A mean is NaN where the resample holds no story that both sides rated.

    Parameters
    ----------
    first, second : array, shape (n,)
        Ratings of the same stories by each of the two sides (such as a judge and the raters), in points of the
        scale; NaN = missing.
    """
    d = second - first
    present = ~np.isnan(d)
    return _ratio(np.where(present, d, 0.0), present.astype(np.float64))


def standardised(first: Floats, second: Floats) -> Estimate:
    """Standardised mean difference d_av (Lakens 2013, equation 10): the mean of the second side's rating minus the
    first side's, divided by the mean of the two sides' standard deviations.

    The standard deviations (divisor n - 1) are those of each side's ratings of the stories that both rated. The
    standard deviation of the differences is not used, because then the effect size would grow with the correlation
    between the sides.

    Parameters
    ----------
    first, second : array, shape (n,)
        Ratings of the same stories by each of the two sides (such as a judge and the raters), in points of the
        scale; NaN = missing. A story with a missing rating is left out.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined with fewer than two stories or where the ratings of
        each side are all equal.
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
    """Success rates of two sides (such as two judges) in the same trials, and their difference, second minus first.

    Parameters
    ----------
    tried : array of bool, shape (n stories, k repeats)
        True for trials (repeats of a query about a story) that both sides made; only these count.
    first, second : array of bool, shape (n stories, k repeats)
        Whether the trial succeeded on each side.

    Returns
    -------
    RateDifference
        Undefined where no trial was made by both sides.
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
    """A function that computes the difference between the success rates of two sides (such as two judges), second minus
    first, in each of b resamples of the stories. Its argument holds the stories' weights in the resamples, an array of
    shape (b, n); it returns the differences, shape (b,).

    Parameters
    ----------
    tried : array of bool, shape (n stories, k repeats)
        True for trials (repeats of a query about a story) that both sides made; only these count.
    first, second : array of bool, shape (n stories, k repeats)
        Whether the trial succeeded on each side.

    Returns
    -------
    callable
        The function. A difference is NaN where the resample holds no trial.
    """
    gain = (second & tried).sum(axis=1) - (first & tried).sum(axis=1)
    return _ratio(gain.astype(np.float64), tried.sum(axis=1).astype(np.float64))


def cohen_h(first: float, second: float) -> float:
    """Cohen's h: 2 asin(sqrt(p2)) - 2 asin(sqrt(p1)) (Cohen 1988, equation 6.2.1), between -pi and pi.

    Parameters
    ----------
    first, second : float
        The shares p1 and p2, 0 to 1.
    """
    return 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))


def _ratio(numerator: Floats, denominator: Floats) -> Statistic:
    def statistic(weights: Weights) -> Floats:
        w = weights.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = (w @ numerator) / (w @ denominator)
        return np.asarray(np.where(np.isfinite(ratio), ratio, np.nan), dtype=np.float64)

    return statistic
