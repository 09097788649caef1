"""Ranks of systems with their uncertainty, and groups of systems whose difference is not significant.

Rank 1 is the highest mean; equal means (to 1e-9) share the better rank. There are two kinds of intervals of a rank:
percentiles of the rank over resamples, and the set of ranks that are consistent with the significant differences."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, Masks, renumbered
from judge.base.estimate import CONFIDENCE, Estimate
from judge.stats import near_ties
from judge.stats.estimation import means
from judge.stats.estimation.proportions import wilson
from judge.stats.resampling.bootstrap import DEGENERATE

# Win rate: how often the better story of a pair gets the higher rating.

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class WinRate:
    """Share of pairs in which the better story got the higher rating, a tie counting one half."""

    estimate: Estimate
    wins: int
    ties: int
    losses: int


def win_rate(difference: Floats, cluster: Codes | None = None) -> WinRate:
    """Win rate of the better story in pairs of stories: (wins + ties / 2) / pairs, where a win is a higher rating.

    `difference` (n pairs,) is the better story's rating minus the worse one's; NaN is left out, and closer to 0 than
    1e-9 it is a tie. `cluster` (n,) gives the interval of `mean_share`; None = pairs are independent, and the interval
    is Wilson's. Undefined without a pair."""
    defined = ~np.isnan(difference)
    d = difference[defined]
    wins, losses = int((d > _SAME).sum()), int((d < -_SAME).sum())
    ties = d.size - wins - losses
    if not d.size:
        return WinRate(Estimate.undefined("undefined without a pair of rated stories"), 0, 0, 0)
    if cluster is None:
        return WinRate(wilson(wins + ties / 2, d.size), wins, ties, losses)
    credit = np.where(d > _SAME, 1.0, np.where(d < -_SAME, 0.0, 0.5))
    group = renumbered(cluster[defined])
    return WinRate(mean_share(credit, group, alone="pairs of one story-prompt only"), wins, ties, losses)


def mean_share(shares: Floats, cluster: Codes, *, alone: str = "one story-prompt only") -> Estimate:
    """Mean of `shares` (n,), NaN left out, with the interval of `means.clustered` over `cluster` (n,), clipped to 0..1.

    Where the story-prompts do not differ, their variance is 0, and the interval is Wilson's with one trial per
    story-prompt. `alone` is the reason for the missing interval where there is only one."""
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


# How many pairs of items a random order turns round: the exact distribution of inversions.


def tail(items: int, inversions: int) -> float:
    """Probability that a random order of so many `items` turns at least so many of their pairs round (`inversions`).

    Of all orders of n items, the numbers with k inversions are the Mahonian numbers (Kendall 1938, Biometrika 30, whose
    S is the number of pairs minus twice the inversions). Cost: items cubed."""
    shares = np.ones(1)
    for more in range(2, items + 1):
        # The next item turns 0 to more - 1 of its pairs round, each as often.
        sums = np.cumsum(np.concatenate([shares, np.zeros(more - 1)]))
        sums[more:] -= sums[:-more].copy()
        shares = sums / more
    return float(shares[max(inversions, 0) :].sum())


def ranks(means: Floats) -> Floats:
    """1 + the number of systems with a mean higher by more than 1e-9, in the shape of `means` (..., systems)."""
    higher = (means[..., None, :] - means[..., :, None]) > _SAME
    return np.asarray(np.where(np.isnan(means), np.nan, 1 + higher.sum(axis=-1)), dtype=np.float64)


