"""Content of the page on one pair of stories: all verdicts by each judge, in both orders, and people's preferences.

The two stories are called `one` and `other`, independently of the order in which a comparison showed them. Verdicts are
parsed in the same way as for tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from judge.answers.parsing.stored_verdicts import StoredVerdicts
from judge.base.records import Answer, Preferred, Story, Verdict
from judge.show.web.view import people
from judge.show.web.view.marked import answer as marked
from judge.show.web.view.stored import Stored

Won = Literal["one", "other", "tie"]


@dataclass(frozen=True, slots=True)
class Said:
    """A judge's answer to a comparison of two stories, with the numbers of the repeats that gave it. `won` is the
    preferred story (`one`, `other` or a tie), None where no preference could be parsed. `text` is the answer with the
    preference marked, `reasoning` the model's reasoning, `error` the error of a failed request, and `finish` the
    model's reason for ending the answer; each is None where there is none.
    """

    repeats: tuple[int, ...]
    verdict: Verdict
    won: Won | None
    text: Markup | None
    reasoning: str | None
    error: str | None
    finish: str | None

    @property
    def number(self) -> str:
        """The numbers of the repeats that gave this answer, as text."""
        return ", ".join(map(str, self.repeats))


@dataclass(frozen=True, slots=True)
class Cell:
    """Answers of one judge about a pair of stories, for one criterion, one Eval-Prompt and one order of the stories.

    `won` holds the preferred story of every repeat in order, None where no preference could be parsed. `swapped` says
    that the second story of the pair was shown first.
    """

    criterion: str
    eval_prompt: str
    swapped: bool
    answers: tuple[Said, ...]
    won: tuple[Won | None, ...]


@dataclass(frozen=True, slots=True)
class JudgeView:
    """Answers of one judge about a pair of stories, by criterion and Eval-Prompt: one cell for each order in which the
    two stories were shown. `problem` is the reason why the answers cannot be shown, None where they can.
    """

    slug: str
    judge: str
    eval_prompts: list[str]
    cells: Mapping[tuple[str, str], Sequence[Cell]]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """One person's preference between the two stories of a pair."""

    rater: str | None
    won: Won


@dataclass(frozen=True, slots=True)
class People:
    """People's judgments of a pair of stories on one criterion: each person's preference and, where people rated the
    stories, the mean rating of each story.
    """

    criterion: str
    given: tuple[Given, ...] = ()
    means: tuple[float, float] | None = None

    @property
    def implied(self) -> Won | None:
        """Preference between the two stories of the pair that is implied by people's mean ratings of them; None without
        mean ratings.
        """
        if self.means is None:
            return None
        one, other = self.means
        return "tie" if abs(one - other) < 1e-9 else "one" if one > other else "other"


@dataclass(frozen=True, slots=True)
class PairView:
    """Content of the page about one pair of stories. `number` is the position of the pair among `total` pairs, counted
    from 0; `before` and `after` are the names of the previous and the next pair, None without one. `texts_left_out`
    says that the journal has no texts of stories.
    """

    pair: str
    one: Story
    other: Story
    number: int
    total: int
    before: str | None
    after: str | None
    criteria: list[str]
    people: Mapping[str, People]
    judges: list[JudgeView] = field(default_factory=list)
    texts_left_out: bool = False


def people_of(opened: Stored, one: Story, other: Story, criteria: Sequence[str]) -> dict[str, People]:
    """People's judgments of a pair of stories by criterion: the judges' criteria first, then further criteria for which
    people gave preferences.
    """
    given: dict[str, list[Given]] = {}
    for preference in opened.journal.preferences():
        if {preference.first, preference.second} == {one.id, other.id}:
            for given_preference in preference.preferences:
                won = won_by(given_preference.value, swapped=preference.first != one.id)
                given.setdefault(given_preference.criterion, []).append(Given(given_preference.rater, won))
    means = [mean_ratings(story) for story in (one, other)]
    names = dict.fromkeys([*given, *means[0]])
    by_criterion: dict[str, People] = {}
    for criterion in criteria:
        by, rated = people.beside(criterion, given), people.beside(criterion, means[0])
        both = None if rated is None or rated not in means[1] else (means[0][rated], means[1][rated])
        by_criterion[criterion] = People(by or rated or criterion, tuple(given.get(by or "", ())), both)
    named = {people.criterion for people in by_criterion.values()}
    for name in names:
        if name not in named:
            both = (means[0][name], means[1][name]) if name in means[0] and name in means[1] else None
            by_criterion[name] = People(name, tuple(given.get(name, ())), both)
    return by_criterion


def mean_ratings(story: Story) -> dict[str, float]:
    """People's mean rating of a story by criterion."""
    values: dict[str, list[float]] = {}
    for rating in story.ratings:
        values.setdefault(rating.criterion, []).append(rating.value)
    return {criterion: sum(some) / len(some) for criterion, some in values.items()}


def won_by(preference: Preferred, *, swapped: bool) -> Won:
    """The preferred story of a pair, from a preference for the story shown first or second. `swapped` says that the
    second story of the pair was shown first.
    """
    if preference == "tie":
        return "tie"
    return "one" if (preference == "first") != swapped else "other"


def side(slug: str, opened: Stored, pair: str, one: Story) -> JudgeView:
    """The answers of one judge about a pair of stories, on all its criteria and with the stories in either order.
    `slug` is the name of the judge's result folder in addresses.
    """
    asked = opened.asked
    tried = opened.journal.asked_of(pair)
    compared = {key: (pair, second) for key, _, second, _, _ in tried}
    reading = StoredVerdicts.of_run(asked.definition, compared, opened.journal.text_of)
    cells: dict[tuple[str, str], list[Cell]] = {}
    for key, first, _, criterion, prompt in sorted(tried, key=lambda row: row[1] != one.id):
        answers = opened.journal.answers_to(key)
        cell = _cell(criterion, prompt, answers, reading, swapped=first != one.id)
        cells.setdefault((criterion, prompt), []).append(cell)
    return JudgeView(slug, asked.judge, asked.eval_prompts, cells)


def _cell(criterion: str, prompt: str, answers: Sequence[Answer], reading: StoredVerdicts, *, swapped: bool) -> Cell:
    """The answers to one comparison of two stories; equal answers of several repeats are merged. `swapped` says that
    the second story of the pair was shown first.
    """
    same: dict[tuple[str | None, ...], list[tuple[Answer, Verdict]]] = {}
    won: list[Won | None] = []
    for answer in answers:
        verdict, response = reading.verdict(answer), answer.response
        won.append(None if verdict.preference is None else won_by(verdict.preference, swapped=swapped))
        key = (answer.error,) if response is None else (response.text, response.reasoning, response.finish_reason)
        same.setdefault((*key, verdict.status, verdict.preference), []).append((answer, verdict))
    given = tuple(_said(group, swapped=swapped) for group in same.values())
    return Cell(criterion, prompt, swapped, given, tuple(won))


def _said(group: Sequence[tuple[Answer, Verdict]], *, swapped: bool) -> Said:
    answer, verdict = group[0]
    response = answer.response
    return Said(
        tuple(repeated.repeat for repeated, _ in group),
        verdict,
        None if verdict.preference is None else won_by(verdict.preference, swapped=swapped),
        None if response is None else marked(response.text, verdict),
        None if response is None else response.reasoning,
        answer.error,
        None if response is None else response.finish_reason,
    )
