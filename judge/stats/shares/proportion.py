"""Proportions with Wilson's score interval."""

from __future__ import annotations

import math

from judge.base.estimate import Estimate

_Z95 = 1.959963984540054


def wilson(successes: float, n: int, *, z: float = _Z95) -> Estimate:
    """A share of `n` independent trials with Wilson's (1927) score interval; undefined without a trial.

    Of the `successes` a tie may count one half: its variance is below the binomial variance, so the interval is
    conservative. `z` is the normal quantile. For clustered stories use `power.clustered_proportion`.
    """
    if n == 0:
        return Estimate.undefined("a share of nothing")
    low, high = wilson_of_share(successes / n, n, z)
    return Estimate(successes / n, n=n, low=low, high=high, method="Wilson, 95 %")


def wilson_of_share(p: float, n: float, z: float) -> tuple[float, float]:
    """Limits of Wilson's (1927) score interval of a share `p`: (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    `n` trials, above 0, may be an effective number; `z` is a quantile of the normal or t distribution.
    """
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
