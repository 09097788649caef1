"""Resamples of a rating matrix's stories by the units that an interval resamples."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from judge.analysis.inputs.bars import Remarks
from judge.analysis.options.agreement_options import ConfusionOptions, DriftOptions, LabelOptions
from judge.analysis.options.choices import INTERVALS, NamedInterval, Unit
from judge.base.arrays import Codes
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.resampling import bootstrap

# With fewer units to resample an interval says more about their number than about the ratings.
LEAST_UNITS = 5
# With fewer systems, what is said at system level is weak evidence.
FEW_SYSTEMS = 10


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


def few_systems(matrix: RatingMatrix) -> list[str]:
    """Note that so few systems are weak evidence at system level; empty where there are enough."""
    systems = len(matrix.systems)
    return [f"{matrix.dataset}: {systems} systems are weak evidence at system level"] if systems < FEW_SYSTEMS else []


def story_prompts_drawn(matrix: RatingMatrix, count: int, seed: int) -> bootstrap.Resamples | None:
    """`count` resamples of story-prompts; None where there are too few of these."""
    if np.unique(matrix.story_prompt).size < LEAST_UNITS:
        return None
    return bootstrap.draw(matrix.story_prompt, count, np.random.default_rng(seed), "boot-inputs")


def drawn_with_note(
    matrix: RatingMatrix,
    options: ConfusionOptions | DriftOptions | LabelOptions,
    remarks: Remarks,
    *,
    what: str = "intervals",
    how: str = "the same for every row",
) -> bootstrap.Resamples | None:
    """The resamples that the options ask for, and a note on `what` is made of them, and `how`; None, with a note, where
    there are too few units, and without a note where none are asked for."""
    units = INTERVALS[options.ci].units
    if not units:
        return None
    codes = [unit_of_stories(matrix, unit) for unit in INTERVALS[options.ci].resampled]
    if any(np.unique(code).size < LEAST_UNITS for code in codes):
        remarks.note([f"{matrix.dataset}: no {what}, fewer than {LEAST_UNITS} {units}"])
        return None
    remarks.note([f"{what}: expanded percentile, {options.resamples} resamples of {units}, {how}"])
    return draw(matrix, options.ci, options.resamples, np.random.default_rng(options.seed))
