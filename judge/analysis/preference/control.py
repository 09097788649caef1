"""Controls for preferences that use no judge: the longer story, and out-of-fold predictions from surface features.

With at least `LEAST_PAIRS` pairs in which people prefer one story, a pairwise logistic regression on differences of
surface features is fitted on four fifths of the story-prompts. It predicts the pairs of the last fifth, so that every
pair is predicted once. Log odds are averaged over five assignments of story-prompts to folds. With fewer pairs, the
shipped model rates both stories, except stories for story-prompts that it was fitted on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.control import FOLDINGS, FOLDS, Surface
from judge.analysis.preference.sides import Pairs
from judge.stats.regression import pairwise_logistic
from judge.stats.resampling.grouped_folds import folds_of_groups

Floats = NDArray[np.float64]

LEAST_PAIRS = 100
PENALTY = 100.0
"""On the squared weights of differences in units of their root mean square; fixed, so that no fold chooses."""


@dataclass(frozen=True, slots=True, eq=False)
class PairControl:
    """The control's preferences for pairs of stories, and how they were made.

    `net` has shape (pairs,): 1 if the first story of the pair is preferred, -1 if the second, 0 if neither, NaN if
    there is no prediction. `how` describes the method, and `reason` says why some are missing.
    """

    net: Floats
    how: str
    reason: str | None = None


def longer_wins(pairs: Pairs) -> Floats:
    """Preferences of a control that always prefers the longer story of a pair, shape (pairs,).

    1 for story a, -1 for story b, 0 at equal length; NaN where a length is not known.
    """
    return np.asarray(np.sign(pairs.log_words), dtype=np.float64)


class SurfaceControl:
    """Control that predicts preferences of one dataset's pairs of stories from surface features.

    The features are computed once for all criteria.
    """

    def __init__(self, pairs: Pairs, seed: int) -> None:
        self.pairs, self.seed = pairs, seed
        self._surface = Surface.of(pairs.stories.drop(columns="words"))

    def against(self, people: Floats, criterion: str) -> PairControl:
        """The control's preferences for each pair of stories, predicted out of fold from surface features.

        They are fitted to `people`, the net human preferences on this criterion, shape (pairs,). With few human
        preferences, the shipped model predicts.
        """
        surface, pairs = self._surface, self.pairs
        usable = ~(surface.blank[pairs.a] | surface.blank[pairs.b])
        lead = np.where(usable, people, np.nan)
        groups = [str(code) for code in pairs.prompt]
        folds = min(FOLDS, len(set(groups)))
        if np.nansum(np.abs(lead)) >= LEAST_PAIRS and folds > 1:
            rows = np.where(surface.blank[:, None], 0.0, surface.rows)
            difference = rows[pairs.a] - rows[pairs.b]
            log_odds = []
            for turn in range(FOLDINGS):
                fold = folds_of_groups(groups, folds, self.seed + turn)
                log_odds.append(pairwise_logistic.out_of_fold(difference, lead, fold, PENALTY))
            odds = np.mean(log_odds, axis=0)
            odds[~usable] = np.nan
            return PairControl(np.sign(odds), f"surface:pairwise/{FOLDINGS}x{folds}-fold/seed{self.seed}")
        nobody = pd.Series(float("nan"), index=pairs.stories.index)
        shipped = surface.predictions(nobody, criterion, seed=self.seed)
        rated = np.asarray(shipped.values)
        apart = rated[pairs.a] - rated[pairs.b]
        return PairControl(np.sign(apart), shipped.how, shipped.reason)
