"""Applies to a judge the quality control that a published study applied to crowd workers.

Guan et al. 2021 rejected a worker's ratings if the worker rated the human story below 4 or the spoilt story above 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judge.analysis.stress.pairing import Pairing
from judge.analysis.stress.rated import Rated
from judge.analysis.stress.result import QualityControl
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.shares.proportion import wilson

SPOILT = ("lexical-repetition", "sentence-shuffle", "word-shuffle")
"""Perturbations that make the spoilt story: repeated, or shuffled."""

PUBLISHED = {"ROC": 0.613, "WP": 0.246}
"""Share of workers' ratings that were kept (1 - .387 and 1 - .754): Guan et al. 2021."""

_HUMAN = ("human", "gold", "reference")
_HIGH, _LOW = 0.75, 0.25
"""4 and 2 of a scale from 1 to 5, as parts of its length."""


def quality_control(rated: Rated, pairs: Pairing, matrix: RatingMatrix) -> Iterator[QualityControl]:
    """Yield, for each perturbation that spoils a story, how often the judge would pass the quality control of Guan et
    al. 2021: a high rating of the human story and a low one of the spoilt story. Only the highest strength of a
    perturbation is used.

    Only stories written by people are used, or all stories if the dataset names no human author.
    """
    systems = np.array([str(name).casefold() for name in matrix.stories["system"]], dtype=object)[pairs.untouched]
    human = np.isin(systems, _HUMAN)
    if not human.any():
        human = np.ones(systems.size, dtype=np.bool_)
    highest = {changed.facts.name: changed for changed in pairs.changed if changed.facts.name in SPOILT}
    length, low = rated.scale.max - rated.scale.min, rated.scale.min
    for changed in highest.values():
        there = human & (changed.story >= 0)
        before, after = rated.means[pairs.untouched[there]], rated.means[changed.story[there]]
        both_rated = ~(np.isnan(before) | np.isnan(after))
        high = before[both_rated] >= low + _HIGH * length - 1e-9
        spoilt = after[both_rated] <= low + _LOW * length + 1e-9
        prompt = pairs.prompt[there][both_rated]
        shares = [_share(hits, prompt) for hits in (high & spoilt, high, spoilt)]
        yield QualityControl(rated.subject, changed.facts, changed.strength, *shares)


def _share(hits: NDArray[np.bool_], prompt: NDArray[np.int64]) -> Estimate:
    """Share of stories for which `hits` is True, computed for each story-prompt and then averaged over story-prompts,
    with a Wilson interval. `prompt` holds the code of each story's story-prompt.
    """
    if not hits.size:
        return Estimate.undefined("undefined without a pair of rated stories")
    group = np.unique(prompt, return_inverse=True)[1].reshape(-1)
    each = np.bincount(group, weights=hits.astype(np.float64)) / np.bincount(group)
    return wilson(float(each.sum()), each.size)
