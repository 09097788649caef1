"""HANNA's tables of system means and half-widths of intervals, for people and Beluga-13B under Eval-Prompt 1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.inputs.datasets.studies.hanna import CRITERIA, POSITIONS, SCALE, ScoreFile
from judge.reproduce.cell import OURS, Numbers, Place, Recipe
from judge.reproduce.study import Family
from judge.stats.estimation import means

# The ratings in HANNA's score file as arrays (systems, story-prompts), selected by a recipe.


# Abbreviation -> criterion, in the study's order.
NAMES: Mapping[str, str] = {short: name for name, short in CRITERIA.items()}

# The judges of the published tables; the file has one more, OrcaPlatypus.
JUDGES = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT")

EVAL_PROMPTS = (1, 2, 3, 4)
# Columns of the published tables: judge and Eval-Prompt.
JUDGED = tuple(f"{judge} {number}" for judge in JUDGES for number in EVAL_PROMPTS)

# Name in the published tables -> column of the score file.
MEASURES: Mapping[str, str] = {
    "BARTScore": "BARTScore-SH ΞΔ",
    "BERTScore": "BERTScore F1 Ξε",
    "BLEU": "BLEU Ξ§",
    "ROUGE-1": "ROUGE-1 Recall Ξ§",
    "chrF": "chrF Ξ§",
    "BaryScore": "BaryScore-W Ξε",
    "SUPERT": "SUPERT-PS ¤ε",
    "BLANC": "BLANC-Tune-PS ¤Δ",
}

# Measures of which less is better.
DISTANCES = ("BaryScore",)

HUMAN = "Human"


class Scores:
    """HANNA's score file as arrays, (systems, story-prompts) unless stated otherwise."""

    def __init__(self, file: ScoreFile) -> None:
        self.file = file
        self._known: dict[str, dict[str, Floats]] = {}

    def systems(self, recipe: Recipe) -> tuple[str, ...]:
        """Without Human unless the recipe keeps it."""
        return tuple(name for name in self.file.systems if name != HUMAN or recipe.keep_human)

    def column(self, name: str, systems: tuple[str, ...]) -> Floats:
        """One column for these systems, (systems, story-prompts)."""
        if name not in self._known:
            self._known[name] = {system: np.array(numbers) for system, numbers in self.file.column(name).items()}
        return np.stack([self._known[name][system] for system in systems])

    def people(self, short: str, recipe: Recipe) -> Floats:
        """Mean over the three rater positions, (systems, story-prompts)."""
        return self.column(NAMES[short], self.systems(recipe))

    def positions(self, short: str, recipe: Recipe) -> Floats:
        """Ratings of the three positions, (3, systems, story-prompts); a position is not one person."""
        return np.stack([self.column(f"Human {i} {short}", self.systems(recipe)) for i in POSITIONS])

    def side(self, column: str, short: str, recipe: Recipe) -> Floats:
        """A measure, or a judge's means (column `Beluga-13B 1`); means off the scale are NaN with `on_scale`."""
        systems = self.systems(recipe)
        if column in MEASURES:
            return self.column(MEASURES[column], systems)
        judge, eval_prompt = column.rsplit(" ", 1)
        values = self.column(f"{judge} {short} {eval_prompt}", systems)
        return np.where(off_scale(values), np.nan, values) if recipe.on_scale else values


def off_scale(values: Floats) -> NDArray[np.bool_]:
    """Mask of values that cannot be means of ratings from 1 to 5."""
    return np.asarray((values < SCALE.min) | (values > SCALE.max))


PEOPLE, PEOPLE_HALF = "system_means_human", "system_means_human_ci95"
JUDGE, JUDGE_HALF = "system_means_beluga_ep1", "system_means_beluga_ep1_ci95"
AVERAGE = "Average"
# System in the score file -> in the printed tables, where the two differ.
PRINTED_NAMES = {"BertGeneration": "BERTGen"}

# Systems of the judge's printed tables whose stories the score file does not hold.
LANGUAGE_MODELS = ("Platypus2-70B", "Llama-30B", "OrcaPlatypus-13B", "Beluga-13B", "Mistral-7B", "Llama-7B")

# Systems of which the judge's half-widths are printed.
HALF_SYSTEMS = ("Human", "GPT-2", "HINT", *(name for name in LANGUAGE_MODELS if name != "OrcaPlatypus-13B"))

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
    """Four tables: means and half-widths, of people and of a judge."""
    return Family(
        numbers=cache(partial(numbers, scores)),
        digits=dict.fromkeys((PEOPLE, PEOPLE_HALF, JUDGE, JUDGE_HALF), 2),
        switches=("clustered",),
        estimates=partial(estimates, scores),
        missing=_missing,
    )


def numbers(scores: Scores, recipe: Recipe) -> Numbers:
    """Means of each system, and half-widths of 95 % t intervals, by (table, row, column). The recipe decides whether
    single ratings or story-prompts are independent. A judge's half-widths are None: they need single repeats, and the
    file holds means of three."""
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
    """Corrected means with intervals over story-prompts, and their half-widths."""
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
    """Mean with its t interval; the last axis is story-prompts, independent if the recipe is `clustered`."""
    if not recipe.clustered:
        return means.as_independent(ratings)
    stories = ratings.reshape(-1, ratings.shape[-1]).mean(axis=0)
    return means.clustered(stories, np.arange(stories.size))


def half_width(estimate: Estimate) -> float | None:
    """Half the width of the interval; None without an interval."""
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def _ratings(scores: Scores) -> dict[tuple[str, str], Floats]:
    """(positions, story-prompts) by (system as printed, criterion or Average, which has an axis more)."""
    systems = scores.systems(_EVERY_SYSTEM)
    wide = {short: scores.positions(short, _EVERY_SYSTEM) for short in NAMES}
    by_cell: dict[tuple[str, str], Floats] = {}
    for i, system in enumerate(systems):
        name = PRINTED_NAMES.get(system, system)
        by_cell |= {(name, short): ratings[:, i] for short, ratings in wide.items()}
        by_cell[name, AVERAGE] = np.stack([ratings[:, i] for ratings in wide.values()])
    return by_cell


def _judged(scores: Scores) -> dict[tuple[str, str], Floats]:
    """(story-prompts,) by (system, criterion or Average)."""
    rated = np.stack([scores.side("Beluga-13B 1", short, _EVERY_SYSTEM) for short in NAMES])
    by_cell: dict[tuple[str, str], Floats] = {}
    for i, system in enumerate(scores.systems(_EVERY_SYSTEM)):
        by_cell |= {(system, short): rated[j, i] for j, short in enumerate(NAMES)}
        by_cell[system, AVERAGE] = rated[:, i].mean(axis=0)
    return by_cell
