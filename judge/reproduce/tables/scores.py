"""The ratings in HANNA's score file as arrays (systems, story-prompts), selected by a recipe."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from judge.inputs.datasets.studies.hanna import SCALE
from judge.inputs.datasets.studies.hanna_scores import CRITERIA, POSITIONS, ScoreFile
from judge.reproduce.recipe import Recipe

Floats = NDArray[np.float64]

NAMES: Mapping[str, str] = {short: name for name, short in CRITERIA.items()}
"""Abbreviation -> criterion, in the study's order."""

JUDGES = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT")
"""The judges of the published tables; the file has one more, OrcaPlatypus."""

EVAL_PROMPTS = (1, 2, 3, 4)
JUDGED = tuple(f"{judge} {number}" for judge in JUDGES for number in EVAL_PROMPTS)
"""Columns of the published tables: judge and Eval-Prompt."""

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
"""Name in the published tables -> column of the score file."""

DISTANCES = ("BaryScore",)
"""Measures of which less is better."""

HUMAN = "Human"


class Scores:
    """HANNA's score file as arrays, which have shape (systems, story-prompts) unless stated otherwise."""

    def __init__(self, file: ScoreFile) -> None:
        self.file = file
        self._known: dict[str, dict[str, Floats]] = {}

    def systems(self, recipe: Recipe) -> tuple[str, ...]:
        """Names of the systems in HANNA's score file, without Human unless the recipe keeps it."""
        return tuple(name for name in self.file.systems if name != HUMAN or recipe.keep_human)

    def column(self, name: str, systems: tuple[str, ...]) -> Floats:
        """Values of one column of HANNA's score file for these systems, shape (systems, story-prompts)."""
        if name not in self._known:
            self._known[name] = {system: np.array(numbers) for system, numbers in self.file.column(name).items()}
        return np.stack([self._known[name][system] for system in systems])

    def people(self, short: str, recipe: Recipe) -> Floats:
        """Mean human rating of each story over the three rater positions in HANNA's score file, shape (systems,
        story-prompts).

        `short` is the criterion's abbreviation.
        """
        return self.column(NAMES[short], self.systems(recipe))

    def positions(self, short: str, recipe: Recipe) -> Floats:
        """Human ratings of the three rater positions in HANNA's score file, shape (3, systems, story-prompts).

        A position is not one person. `short` is the criterion's abbreviation.
        """
        return np.stack([self.column(f"Human {i} {short}", self.systems(recipe)) for i in POSITIONS])

    def side(self, column: str, short: str, recipe: Recipe) -> Floats:
        """Values of a measure, or a judge's mean ratings under one Eval-Prompt (column `Beluga-13B 1`), shape (systems,
        story-prompts).

        `short` is the criterion's abbreviation. A judge's means off the scale are NaN if the recipe has `on_scale`, and
        kept otherwise.
        """
        systems = self.systems(recipe)
        if column in MEASURES:
            return self.column(MEASURES[column], systems)
        judge, eval_prompt = column.rsplit(" ", 1)
        values = self.column(f"{judge} {short} {eval_prompt}", systems)
        return np.where(off_scale(values), np.nan, values) if recipe.on_scale else values


def off_scale(values: Floats) -> NDArray[np.bool_]:
    """Mask of the values that cannot be means of ratings on the scale of 1 to 5."""
    return np.asarray((values < SCALE.min) | (values > SCALE.max))
