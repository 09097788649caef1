"""HANNA's tables of system means and half-widths of their intervals, for people and for Beluga-13B.

The means of Beluga-13B are those of its ratings under Eval-Prompt 1.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from judge.base.estimate import Estimate
from judge.reproduce.cell import Numbers, Place
from judge.reproduce.recipe import OURS, Recipe
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.scores import NAMES, Floats, Scores
from judge.stats.estimation import means

PEOPLE, PEOPLE_HALF = "system_means_human", "system_means_human_ci95"
JUDGE, JUDGE_HALF = "system_means_beluga_ep1", "system_means_beluga_ep1_ci95"
AVERAGE = "Average"
PRINTED_NAMES = {"BertGeneration": "BERTGen"}
"""System in the score file -> in the printed tables, where the two differ."""

LANGUAGE_MODELS = ("Platypus2-70B", "Llama-30B", "OrcaPlatypus-13B", "Beluga-13B", "Mistral-7B", "Llama-7B")
"""Systems of the judge's printed tables whose stories the score file does not hold."""

HALF_SYSTEMS = ("Human", "GPT-2", "HINT", *(name for name in LANGUAGE_MODELS if name != "OrcaPlatypus-13B"))
"""Systems of which the judge's half-widths are printed."""

RAW_REPEATS = (
    "the study computes these over single answers, and the score file holds means of three; for HANNA's systems its "
    "raw answers give them: judge import FILE --judge NAME, judge run, judge systems RUN"
)
LLM_STORIES = (
    "the score file holds no ratings of stories by these language models; a run of your own rates those stories: "
    "judge run on dataset hanna_llm, judge systems RUN"
)

_EVERY_SYSTEM = Recipe(keep_human=True)


def family(scores: Scores) -> Family:
    """HANNA's four tables on systems: means and half-widths of their intervals, by human ratings and by a judge's."""
    return Family(
        numbers=cache(partial(numbers, scores)),
        digits=dict.fromkeys((PEOPLE, PEOPLE_HALF, JUDGE, JUDGE_HALF), 2),
        switches=("clustered",),
        estimates=partial(estimates, scores),
        missing=_missing,
    )


def numbers(scores: Scores, recipe: Recipe) -> Numbers:
    """Mean human and judge ratings of each system of HANNA, and half-widths of their 95 % t intervals, by (table, row,
    column).

    The recipe decides whether single ratings or story-prompts are the independent units of the intervals. A judge's
    half-widths are None, because they would need single repeats and HANNA's score file holds means of three repeats.
    """
    cells: Numbers = {}
    for mean_place, ratings in _ratings(scores).items():
        estimate = interval(ratings, recipe)
        cells[PEOPLE, *mean_place] = estimate.value
        cells[PEOPLE_HALF, *mean_place] = half_width(estimate)
    for mean_place, values in _judged(scores).items():
        cells[JUDGE, *mean_place] = float(values.mean())
    cells |= {(JUDGE, system, column): None for system in LANGUAGE_MODELS for column in (*NAMES, AVERAGE)}
    return cells | {(JUDGE_HALF, system, short): None for system in HALF_SYSTEMS for short in NAMES}


def estimates(scores: Scores) -> dict[Place, Estimate]:
    """Estimates for HANNA's tables on systems, by this program's corrected method instead of the study's method.

    They are mean ratings with intervals that treat story-prompts as the independent units, and the half-widths of these
    intervals.
    """
    cells: dict[Place, Estimate] = {}
    for mean_place, ratings in _ratings(scores).items():
        estimate = interval(ratings, OURS)
        cells[PEOPLE, *mean_place], cells[PEOPLE_HALF, *mean_place] = (
            estimate,
            Estimate(half_width(estimate), n=estimate.n),
        )
    for mean_place, values in _judged(scores).items():
        estimate = means.clustered(values, np.arange(values.size))
        cells[JUDGE, *mean_place] = estimate
        if mean_place[0] in HALF_SYSTEMS and mean_place[1] != AVERAGE:
            cells[JUDGE_HALF, *mean_place] = Estimate(half_width(estimate), n=estimate.n)
    return cells


def _missing(place: Place) -> str | None:
    table, system, _ = place
    if table in (JUDGE, JUDGE_HALF) and system in LANGUAGE_MODELS:
        return LLM_STORIES
    return RAW_REPEATS if table == JUDGE_HALF else None


def interval(ratings: Floats, recipe: Recipe) -> Estimate:
    """Mean of a system's ratings with its t interval.

    The last axis of `ratings` is story-prompts; each system has one story per story-prompt. They are the independent
    units if the recipe is `clustered`, otherwise single ratings are.
    """
    if not recipe.clustered:
        return means.as_independent(ratings)
    stories = ratings.reshape(-1, ratings.shape[-1]).mean(axis=0)
    return means.clustered(stories, np.arange(stories.size))


def half_width(estimate: Estimate) -> float | None:
    """Half the width of the interval; None without an interval."""
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def _ratings(scores: Scores) -> dict[tuple[str, str], Floats]:
    """Human ratings in HANNA's score file by (system as printed, criterion or Average).

    Shape (rater positions, story-prompts); Average has one more axis in front, for the criteria.
    """
    systems = scores.systems(_EVERY_SYSTEM)
    wide = {short: scores.positions(short, _EVERY_SYSTEM) for short in NAMES}
    by_cell: dict[tuple[str, str], Floats] = {}
    for i, system in enumerate(systems):
        name = PRINTED_NAMES.get(system, system)
        by_cell |= {(name, short): ratings[:, i] for short, ratings in wide.items()}
        by_cell[name, AVERAGE] = np.stack([ratings[:, i] for ratings in wide.values()])
    return by_cell


def _judged(scores: Scores) -> dict[tuple[str, str], Floats]:
    """Mean ratings by Beluga-13B under Eval-Prompt 1 in HANNA's score file, by (system, criterion or Average), each of
    shape (story-prompts,).
    """
    rated = np.stack([scores.side("Beluga-13B 1", short, _EVERY_SYSTEM) for short in NAMES])
    by_cell: dict[tuple[str, str], Floats] = {}
    for i, system in enumerate(scores.systems(_EVERY_SYSTEM)):
        by_cell |= {(system, short): rated[j, i] for j, short in enumerate(NAMES)}
        by_cell[system, AVERAGE] = rated[:, i].mean(axis=0)
    return by_cell
