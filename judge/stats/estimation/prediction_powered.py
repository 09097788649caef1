"""Prediction-powered means: few human ratings and many of a judge, unbiased whatever the judge's quality.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, Science 382) with power tuning
(PPI++; Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453): with n stories that people rated and N that they did not,

    mean = lambda * mean(judge, N) + mean(people - lambda * judge, n)
    variance = lambda^2 var(judge, N) / N + var(people - lambda * judge, n) / n

The judge's rating may be any function of the story here, so that a story that the judge lost counts too: with a
constant, the mean of the judge's other ratings. Were such stories left out, a judge that declines bad stories would
make the rest look like all (its losses would depend on what people think), and the means of people alone as well.

lambda = 1 is PPI, 0 the plain mean of the human ratings; PPI++ takes the lambda with the smallest variance,
cov(people, judge) / ((1 + n / N) var(judge)), cut at 0 and 1. Conventions are those of ppi-python 0.2.3: variances of
the interval divide by n, the covariance by n, var(judge) over all n + N ratings by n + N - 1; quantiles are normal.
With `small_sample`, variances of the interval divide by n - 1 and quantiles are Student's t with n - 1 degrees of
freedom, as for any mean of few ratings: normal ones leave 93 % of 95 where people rated 30 stories.
The n stories must be a random sample of all n + N: people who chose what to rate break it. Stories are independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]

_Z95 = 1.959963984540054

FEW = 30
"""With fewer stories that people rated, the tuned lambda and skewed ratings make the interval too narrow."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A prediction-powered mean, with the means from human ratings alone and from the judge alone.

    Attributes
    ----------
    estimate : Estimate
        `n` counts stories that people rated.
    people : Estimate
        Mean of all the human ratings alone, interval by the same formula (lambda = 0).
    judge : float or None
        Mean of the judge's ratings of all stories: what one would print who trusts the judge.
    power : float or None
        lambda.
    both, judge_only : int
        Stories rated by both, and by the judge only.
    lost : int
        Stories without the judge's rating, whether people rated them or not.
    """

    estimate: Estimate
    people: Estimate
    judge: float | None
    power: float | None
    both: int
    judge_only: int
    lost: int

    @property
    def worth(self) -> float | None:
        """Relative efficiency: variance of the mean of human ratings alone / variance of this estimate."""
        widths = [None if e.low is None or e.high is None else e.high - e.low for e in (self.people, self.estimate)]
        plain, powered = widths
        return None if plain is None or powered is None or powered == 0.0 else (plain / powered) ** 2


def powered_mean(
    people: Floats, judge: Floats, *, power: float | None = None, small_sample: bool = False
) -> PoweredMean:
    """Mean rating that people would give to all stories.

    Parameters
    ----------
    people, judge : array, shape (n + N,)
        NaN = missing. A story without the judge's rating counts with the mean of its other ratings.
    power : float, optional
        lambda; None = tuned.
    small_sample : bool
        See the module.

    Returns
    -------
    PoweredMean
        Undefined without two stories rated by both, or without two rated by the judge only: then there is nothing to
        gain and `people` is the answer.
    """
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
    """The formula of the module for a given lambda."""
    less = 1 if small_sample else 0
    value, variance = float((y - power * f).mean()), float((y - power * f).var(ddof=less)) / y.size
    if power:
        value += power * float(rest.mean())
        variance += power**2 * float(rest.var(ddof=less)) / rest.size
    quantile = float(special.stdtrit(y.size - 1, 0.975)) if small_sample else _Z95
    half = quantile * float(np.sqrt(variance))
    method = f"{'t' if small_sample else 'normal'}, 95 %"
    return Estimate(value, n=y.size, low=value - half, high=value + half, method=method)
