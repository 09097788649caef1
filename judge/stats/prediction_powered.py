"""A mean from few human ratings and many of a judge, unbiased whatever the judge's quality. Never trusts the judge.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, Science 382) with power tuning
(PPI++; Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453): with n stories rated by both and N by the judge only,

    mean = lambda * mean(judge, N) + mean(people - lambda * judge, n)
    variance = lambda^2 var(judge, N) / N + var(people - lambda * judge, n) / n

lambda = 1 is PPI, 0 the plain mean of the human ratings; PPI++ takes the lambda with the smallest variance,
cov(people, judge) / ((1 + n / N) var(judge)), cut at 0 and 1. Conventions are those of ppi-python 0.2.3: variances of
the interval divide by n, the covariance by n, var(judge) over all n + N ratings by n + N - 1; quantiles are normal.
The n stories must be a random sample of all: people who chose what to rate break it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]

_Z95 = 1.959963984540054

FEW = 30
"""With fewer stories rated by both, normal quantiles make the interval too narrow."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A prediction-powered mean beside those that use one side only.

    Attributes
    ----------
    estimate : Estimate
        `n` counts stories rated by both.
    people : Estimate
        Mean of the human ratings alone, interval by the same formula (lambda = 0).
    judge : float or None
        Mean of the judge's ratings of all stories: what one would print who trusts the judge.
    power : float or None
        lambda.
    both, judge_only : int
        n and N.
    """

    estimate: Estimate
    people: Estimate
    judge: float | None
    power: float | None
    both: int
    judge_only: int

    @property
    def worth(self) -> float | None:
        """How many human ratings one of these is worth: variance of the plain mean / variance of this one."""
        widths = [None if e.low is None or e.high is None else e.high - e.low for e in (self.people, self.estimate)]
        plain, powered = widths
        return None if plain is None or powered is None or powered == 0.0 else (plain / powered) ** 2


def powered_mean(people: Floats, judge: Floats, *, power: float | None = None) -> PoweredMean:
    """Mean rating that people would give to all stories.

    Parameters
    ----------
    people, judge : array, shape (n + N,)
        NaN = missing. A story without the judge's rating is left out, also where people rated it.
    power : float, optional
        lambda; None = tuned.

    Returns
    -------
    PoweredMean
        Undefined without two stories rated by both, or without two rated by the judge only: then there is nothing to
        gain and `people` is the answer.
    """
    judged = ~np.isnan(judge)
    both = judged & ~np.isnan(people)
    y, f, rest = people[both], judge[both], judge[judged & ~both]
    n, more = y.size, rest.size
    overall = float(judge[judged].mean()) if judged.any() else None
    plain = _mean(y, f, rest, 0.0) if n >= 2 else Estimate.undefined("undefined with fewer than 2 human ratings", n=n)
    if n < 2 or more < 2:
        side = "by both" if n < 2 else "by the judge only"
        reason = f"undefined with fewer than 2 stories rated {side}"
        return PoweredMean(Estimate.undefined(reason, n=n), plain, overall, None, n, more)
    tuned = _power(y, f, rest) if power is None else power
    name = f"{'PPI++' if power is None else 'PPI'}, lambda {tuned:.2f}, normal, 95 %"
    estimate = replace(_mean(y, f, rest, tuned), method=name)
    return PoweredMean(estimate, plain, overall, tuned, n, more)


def _power(y: Floats, f: Floats, rest: Floats) -> float:
    spread = float(np.concatenate([f, rest]).var(ddof=1))
    if spread < 1e-18:
        return 0.0  # a constant judge says nothing
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(covariance / ((1 + y.size / rest.size) * spread), 0.0, 1.0))


def _mean(y: Floats, f: Floats, rest: Floats, power: float) -> Estimate:
    """The formula of the module for a given lambda."""
    value, variance = float((y - power * f).mean()), float((y - power * f).var()) / y.size
    if power:
        value += power * float(rest.mean())
        variance += power**2 * float(rest.var()) / rest.size
    half = _Z95 * float(np.sqrt(variance))
    return Estimate(value, n=y.size, low=value - half, high=value + half, method="normal, 95 %")
