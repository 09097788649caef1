"""Content of the page on one story: all answers by each judge, and human ratings. Answers are parsed in the same way as
for tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from markupsafe import Markup

from judge.base.records import Answer, Judgment, Rating, Scale, Story
from judge.show.web.view.judgments import Stored
from judge.show.web.view.marked import answer as marked

# Of ratings that have no labels.
_NUMBERS = Scale()


@dataclass(frozen=True, slots=True)
class Said:
    """A judge's answer to a query about a story, with the numbers of the repeats that gave it (equal answers are shown
    once). `text` is the answer with the rating marked, `reasoning` the model's reasoning, `error` the error of a failed
    request, `finish` the model's reason for ending the answer, and `label` the label of the rating on the scale; each
    is None where there is none.
    """

    repeats: tuple[int, ...]
    judgment: Judgment
    text: Markup | None
    reasoning: str | None
    error: str | None
    finish: str | None
    label: str | None = None

    @property
    def number(self) -> str:
        """The numbers of the repeats that gave this answer, as text; they count from 0, as in all tables and files."""
        return ", ".join(str(repeat) for repeat in self.repeats)


@dataclass(frozen=True, slots=True)
class Cell:
    """One judge's answers about a story on one criterion with one Eval-Prompt. `asked` is the number of repeats that
    the run requests, and `ratings` has one entry for each repeat tried, None where no rating could be parsed.
    """

    criterion: str
    eval_prompt: str
    asked: int
    answers: tuple[Said, ...]
    ratings: tuple[float | None, ...]
    scale: Scale = _NUMBERS

    @property
    def mean(self) -> float | None:
        """Mean of the ratings parsed from the answers; None without a rating, and for labels without an order."""
        rated = [rating for rating in self.ratings if rating is not None]
        return fmean(rated) if rated and self.scale.numeric else None

    @property
    def flags(self) -> list[str]:
        """Flags that the parser gave to the judge's answers about the story, each once."""
        return list(dict.fromkeys(flag for given in self.answers for flag in given.judgment.flags))


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One judge's answers about a story, by (criterion, Eval-Prompt). `problem` is a sentence that says why they cannot
    be shown or compared, None without a problem.
    """

    slug: str
    judge: str
    eval_prompts: list[str]
    cells: dict[tuple[str, str], Cell]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """Human ratings of a story on one criterion, as pairs (rater, value), where the rater is None if unknown. `judged`
    says whether judges rate this criterion too.
    """

    criterion: str
    ratings: tuple[tuple[str | None, float], ...] = ()
    judged: bool = True
    scale: Scale = _NUMBERS

    @property
    def mean(self) -> float | None:
        """Mean of the human ratings of the story; None without a rating, and for labels without an order."""
        return fmean(value for _, value in self.ratings) if self.ratings and self.scale.numeric else None


@dataclass(frozen=True, slots=True)
class StoryView:
    """Content of the page about one story. `position` is the position of the story among `total` stories, counted from
    0; `before` and `after` are the ids of the previous and the next story, None without one. `people` holds the human
    ratings by criterion, and `raters` is the word for them: "people", or "labels" if no person gave them.
    """

    story: Story
    position: int
    total: int
    before: str | None
    after: str | None
    criteria: list[str]
    people: dict[str, Rated]
    judges: list[JudgeView] = field(default_factory=list)
    raters: str = "people"
    """As `Asked.raters`."""


def people_of(
    story: Story, criteria: Sequence[str], scales: Mapping[str, Scale], declared: Mapping[str, str] | None = None
) -> dict[str, Rated]:
    """Human ratings of a story by criterion: first the judges' criteria (matched ignoring case), then further criteria.

    `scales` are the scales of the judges' criteria by name. `declared` maps a judge's criterion to the human criterion
    with which it is compared.
    """
    given: dict[str, list[tuple[str | None, float]]] = {}
    for rating in story.ratings:
        given.setdefault(rating.criterion, []).append((_named(rating), rating.value))
    names = {name.casefold(): name for name in criteria}
    rated = {name: Rated(name) for name in criteria}
    for criterion, ratings in given.items():
        name = names.get(criterion.casefold(), criterion)
        scale = scales.get(name, _NUMBERS)
        if not all(scale.on_step(value) for _, value in ratings):
            scale = _NUMBERS  # people rated on another scale, and their numbers are none of its codes
        rated[name] = Rated(criterion, tuple(ratings), judged=criterion.casefold() in names, scale=scale)
    by_name = {criterion.casefold(): criterion for criterion in given}
    for own, theirs in (declared or {}).items():
        mine, other = names.get(own.casefold()), by_name.get(theirs.casefold())
        if mine is not None and other is not None:
            # Its mean stands beside the judge's; the page names it by what people were asked.
            rated[mine] = Rated(other, tuple(given[other]), scale=scales.get(mine, _NUMBERS))
    return rated


def _named(rating: Rating) -> str | None:
    """Name of the rater of a human rating, with the panel, as far as they are known; None where neither is known."""
    return ", ".join(name for name in (rating.rater, rating.panel) if name) or None


def side(slug: str, opened: Stored, story: Story, criteria: Iterable[str] | None = None) -> JudgeView:
    """The answers of one judge about a story, on the given criteria; None = on all criteria. `slug` is the name of the
    judge's result folder in addresses.
    """
    asked = opened.asked
    wanted = asked.criteria if criteria is None else [name for name in criteria if name in asked.criteria]
    cells = {
        (criterion, prompt): cell(opened, story, criterion, prompt)
        for criterion in wanted
        for prompt in asked.eval_prompts
    }
    return JudgeView(slug, asked.judge, asked.eval_prompts, cells)


def cell(opened: Stored, story: Story, criterion: str, eval_prompt: str) -> Cell:
    """The answers to one query about a story; equal answers of several repeats are merged."""
    answers = opened.answers(story, criterion, eval_prompt)
    judged: list[tuple[Answer, Judgment]] = []
    for answer in answers:
        # Repeats often say the same: read once.
        reading = next((j for a, j in judged if _says(a) == _says(answer)), None)
        judged.append((answer, opened.asked.reading.judgment(answer) if reading is None else reading))
    same: dict[tuple[str | None, ...], list[tuple[Answer, Judgment]]] = {}
    for answer, judgment in judged:
        response = answer.response
        key = (answer.error,) if response is None else (response.text, response.reasoning, response.finish_reason)
        same.setdefault((*key, judgment.status, str(judgment.rating)), []).append((answer, judgment))
    scale = opened.asked.scales.get(criterion, _NUMBERS)
    given = tuple(_said(group, scale) for group in same.values())
    ratings = tuple(judgment.rating for _, judgment in judged)
    return Cell(criterion, eval_prompt, opened.asked.repeats, given, ratings, scale)


def _says(answer: Answer) -> tuple[Any, ...]:
    """The parts of a judge's answer that are compared: two answers to the same query in which these parts are equal
    have the same parsed rating.
    """
    return (answer.outcome, answer.response)


def _said(group: Sequence[tuple[Answer, Judgment]], scale: Scale) -> Said:
    answer, judgment = group[0]
    response = answer.response
    return Said(
        tuple(repeated.repeat for repeated, _ in group),
        judgment,
        None if response is None else marked(response.text, judgment),
        None if response is None else response.reasoning,
        answer.error,
        None if response is None else response.finish_reason,
        scale.label_of(judgment.rating),
    )
