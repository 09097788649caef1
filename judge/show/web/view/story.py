"""Answers of judges as pages show them, parsed as for tables: about one story, or about two; and human ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from judge.asking.run_folder import ResultFolder
from judge.base.errors import TELLS_INTACT, JudgeError
from judge.base.records import Answer, Judgment, Scale, Story, Verdict
from judge.base.wording import PLAIN, written
from judge.show.web.view.judgments import Stored, stored
from judge.show.web.view.marked import answer as marked
from judge.show.web.view.site import NotFoundError

# Judges beside each other on a page.
BESIDE = 4
# Of ratings that have no labels.
_NUMBERS = Scale()

Read = TypeVar("Read", Judgment, Verdict)
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Said:
    """A judge's answer with its repeats (equal answers are shown once); a field is None where there is none. `text` has
    the rating or preference marked, `finish` is the reason for ending, and `label` the rating's on the scale, or the
    preferred story."""

    repeats: tuple[int, ...]
    judgment: Judgment | Verdict
    text: Markup | None
    reasoning: str | None
    error: str | None
    finish: str | None
    label: str | None = None

    @property
    def number(self) -> str:
        """The repeats as text, from 0 as in all tables and files."""
        return ", ".join(str(repeat) for repeat in self.repeats)


@dataclass(frozen=True, slots=True)
class Cell:
    """One judge's answers about a story on one criterion with one Eval-Prompt. `asked` repeats are requested; `ratings`
    has each tried, None where not parsed."""

    criterion: str
    eval_prompt: str
    asked: int
    answers: tuple[Said, ...]
    ratings: tuple[float | None, ...]
    scale: Scale = _NUMBERS

    @property
    def mean(self) -> float | None:
        """None without a rating, and for labels without an order."""
        rated = [rating for rating in self.ratings if rating is not None]
        return fmean(rated) if rated and self.scale.numeric else None

    @property
    def flags(self) -> list[str]:
        """The parser's flags, each once."""
        return list(dict.fromkeys(flag for given in self.answers for flag in given.judgment.flags))


@dataclass(frozen=True, slots=True)
class JudgeView(Generic[Shown]):
    """One judge's answers by (criterion, Eval-Prompt); `problem` is why they cannot be shown, or None."""

    judge: str
    eval_prompts: list[str]
    cells: Mapping[tuple[str, str], Shown]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """Human ratings of a story on one criterion as (rater or None, value); `judged`: judges rate it too."""

    criterion: str
    ratings: tuple[tuple[str | None, float], ...] = ()
    judged: bool = True
    scale: Scale = _NUMBERS

    @property
    def mean(self) -> float | None:
        """None without a rating, and for labels without an order."""
        return fmean(value for _, value in self.ratings) if self.ratings and self.scale.numeric else None


def people_of(
    story: Story, criteria: Sequence[str], scales: Mapping[str, Scale], declared: Mapping[str, str] | None = None
) -> dict[str, Rated]:
    """Human ratings by criterion: first the judges' (matched ignoring case), then others. `declared` maps a judge's
    criterion to the human one."""
    given: dict[str, list[tuple[str | None, float]]] = {}
    for rating in story.ratings:
        # With the panel, as far as known.
        rater = ", ".join(name for name in (rating.rater, rating.panel) if name) or None
        given.setdefault(rating.criterion, []).append((rater, rating.value))
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


def side(opened: Stored, story: Story, problem: str | None = None) -> JudgeView[Cell]:
    """One judge's answers about a story on all criteria."""
    asked = opened.asked
    cells = {
        (criterion, prompt): cell(opened, story, criterion, prompt)
        for criterion in asked.criteria
        for prompt in asked.eval_prompts
    }
    return JudgeView(asked.judge, asked.eval_prompts, cells, problem)


def other_side(folder: ResultFolder, look: Callable[[Stored], JudgeView[Shown]]) -> JudgeView[Shown]:
    """What `look` finds in another judge's journal; `problem` is the reason where it cannot be read."""
    try:
        with stored(folder) as opened:
            return look(opened)
    except JudgeError as error:
        return JudgeView(folder.path.name, [], {}, written(error.sentence, PLAIN))


def cell(opened: Stored, story: Story, criterion: str, eval_prompt: str) -> Cell:
    """Answers to one query; equal ones are merged."""
    answers = opened.answers(story, criterion, eval_prompt)
    judged: list[tuple[Answer, Judgment]] = []
    for answer in answers:
        # Repeats often say the same: read once.
        reading = next((j for a, j in judged if _says(a) == _says(answer)), None)
        judged.append((answer, opened.asked.reading.judgment(answer) if reading is None else reading))
    scale = opened.asked.scales.get(criterion, _NUMBERS)
    given = merged(judged, lambda judgment: scale.label_of(judgment.rating))
    ratings = tuple(judgment.rating for _, judgment in judged)
    return Cell(criterion, eval_prompt, opened.asked.repeats, given, ratings, scale)


def _says(answer: Answer) -> tuple[Any, ...]:
    return (answer.outcome, answer.response)


def merged(answers: Iterable[tuple[Answer, Read]], label: Callable[[Read], str | None]) -> tuple[Said, ...]:
    """Answers with what was read of each; equal answers of several repeats are merged."""
    same: dict[tuple[str | None, ...], list[tuple[Answer, Read]]] = {}
    for answer, judgment in answers:
        said: tuple[str | None, ...] = (answer.error,)
        if (response := answer.response) is not None:
            said = response.text, response.reasoning, response.finish_reason
        told = judgment.preference if isinstance(judgment, Verdict) else str(judgment.rating)
        same.setdefault((*said, judgment.status, told), []).append((answer, judgment))
    given = []
    for group in same.values():
        answer, judgment = group[0]
        response = answer.response
        given.append(
            Said(
                tuple(repeated.repeat for repeated, _ in group),
                judgment,
                None if response is None else marked(response.text, judgment),
                None if response is None else response.reasoning,
                answer.error,
                None if response is None else response.finish_reason,
                label(judgment),
            )
        )
    return tuple(given)


def story_named(opened: Stored, name: str) -> Story:
    """The journal's story of this name. Raises NotFoundError where it has none."""
    position = opened.journal.position_of(name)
    story = None if position is None else opened.journal.story_at(position)
    if story is None:
        raise NotFoundError(f"the journal has no story {name!r}", hint=TELLS_INTACT)
    return story
