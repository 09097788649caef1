"""Counts the judges' released mean ratings that lie outside the scale, by judge and Eval-Prompt."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from judge.inputs.datasets.studies.hanna_scores import CRITERIA
from judge.reproduce.cell import Numbers
from judge.reproduce.recipe import Recipe
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.scores import EVAL_PROMPTS, JUDGES, Scores, off_scale

TABLE, ALL_SYSTEMS = "judge_means_off_scale", "judge_means_off_scale_11_systems"
EVERY_JUDGE = (*JUDGES, "OrcaPlatypus")


def family(scores: Scores) -> Family:
    """Tables of how many of the judges' mean ratings in HANNA's score file lie off the scale: for the ten systems that
    HANNA correlates, and for all eleven.
    """
    return Family(
        numbers=cache(partial(numbers, scores)),
        digits={TABLE: 0, ALL_SYSTEMS: 0},
        switches=("on-scale",),
        remarks=lambda _: ("judges' means below 1 that the file holds as ratings",),
    )


def numbers(scores: Scores, recipe: Recipe) -> Numbers:
    """Number of mean ratings off the scale, for each judge and Eval-Prompt in HANNA's score file.

    They are counted among 6 criteria x 960 (or, with all systems, 1,056) stories. The number is 0 if the recipe does
    not use such ratings.
    """
    counts: Numbers = {}
    for table, keep_human in ((TABLE, recipe.keep_human), (ALL_SYSTEMS, True)):
        systems = scores.systems(Recipe(keep_human=keep_human))
        for judge in EVERY_JUDGE:
            for number in EVAL_PROMPTS:
                columns = (scores.column(f"{judge} {short} {number}", systems) for short in CRITERIA.values())
                count = sum(int(np.count_nonzero(off_scale(values))) for values in columns)
                counts[table, judge, f"EP {number}"] = 0.0 if recipe.on_scale else float(count)
    return counts