def rank_intervals(means: Floats, resampled: Floats) -> list[Estimate]:
    """Each system's rank, with percentiles of its rank over resamples as the interval; n counts systems.

    `means` (systems,) has NaN for a system without a rating, which gets no rank; `resampled` (b, systems) are the means
    in each resample. With more than 5 % of resamples in which one of the rated has no mean, there is no interval. The
    percentiles describe the spread of ranks (Goldstein & Spiegelhalter 1996) without guaranteed coverage: where means
    are close together, intervals can be too narrow (Mogstad, Romano, Shaikh & Wilhelm 2024)."""
    rated = ~np.isnan(means)
    drawn, lost = _whole(rated, resampled)
    intervals = ranks(np.where(rated, means, np.nan))
    number = int(rated.sum())
    tail = 50 * (1 - CONFIDENCE)
    out = []
    for s in range(means.size):
        if not rated[s]:
            out.append(Estimate.undefined("no rating"))
        elif drawn.shape[0] == 0 or lost > DEGENERATE * resampled.shape[0]:
            why = f"no interval: undefined in {lost} of {resampled.shape[0]} resamples"
            out.append(Estimate(float(intervals[s]), n=number, reason=why))
        else:
            column = int(rated[:s].sum())
            low, high = np.percentile(drawn[:, column], [tail, 100 - tail], method="inverted_cdf")
            method = "percentile, 95 %"
            out.append(Estimate(float(intervals[s]), n=number, low=float(low), high=float(high), method=method))
    return out


def chance_of_best(means: Floats, resampled: Floats) -> Floats:
    """Share of resamples in which each system has the highest mean; systems that tie for it share the resample equally.

    `means` and `resampled` are as in `rank_intervals`; resamples in which one of the rated has no mean are left out.
    NaN for a system without a mean, and for every system where no resample is left."""
    present = ~np.isnan(means)
    out = np.full(means.size, np.nan)
    drawn, _ = _whole(present, resampled)
    if drawn.shape[0]:
        best = drawn == 1
        out[present] = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return out


def _whole(present: Masks, resampled: Floats) -> tuple[Floats, int]:
    """Ranks in each resample in which all of the systems `present` have a mean, and the number of others."""
    part = resampled[:, present]
    whole = ~np.isnan(part).any(axis=1)
    return ranks(part[whole]), int((~whole).sum())


def rank_sets(higher: Masks) -> list[tuple[int, int]]:
    """Best and worst rank of each system that are consistent with the tested differences.

    The best is 1 + the number of systems that are significantly higher (`higher` (systems, systems), row over column),
    the worst the number of systems minus the number that are significantly lower. Where `higher` comes from tests with
    family-wise level alpha over all pairs, all ranges hold the true ranks simultaneously with probability at least 1 -
    alpha (Klein, Wright & Wieczorek 2020; Mogstad et al. 2024)."""
    systems = higher.shape[0]
    return [(1 + int(higher[:, s].sum()), systems - int(higher[s].sum())) for s in range(systems)]


def letters(different: Masks, means: Floats) -> list[str]:
    """Compact letter display: two systems share a letter exactly when their difference is not significant.

    Insert-and-absorb algorithm (Piepho 2004). All systems start in one group. Every significantly `different` pair
    (symmetric, (systems, systems)) splits each group that holds both systems, and groups contained in another are
    dropped. Letters are assigned from the highest of `means` (systems,) down; a system with NaN gets none."""
    rated = [s for s in near_ties.descending(means.tolist()) if not np.isnan(means[s])]
    groups = [frozenset(rated)] if rated else []
    for i, a in enumerate(rated):
        for b in rated[i + 1 :]:
            if different[a, b]:
                split = [part for g in groups for part in ((g - {a}, g - {b}) if {a, b} <= g else (g,))]
                groups = [
                    g for k, g in enumerate(split) if not any(g < h or (g == h and k > m) for m, h in enumerate(split))
                ]
    rank_of = {s: rank for rank, s in enumerate(rated)}
    groups.sort(key=lambda group: sorted(rank_of[s] for s in group))
    names = _names(len(groups))
    return ["".join(name for name, group in zip(names, groups, strict=True) if s in group) for s in range(means.size)]


def _names(count: int) -> list[str]:
    """a, b, ..., z, then a1, b1, ..."""
    alphabet = string.ascii_lowercase
    return [alphabet[k % 26] + (str(k // 26) if k >= 26 else "") for k in range(count)]
