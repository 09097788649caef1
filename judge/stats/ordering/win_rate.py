"""Win rate: how often the better story of a pair gets the higher rating."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.shares.proportion import wilson

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class WinRate:
    """Share of pairs in which the better story got the higher rating, a tie counting one half."""

    estimate: Estimate
    wins: int
    ties: int
    losses: int


def win_rate(difference: NDArray[np.float64], cluster: NDArray[np.int64] | None = None) -> WinRate:
    """Win rate of the better story in pairs of stories: (wins + ties / 2) / pairs, where a win is a higher rating.

    `difference` (n pairs,) is the better story's rating minus the worse one's; NaN is left out, and closer to 0 than
    1e-9 it is a tie. `cluster` (n,) gives the interval of `mean_share`; None = pairs are independent, and the interval
    is Wilson's. Undefined without a pair.
    """
    defined = ~np.isnan(difference)
    d = difference[defined]
    wins, losses = int((d > _SAME).sum()), int((d < -_SAME).sum())
    ties = d.size - wins - losses
    if not d.size:
        return WinRate(Estimate.undefined("undefined without a pair of rated stories"), 0, 0, 0)
    if cluster is None:
        return WinRate(wilson(wins + ties / 2, d.size), wins, ties, losses)
    credit = np.where(d > _SAME, 1.0, np.where(d < -_SAME, 0.0, 0.5))
    group = np.unique(cluster[defined], return_inverse=True)[1].reshape(-1)
    return WinRate(mean_share(credit, group, alone="pairs of one story-prompt only"), wins, ties, losses)


def mean_share(
    shares: NDArray[np.float64], cluster: NDArray[np.int64], *, alone: str = "one story-prompt only"
) -> Estimate:
    """Mean of `shares` (n,), NaN left out, with the interval of `means.clustered` over `cluster` (n,), clipped to 0..1.

    Where the story-prompts do not differ, their variance is 0, and the interval is Wilson's with one trial per
    story-prompt. `alone` is the reason for the missing interval where there is only one.
    """
    estimate = means.clustered(shares, cluster, bounds=means.SHARE)
    if estimate.value is None:
        return estimate
    if estimate.low is None or estimate.high is None:
        return replace(estimate, reason=f"no interval: {alone}")
    if estimate.high - estimate.low < _SAME:
        clusters = np.unique(cluster[~np.isnan(shares)]).size
        plain = wilson(estimate.value * clusters, clusters)
        method = f"Wilson, one trial a story-prompt ({clusters}), 95 %"
        return replace(estimate, low=plain.low, high=plain.high, method=method)
    return estimate
