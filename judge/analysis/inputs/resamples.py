"""Resamples of a rating matrix's stories by the units that an interval resamples."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from judge.analysis.options.choices import INTERVALS, NamedInterval, Unit
from judge.base.arrays import Codes
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.resampling import bootstrap


def unit_of_stories(matrix: RatingMatrix, unit: Unit) -> Codes:
    """Codes of each story's unit (such as the story-prompt), shape (n stories,)."""
    if unit == "story-prompts":
        return matrix.story_prompt
    if unit == "systems":
        return matrix.system
    if unit == "stories":
        return np.arange(matrix.n)
    assert_never(unit)


def draw(matrix: RatingMatrix, how: NamedInterval, count: int, rng: np.random.Generator) -> bootstrap.Resamples:
    """`count` resamples of the units of the interval `how`. Raises ValueError if it resamples none."""
    match [unit_of_stories(matrix, unit) for unit in INTERVALS[how].resampled]:
        case [codes]:
            return bootstrap.draw(codes, count, rng, how)
        case [systems, story_prompts]:
            return bootstrap.draw_both(systems, story_prompts, count, rng)
    raise ValueError(f"{how} intervals have no resamples")


def too_few(matrix: RatingMatrix, how: NamedInterval, least: int) -> bool:
    """Whether there are fewer than `least` of the units that the interval `how` resamples."""
    return any(np.unique(unit_of_stories(matrix, unit)).size < least for unit in INTERVALS[how].resampled)
