"""Proportions with Wilson's intervals."""

from __future__ import annotations

import math

from judge.stats.estimate import Estimate

_Z95 = 1.959963984540054


def wilson(successes: float, n: int, *, z: float = _Z95) -> Estimate:
    """A share with Wilson's (1927) score interval, for independent trials; undefined for n = 0.

    (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n); z defaults to 95 %. Half
    successes (ties) are allowed: their true variance is below the binomial one, so the interval errs on the wide side.
    For stories that share story-prompts: `power.clustered_proportion`.
    """
    if n == 0:
        return Estimate.undefined("a share of nothing")
    low, high = wilson_of_share(successes / n, n, z)
    return Estimate(successes / n, n=n, low=low, high=high, method="Wilson, 95 %")


def wilson_of_share(p: float, n: float, z: float) -> tuple[float, float]:
    """Ends of the score interval of a share p of n > 0 trials (n may be an effective number) for a quantile z.

    (p + z²/2n +- z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    """
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
