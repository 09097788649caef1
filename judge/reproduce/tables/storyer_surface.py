"""Surface baseline for StoryER's pairs: a pairwise logistic regression on surface features, evaluated out of fold.

It is the control of `judge rank`: regression on differences of surface features, with folds by story-prompt. Log odds
are means over five random assignments of story-prompts to folds; single assignments give 63 to 66 % accuracy. WP_200 is
scored by one model fitted on all pairs, which contain none of its stories. WP_200 has no story-prompts, and this model
therefore uses none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.control import FOLDINGS, FOLDS, Surface
from judge.analysis.preference.control import PENALTY
from judge.base.records import Story
from judge.reproduce.tables.storyer_samples import RankedPairs
from judge.stats.regression import pairwise_logistic
from judge.stats.resampling.grouped_folds import folds_of_groups

Floats = NDArray[np.float64]


def out_of_fold(pairs: RankedPairs, seed: int = 1) -> Floats:
    """For each of StoryER's pairs, the log odds that the surface baseline gives to the story that people preferred (the
    more upvoted one); above 0 = a correct prediction.

    Each pair is predicted by models fitted without any pair of its story-prompt.
    """
    difference = _differences(pairs, _rows(list(pairs.stories.values()), prompts=True))
    lead = np.where(np.arange(len(pairs.order)) % 2 == 0, 1.0, -1.0)
    groups = [str(code) for code in pairs.story_prompt]
    folds = min(FOLDS, len(set(groups)))
    runs = [
        pairwise_logistic.out_of_fold(
            difference * lead[:, None], lead, folds_of_groups(groups, folds, seed + turn), PENALTY
        )
        for turn in range(FOLDINGS)
    ]
    return np.asarray(np.mean(runs, axis=0) * lead, dtype=np.float64)


def scored(pairs: RankedPairs, stories: Sequence[Story]) -> Floats:
    """Score of each of these stories, by the surface model fitted on all of StoryER's pairs. The texts of story-prompts
    are not used.
    """
    difference = _differences(pairs, _rows(list(pairs.stories.values()), prompts=False))
    spread = np.sqrt((difference**2).mean(axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    weights = pairwise_logistic.fit(difference / scale, np.ones(len(difference)), PENALTY)
    return np.asarray((_rows(stories, prompts=False) / scale) @ np.where(spread > 0, weights, 0.0), dtype=np.float64)


def _rows(stories: Sequence[Story], *, prompts: bool) -> Floats:
    """Surface features of stories, shape (stories, features). A story without words has features 0. `prompts`: whether
    the texts of story-prompts are used.
    """
    frame = pd.DataFrame(
        {"text": [s.text for s in stories], "story_prompt": [s.story_prompt if prompts else "" for s in stories]},
        index=[s.id for s in stories],
    )
    surface = Surface.of(frame)
    return np.where(surface.blank[:, None], 0.0, surface.rows)


def _differences(pairs: RankedPairs, rows: Floats) -> Floats:
    """Features of the more upvoted story minus features of the other story, shape (pairs, features)."""
    row_of = {name: at for at, name in enumerate(pairs.stories)}
    both = np.array([[row_of[higher], row_of[lower]] for higher, lower in pairs.order])
    return np.asarray(rows[both[:, 0]] - rows[both[:, 1]], dtype=np.float64)
