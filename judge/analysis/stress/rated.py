"""Ratings that a stress test compares: those of each judge, Eval-Prompt and criterion, and those of the control."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.bars import CONTROL, CONTROL_NAME
from judge.analysis.inputs.candidates import NO_TEXTS, Subject, judge_cell
from judge.backends.surface.model import Card, expected, read_card, shipped_model
from judge.base.judge_name import MEASURE, JudgeName
from judge.base.records import Scale
from judge.inputs.text_features import for_regression, own_features, score_file_features
from judge.ratings.rating_matrix import RatingMatrix

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

Floats = NDArray[np.float64]

_CONTROL = (
    "control: the shipped surface judge on the same texts, perturbed ones too; not rounded, so that it ties only where "
    "the features are equal"
)


NO_POINTS = "a measure has a scale of its own, and no points of a rating scale"
_NEITHER = "of this measure, neither more nor less is better"
_NOT_SAID = "its folder does not say whether more of this measure is better: measure again"


@dataclass(frozen=True, slots=True)
class Measure:
    """Direction of a measure (a text statistic): 1 if more is better, -1 if less, 0 if neither, for the `reason`."""

    better: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Ratings of all n stories on one criterion, by one judge with one Eval-Prompt, the control judge, or an automatic
    measure. `repeats` has shape (n, k repeats), `means` and `asked` (n,). `scale` has no meaning for a measure.
    """

    subject: Subject
    means: Floats
    repeats: Floats
    asked: NDArray[np.bool_]
    scale: Scale
    measure: Measure | None = None

    @property
    def merit(self) -> Floats:
        """Means with their sign changed for a measure of which less is better; NaN where neither is."""
        if self.measure is None or self.measure.better == 1:
            return self.means
        return -self.means if self.measure.better else np.full(self.means.shape, np.nan)

    def points(self, ratings: Floats) -> Floats:
        """Ratings rounded to the nearest point of the scale."""
        low, step = self.scale.min, self.scale.step or 1
        return np.asarray(np.clip(low + np.rint((ratings - low) / step) * step, low, self.scale.max), dtype=np.float64)


def judges(table: RatingsTable, matrix: RatingMatrix) -> Iterator[Rated]:
    """Ratings of each judge and Eval-Prompt on each criterion with a numeric scale, and the values of each measure."""
    ways = {(fact.run, name): way for fact in table.facts for name, way in fact.directions.items()}
    scales = {
        (fact.run, criterion.name.casefold()): criterion.scale for fact in table.facts for criterion in fact.criteria
    }
    for i, cell in enumerate(matrix.cells):
        scale = scales.get((cell.run, cell.criterion.casefold()), Scale())
        if scale.numeric:
            answers = matrix.answers(i)
            asked = matrix.asked[i] > 0
            subject = judge_cell(matrix, i, None, None).subject
            measure = _measure(subject, ways.get((cell.run, subject.judge)))
            yield Rated(subject, matrix.judge[i], answers.ratings, asked, scale, measure)


def _measure(subject: Subject, way: int | None) -> Measure | None:
    """Direction of a measure, from that stored with the run (None = missing); None for a judge."""
    if JudgeName.of(subject.judge).provider != MEASURE:
        return None
    return Measure(way or 0, {None: _NOT_SAID, 0: _NEITHER}.get(way))


def controls(matrix: RatingMatrix, criteria: Sequence[str]) -> tuple[list[Rated], list[str]]:
    """Ratings by the control (the shipped surface judge) of all texts, perturbed or not, and notes. Stories on which it
    was fitted are kept: each comparison is of two texts, and it was fitted on at most one of them.
    """
    card, texts = read_card(shipped_model()), [str(text) for text in matrix.stories["text"]]
    if not any(texts):
        return [], [str(NO_TEXTS)]
    prompts = [str(prompt or "") for prompt in matrix.stories["story_prompt"]]
    features = {own: _features(texts, prompts, own=own) for own in {card.reads_own(name) for name in criteria}}
    predicted = []
    for criterion in criteria:
        values = _values(card, criterion, features[card.reads_own(criterion)])
        subject = Subject(CONTROL, matrix.dataset, None, CONTROL_NAME, None, criterion, None)
        asked = np.ones(matrix.n, dtype=np.bool_)
        predicted.append(Rated(subject, values, values[:, None], asked, Scale()))
    return predicted, [_CONTROL]


def _features(texts: Sequence[str], prompts: Sequence[str], *, own: bool) -> list[dict[str, float]]:
    count = own_features if own else score_file_features
    return [count(text, prompt) for text, prompt in zip(texts, prompts, strict=True)]


def _values(card: Card, criterion: str, features: Sequence[dict[str, float]]) -> Floats:
    values = np.full(len(features), np.nan)
    for at, plain in enumerate(features):
        if plain["length"]:
            model = card.choose(criterion, plain["length"])
            values[at] = expected(model.distribution(model.parts(for_regression(plain))))
    return values
