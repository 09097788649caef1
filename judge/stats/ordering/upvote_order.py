"""Acc and Dis, with which StoryER evaluates a score on pairs of stories in which one has more upvotes.

Acc is the share of pairs in which the more upvoted story has the higher score. The study counts a tie as wrong, which
penalises a coarse score; with `tie` = 0.5, an uninformative score has an Acc of .5. Dis is the mean score of the more
upvoted story minus that of the less upvoted one (Chen et al. 2022, StoryER, EMNLP, section 5). Pairs of one
story-prompt share stories, so intervals take story-prompts as the independent units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.near_ties import SAME

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# What a tie is worth: to the study, and corrected.
TIE_WRONG, TIE_HALF = 0.0, 0.5


def accuracy(higher: Floats, lower: Floats, story_prompt: Codes, *, tie: float = TIE_HALF) -> Estimate:
    """Acc: share of pairs in which the more upvoted story has the higher score; `tie` is a tie's credit (within 1e-9).

    `higher` and `lower` (n,) are scores of the more and the less upvoted story, NaN left out; `story_prompt` (n,) holds
    codes from 0 on, for the interval of `means.clustered`. Undefined without a pair.
    """
    gap = higher - lower
    right = np.where(np.isnan(gap), np.nan, (gap > 0).astype(np.float64))
    return means.clustered(np.where(np.abs(gap) <= SAME, tie, right), story_prompt, bounds=means.SHARE)


def distance(higher: Floats, lower: Floats, story_prompt: Codes) -> Estimate:
    """Dis: mean score of the more upvoted story minus that of the less upvoted one, in points of the score.

    `higher`, `lower` and `story_prompt` are as in `accuracy`.
    """
    return means.clustered(higher - lower, story_prompt)
