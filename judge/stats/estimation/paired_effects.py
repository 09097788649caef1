"""Differences between two sides that rated the same stories: means, rates, effect sizes.

Every difference is *second minus first*. Values come with a function from resampling weights to the same value in each
resample (`stats.resampling.bootstrap`), so that an interval can respect that stories share story-prompts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Weights = NDArray[np.int64]
Statistic = Callable[[Weights], Floats]

_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RateDifference:
    """Difference between two shares of the same trials.

    Attributes
    ----------
    first, second : float or None
        Shares; None where nothing was tried.
    difference : Estimate
        Second minus first, without an interval; n counts trials.
    only_first, only_second : int
        Discordant trials: those that succeeded on one side only (the counts of McNemar's test, 1947).
    discordant : array of bool, shape (n,)
        Stories with a discordant trial.
    """

    first: float | None
    second: float | None
    difference: Estimate
    only_first: int
    only_second: int
    discordant: Mask

    @classmethod
    def undefined(cls, reason: str, discordant: Mask) -> RateDifference:
        """A difference of shares that are unknown.

        Parameters
        ----------
        reason : str
            Why they are not known.
        discordant : array of bool, shape (n,)
            Stories with a discordant trial.
        """
        return cls(None, None, Estimate.undefined(reason), 0, 0, discordant)

    @property
    def h(self) -> Estimate:
        """Cohen's h of the two shares."""
        if self.first is None or self.second is None:
            return Estimate.undefined(self.difference.reason or "nothing was tried")
        return Estimate(cohen_h(self.first, self.second), n=self.difference.n)


def mean_difference(first: Floats, second: Floats) -> Estimate:
    """Mean of second minus first over stories with both.

    Parameters
    ----------
    first, second : array, shape (n,)
        Ratings of each side, in points of the scale; NaN = missing, left out pairwise.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined without a story that has both.
    """
    d = second - first
    d = d[~np.isnan(d)]
    if d.size == 0:
        return Estimate.undefined("undefined: no story has a rating on both sides")
    return Estimate(float(d.mean()), n=d.size)


def resampled_mean_difference(first: Floats, second: Floats) -> Statistic:
    """A function from weights (b, n) to the mean difference in each resample, shape (b,); NaN where none was drawn.

    Parameters
    ----------
    first, second
        As for `mean_difference`.
    """
    d = second - first
    present = ~np.isnan(d)
    return _ratio(np.where(present, d, 0.0), present.astype(np.float64))


def standardised(first: Floats, second: Floats) -> Estimate:
    """Mean difference over the mean of the two sides' standard deviations: d_av (Lakens 2013, equation 10).

    The deviations are those of the sides' ratings of stories with both (n - 1), not of the differences, so that the
    size does not grow with the correlation of the sides.

    Parameters
    ----------
    first, second
        As for `mean_difference`.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined with fewer than two stories or where both sides are constant.
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
    """Difference between the shares of trials that succeeded on each side.

    Parameters
    ----------
    tried : array of bool, shape (n stories, k repeats)
        Trials that both sides made: only these count.
    first, second : array of bool, shape (n stories, k repeats)
        Whether the trial succeeded on each side.

    Returns
    -------
    RateDifference
        Undefined where nothing was tried.
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
    """A function from weights (b, n) of stories to the difference of shares in each resample, shape (b,).

    Parameters
    ----------
    tried, first, second
        As for `rate_difference`.

    Returns
    -------
    callable
        NaN where no trial was drawn.
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
