"""Proportions with Wilson's score interval."""

from __future__ import annotations

import math

from judge.base.estimate import Estimate

_Z95 = 1.959963984540054


def wilson(successes: float, n: int, *, z: float = _Z95) -> Estimate:
    """A share with Wilson's (1927) score interval, for independent trials.

    (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). For stories that are clustered by story-prompt use
    `power.clustered_proportion`.

    Parameters
    ----------
    successes : float
        Number of successful trials. A tie may count one half: its variance is below the binomial variance, so the
        interval is conservative.
    n : int
        Number of trials.
    z : float
        Normal quantile; 1.96, for 95 %, by default.

    Returns
    -------
    Estimate
        `n` counts trials. Undefined without a trial.
    """
    if n == 0:
        return Estimate.undefined("a share of nothing")
    low, high = wilson_of_share(successes / n, n, z)
    return Estimate(successes / n, n=n, low=low, high=high, method="Wilson, 95 %")


def wilson_of_share(p: float, n: float, z: float) -> tuple[float, float]:
    """Lower and upper limit of Wilson's (1927) score interval of a share.

    (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    p : float
        The share, 0 to 1.
    n : float
        Number of trials, above 0; it may be an effective number.
    z : float
        Quantile of the normal or t distribution.

    Returns
    -------
    low, high : float
        Limits of the interval, between 0 and 1.
    """
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
