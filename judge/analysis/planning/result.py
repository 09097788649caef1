"""Result types of planning: the number needed for each question, and gains and costs of further ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.options.planning_options import PlanOptions
from judge.analysis.options.signed import Signed
from judge.stats.estimation.sample_size import Number

Question = Literal["half-width", "difference", "order of systems", "order of stories", "people", "replacement"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The number (of story-prompts, stories, answers or people) that reaches an aim on one criterion.

    Attributes
    ----------
    question : str
        The aim.
    unit : str
        What the number counts: ``story-prompts``, ``stories`` of a system, ``answers`` or ``people`` for a story.
    number : Number
        The number with its range of 10 to 90 %; None = larger than any number tried, or not attainable.
    stories : float or None
        Stories for each story-prompt; None if the number has another unit.
    has, now : float or None
        The pilot's number, and what it achieves: half-width, smallest difference detected, reliability or power.
    design : str
        Description of the numbers that are held fixed.
    reason : str or None
        Reason why there is no answer.
    null : float or None
        For the alternative annotator test: how often a judge that gives every story the same rating would pass
        with this number.
    limit : float or None
        For a reliability that no number reaches: its limit as the number grows.
    """

    dataset: str
    question: Question
    criterion: str
    unit: str
    number: Number
    stories: float | None
    has: float | None
    now: float | None
    design: str = ""
    reason: str | None = None
    null: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Lever:
    """The gain in tau with people from one more repeat, Eval-Prompt, judge or person, and its cost.

    `lever` says which of these is added, and `has` is their present number. `tau` is the tau of the mean of all
    ratings, `last` the gain from the last one added, and `gain` the predicted gain from the next, with its range of 10
    to 90 % in `low` and `high`. `answers` and `ratings` are the numbers of further answers by judges and of further
    human ratings; dollars, tokens and hours are their cost, None where unknown.
    """

    dataset: str
    criterion: str
    lever: str
    has: int
    tau: float | None
    last: float | None
    gain: float | None
    low: float | None
    high: float | None
    answers: int
    ratings: int
    dollars: float | None
    tokens: float | None
    hours: float | None
    reason: str | None = None

    def per_hundredth(self, total: float | None) -> float | None:
        """Cost of a gain of 0.01 in tau, from the `total` cost of one more repeat, Eval-Prompt, judge or person.

        None if there is no gain, or if the total cost is unknown.
        """
        return None if total is None or not self.gain or self.gain <= 0 else total / (100 * self.gain)


@dataclass(frozen=True, slots=True, eq=False)
class Planned(Signed):
    """Result of planning a study: answers by question and criterion, and gains and costs of the possible next expenses.

    `source` describes where the variances come from; `pilot` is true if they come from a pilot.
    """

    answers: tuple[Answer, ...]
    levers: tuple[Lever, ...]
    options: PlanOptions
    source: str
    pilot: bool

    @property
    def frame(self) -> pd.DataFrame:
        """A long frame with one row per planning question and criterion.

        A number is null if it is larger than any number tried, or if there is none; the column `reason` then says why.
        """
        return self.signed([dict(_flat(answer)) for answer in self.answers])

    @property
    def levers_frame(self) -> pd.DataFrame:
        """A frame of the gain in tau from one more repeat, Eval-Prompt, judge or person, with the cost of a gain of
        0.01.

        There is one row for each of these and each criterion.
        """
        names = [name for name in Lever.__dataclass_fields__ if name != "reason"]
        rows = [
            {name: getattr(lever, name) for name in names}
            | {
                f"{cost}_per_hundredth": lever.per_hundredth(getattr(lever, cost))
                for cost in ("dollars", "tokens", "hours")
            }
            | {"reason": lever.reason}
            for lever in self.levers
        ]
        return self.signed(rows)


def _flat(answer: Answer) -> Iterator[tuple[str, object]]:
    yield from (
        ("dataset", answer.dataset),
        ("question", answer.question),
        ("criterion", answer.criterion),
        ("of", answer.unit),
    )
    yield from (("number", answer.number.value), ("low", answer.number.low), ("high", answer.number.high))
    yield from (("stories_each", answer.stories), ("has", answer.has), ("now", answer.now))
    yield from (
        ("design", answer.design),
        ("null_passes", answer.null),
        ("limit", answer.limit),
        ("reason", answer.reason),
    )
