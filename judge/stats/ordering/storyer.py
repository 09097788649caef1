"""Recall at k: whether a judge ranks the aspects of a story that people selected among its k highest-scored aspects.

Recall at k of an item (a story) is the share of its human-selected aspects among the k that the judge scores highest
(StoryER, Chen et al. 2022). Where aspects are tied at rank k, each counts with the probability that it is among the
first k when ties are broken at random. The recall is thus the expected value over random orders of the tied aspects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, Masks
from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.near_ties import SAME

# Acc and Dis, with which StoryER evaluates a score on pairs of stories in which one has more upvotes.


# What a tie is worth: to the study, and corrected.
TIE_WRONG, TIE_HALF = 0.0, 0.5


def accuracy(higher: Floats, lower: Floats, story_prompt: Codes, *, tie: float = TIE_HALF) -> Estimate:
    """Acc: share of pairs in which the more upvoted story has the higher score; `tie` is a tie's credit (within 1e-9).

    `higher` and `lower` (n,) are scores of the more and the less upvoted story, NaN left out; `story_prompt` (n,) holds
    codes from 0 on, for the interval of `means.clustered`. Undefined without a pair."""
    gap = higher - lower
    right = np.where(np.isnan(gap), np.nan, (gap > 0).astype(np.float64))
    return means.clustered(np.where(np.abs(gap) <= SAME, tie, right), story_prompt, bounds=means.SHARE)


def distance(higher: Floats, lower: Floats, story_prompt: Codes) -> Estimate:
    """Dis: mean score of the more upvoted story minus that of the less upvoted one, in points of the score.

    `higher`, `lower` and `story_prompt` are as in `accuracy`."""
    return means.clustered(higher - lower, story_prompt)


_METHOD = "t over items, 95 %"


@dataclass(frozen=True, slots=True)
class RecallAtK:
    """Recall at k, over all selected aspects (`micro`; n counts them) and averaged over items (`macro`; n: items).

    Items are left out where nobody selected an aspect (`none_selected`) or the judge did not score every one
    (`incomplete`)."""

    micro: Estimate
    macro: Estimate
    none_selected: int
    incomplete: int


def recall_at_k(scores: Floats, selected: Masks, k: int) -> RecallAtK:
    """Recall at `k`, 1..m (else ValueError), of a judge on n items (stories) with m aspects each.

    `scores` (n, m) are higher = more fitting; an item with NaN is left out, because its ranking is unknown; scores
    closer than 1e-9 are tied. `selected` (n, m) says what people selected. Undefined without an item that has all
    scores and a selected aspect."""
    if not 1 <= k <= scores.shape[1]:
        raise ValueError(f"k = {k} must lie among 1..{scores.shape[1]}")
    empty = ~selected.any(axis=1)
    unranked = np.isnan(scores).any(axis=1) & ~empty
    use = ~(empty | unranked)
    chosen = selected[use]
    recalls = (_chance(scores[use], k) * chosen).sum(axis=1)
    count = chosen.sum(axis=1)
    if not count.size:
        nothing = Estimate.undefined("undefined without an item that has scores and a selected aspect")
        return RecallAtK(nothing, nothing, int(empty.sum()), int(unranked.sum()))
    item = np.repeat(np.arange(count.size), count)
    micro = means.clustered(np.repeat(recalls / count, count), item, bounds=means.SHARE)
    macro = means.clustered(recalls / count, np.arange(count.size), bounds=means.SHARE)
    return RecallAtK(_of_items(micro), _of_items(macro), int(empty.sum()), int(unranked.sum()))


def _chance(scores: Floats, k: int) -> Floats:
    """Probability that each aspect is among the k highest-scored of its item when ties are broken at random."""
    rounded = np.round(scores, 9)
    above = (rounded[:, None, :] > rounded[:, :, None]).sum(axis=2)
    tied = (rounded[:, None, :] == rounded[:, :, None]).sum(axis=2)
    return np.asarray(np.clip((k - above) / tied, 0.0, 1.0), dtype=np.float64)


def _of_items(estimate: Estimate) -> Estimate:
    if estimate.low is None or estimate.high is None:
        return replace(estimate, reason="no interval: one item only")
    if estimate.value is not None and estimate.high - estimate.low < SAME:
        # Items that are all alike: no width but rounding's.
        return replace(estimate, low=estimate.value, high=estimate.value, method=_METHOD)
    return replace(estimate, low=max(0.0, estimate.low), high=min(1.0, estimate.high), method=_METHOD)
