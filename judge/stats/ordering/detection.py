"""Detection rate: how often a judge rates a story above its perturbed version.

Detection rate = share of pairs in which the untouched story has the higher rating; a tie counts one half. With q =
wins/n - losses/n it is (1 + q) / 2, so its interval is that of a difference of two paired shares: Tango's score
interval (1998, Statistics in Medicine 17), which keeps its coverage near 0 and 1, with many ties and with few pairs.
Without ties it equals Wilson's interval.

Where story-prompts have several pairs, the counts are divided by the design effect (variance over clusters / variance
as if independent, at least one half), and the quantile is Student's with clusters - 1 degrees of freedom, since the
design effect is estimated. With one pair per story-prompt there is no design effect to estimate, and the quantile is
normal. Where all pairs have the same outcome the design effect cannot be estimated, and each story-prompt counts as one
pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import CONFIDENCE, Estimate

_SAME = 1e-9
_STEPS = 36
_LEAST_EFFECT = 0.5


@dataclass(frozen=True, slots=True)
class Detection:
    """Detection rate: share of pairs in which a judge rated the untouched story above the changed one; a tie is a half.

    `wins`, `ties` and `losses` count pairs in which the untouched story has the higher, an equal, and the lower rating.
    `p` is two-sided, of the hypothesis that the share is one half; `p_raised` one-sided, small where the change raises
    ratings. Both are None where `estimate` has no interval."""

    estimate: Estimate
    wins: int
    ties: int
    losses: int
    p: float | None = None
    p_raised: float | None = None


def credit(difference: Floats) -> Floats:
    """1 where the untouched story has the higher rating, one half for a tie (to 1e-9), else 0.

    `difference` is the rating of the untouched story minus that of the changed one; NaN = no pair, whose credit is NaN.
    """
    sign = np.where(np.abs(difference) <= _SAME, 0.0, np.sign(difference))
    return np.asarray((1 + sign) / 2, dtype=np.float64)


def detection(difference: Floats, cluster: Codes) -> Detection:
    """Detection rate of a judge with Tango's (1998) score interval; undefined without a pair.

    `difference` (n,) is as in `credit`, and `cluster` (n,) holds story-prompts. With one story-prompt only there is no
    interval and no p, but a reason."""
    present = ~np.isnan(difference)
    won = credit(difference[present])
    if not won.size:
        return Detection(Estimate.undefined("undefined without a pair of rated stories"), 0, 0, 0)
    wins, losses = int((won == 1).sum()), int((won == 0).sum())
    counts = (wins, won.size - wins - losses, losses)
    value = float(won.mean())
    group = renumbered(cluster[present])
    clusters = int(group.max()) + 1
    if clusters < 2:
        return Detection(Estimate(value, n=won.size, reason="no interval: pairs of one story-prompt only"), *counts)
    interval = intervals(won[None, :], group)
    size = "one pair a story-prompt" if clusters == won.size else f"effective n {interval.effective[0]:.1f}"
    law = "normal" if clusters == won.size else f"t over {clusters} story-prompts"
    method = f"score (Tango), {size}, {law}, 95 %"
    # Rounding must not leave a share of exactly 0 or 1 outside its own interval.
    low, high = min(float(interval.low[0]), value), max(float(interval.high[0]), value)
    estimate = Estimate(value, n=won.size, low=low, high=high, method=method)
    return Detection(estimate, *counts, p=float(interval.p[0]), p_raised=float(interval.p_raised[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Intervals and tests of the mean credit in s samples of pairs (`credit`); every array has shape (s,).

    `p` is two-sided, of the hypothesis that the mean credit is one half; `p_raised` one-sided, small where it is below.
    `effective` is the effective number of independent pairs."""

    low: Floats
    high: Floats
    p: Floats
    p_raised: Floats
    effective: Floats


def intervals(samples: Floats, group: Codes) -> Intervals:
    """Intervals of the mean credit of s samples of n pairs, and tests that it is one half.

    `samples` (s, n) are credits, without NaN; `group` (n,) holds clusters (story-prompts) 0..g-1, g at least 2."""
    n, clusters = samples.shape[1], int(group.max()) + 1
    effective = n / _design_effect(samples, group, clusters)
    wins, losses = (samples == 1).mean(axis=1) * effective, (samples == 0).mean(axis=1) * effective
    plain = clusters == n
    level = 0.5 + CONFIDENCE / 2
    quantile = float(special.ndtri(level) if plain else special.stdtrit(clusters - 1, level))
    low, high = (_end(wins, losses, effective, quantile, way) for way in (-1.0, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.nan_to_num((losses - wins) / np.sqrt(wins + losses))
    above, beyond = (
        special.ndtr(-distance) if plain else special.stdtr(clusters - 1, -distance)
        for distance in (statistic, np.abs(statistic))
    )
    return Intervals((1 + low) / 2, (1 + high) / 2, np.minimum(2 * beyond, 1.0), above, effective)


def _design_effect(samples: Floats, group: Codes, clusters: int) -> Floats:
    """Variance of each sample's mean over clusters / that of as many independent pairs, at least one half."""
    n = samples.shape[1]
    if clusters == n:
        return np.ones(samples.shape[0])
    rest = samples - samples.mean(axis=1, keepdims=True)
    member = (group[:, None] == np.arange(clusters)[None, :]).astype(np.float64)
    over = clusters / (clusters - 1) * ((rest @ member) ** 2).sum(axis=1)
    alone = (rest**2).sum(axis=1) * n / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = np.where(alone > _SAME, over / alone, n / clusters)
    return np.asarray(np.maximum(effect, _LEAST_EFFECT), dtype=np.float64)


def _end(wins: Floats, losses: Floats, n: Floats, quantile: float, way: float) -> Floats:
    """Lower (`way` -1) or upper (1) limit of the score interval of (wins - losses) / n, by bisection."""
    inside, outside = (wins - losses) / n, np.full(n.shape, way)
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        distance = wins - losses - n * middle
        kept = distance**2 <= quantile**2 * _variance(wins, losses, n, middle)
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return outside


def _variance(wins: Floats, losses: Floats, n: Floats, q: Floats) -> Floats:
    """Variance of wins - losses if their shares, by maximum likelihood, differ by q (Tango 1998, eq. 7)."""
    b = (2 * n - wins + losses) * q - wins - losses
    c = -losses * q * (1 - q)
    share = (np.sqrt(np.maximum(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    return np.asarray(np.maximum(n * (2 * share + q * (1 - q)), 0.0), dtype=np.float64)
