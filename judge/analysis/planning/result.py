"""Result of planning: what each question needs, in typed rows."""

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
    """The number (of story-prompts, ratings or people) that reaches an aim on one criterion.

    Attributes
    ----------
    unit : str
        What the number counts: ``story-prompts``, ``ratings`` of a query, or ``people`` for a story.
    number : Number
        With its range of 10 to 90 %; None = beyond what is searched, or not at all.
    stories : float or None
        Stories for each story-prompt; None where the number counts something else.
    has, now : float or None
        The pilot's own number, and what it gives: half-width, least difference found, reliability or power.
    design : str
        What stays as it is, in words.
    reason : str or None
        Why there is no answer.
    null : float or None
        Of the replacement test, how often a judge that gives every story the same rating would pass with that number.
    limit : float or None
        Of a reliability that no number reaches, what ever more would give.
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

    `tau` is that of the mean of all ratings at hand, `last` what the last one brought, and `gain` what the next would,
    with its range of 10 to 90 %.
    `answers` and `ratings` are further answers by judges and ratings by people; dollars, tokens and hours are theirs,
    None where nothing tells them.
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
        """Cost of one hundredth of tau at this rate; None where nothing is gained or the total is not known."""
        return None if total is None or not self.gain or self.gain <= 0 else total / (100 * self.gain)


@dataclass(frozen=True, slots=True, eq=False)
class Planned(Signed):
    """Answers, by question and criterion, and the gains and costs of what could be paid for next.

    `source` says in words where the variances come from, `pilot` whether they are a pilot's.
    """

    answers: tuple[Answer, ...]
    levers: tuple[Lever, ...]
    options: PlanOptions
    source: str
    pilot: bool

    @property
    def frame(self) -> pd.DataFrame:
        """A long frame, one row per question and criterion; a null number is beyond the range searched, or has a
        `reason`.
        """
        return self.signed([dict(_flat(answer)) for answer in self.answers])

    @property
    def levers_frame(self) -> pd.DataFrame:
        """A frame with one row per lever and criterion, with the cost of a hundredth of tau."""
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
