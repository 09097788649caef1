"""Pages about runs that compare stories: the list of comparisons, and one pair of stories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judge.answers.parsing.stored_answers import StoredVerdicts
from judge.base.records import Preferred, Story, Verdict
from judge.show.web.view.index import LEAD, beside
from judge.show.web.view.judgments import AGREES, Row, Stored, stored
from judge.show.web.view.marked import excerpt
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.site import NotFoundError, Site
from judge.show.web.view.story import BESIDE, JudgeView, Said, merged, other_side, story_named

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


# Content of the page on one pair of stories: all verdicts by each judge, in both orders, and people's preferences.

Won = Literal["one", "other", "tie"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Answers of one judge about a pair in one order, for one criterion and Eval-Prompt. `won` is by repeat, None where
    not parsed. `swapped`: the pair's second story was shown first."""

    swapped: bool
    answers: tuple[Said, ...]
    won: tuple[Won | None, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """One person's preference between the two stories of a pair."""

    rater: str | None
    won: Won


@dataclass(frozen=True, slots=True)
class People:
    """People's preferences on one criterion, and mean ratings if they rated both."""

    criterion: str
    given: tuple[Given, ...] = ()
    means: tuple[float, float] | None = None

    @property
    def implied(self) -> Won | None:
        """Preference implied by mean ratings, or None."""
        if self.means is None:
            return None
        one, other = self.means
        return "tie" if abs(one - other) < 1e-9 else "one" if one > other else "other"


def people_of(opened: Stored, one: Story, other: Story, criteria: Sequence[str]) -> dict[str, People]:
    """By criterion, the judges' first, then others with people's preferences."""
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
        by, rated = beside(criterion, given), beside(criterion, means[0])
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
    """The preferred story of a pair; `swapped`: its second story was shown first."""
    if preference == "tie":
        return "tie"
    return "one" if (preference == "first") != swapped else "other"


def side(opened: Stored, pair: str, one: Story) -> JudgeView[list[Cell]]:
    """One judge's answers about a pair, one cell for each order."""
    asked = opened.asked
    tried = opened.journal.asked_of(pair)
    compared = {key: (pair, second) for key, _, second, _, _ in tried}
    reading = StoredVerdicts.of_run(asked.definition, compared, opened.journal.text_of)
    cells: dict[tuple[str, str], list[Cell]] = {}
    for key, first, _, criterion, prompt in sorted(tried, key=lambda row: row[1] != one.id):
        swapped = first != one.id

        def won(verdict: Verdict, *, swapped: bool = swapped) -> Won | None:
            return None if verdict.preference is None else won_by(verdict.preference, swapped=swapped)

        read = [(answer, reading.verdict(answer)) for answer in opened.journal.answers_to(key)]
        cell = Cell(swapped, merged(read, won), tuple(won(verdict) for _, verdict in read))
        cells.setdefault((criterion, prompt), []).append(cell)
    return JudgeView(asked.judge, asked.eval_prompts, cells)


# What a verdict can be, as the filter names it.
PREFERRED = {"first": "the first", "second": "the second", "tie": "neither (tie)"}


def rows(opened: Stored, rows_read: list[Row]) -> list[dict[str, Any]]:
    """For each row, the two stories' names and the answer's beginning."""
    journal = opened.journal
    compared = {
        row.query_key: comparison for row in rows_read if (comparison := journal.comparison(row.query_key)) is not None
    }
    reading = StoredVerdicts.of_run(opened.asked.definition, compared, journal.text_of)
    return [_row(opened, row, reading, compared[row.query_key]) for row in rows_read]


def _row(opened: Stored, row: Row, reading: StoredVerdicts, compared: tuple[str, str]) -> dict[str, Any]:
    answers = opened.journal.answers_to(row.query_key)
    answer = next((candidate for candidate in answers if candidate.repeat == row.repeat), None)
    text = None
    if answer is not None and answer.response is not None:
        text = excerpt(answer.response.text, reading.verdict(answer))
    pair, second = compared
    return {
        "row": row,
        "pair": pair,
        "first": answer.story if answer is not None else "",
        "second": second,
        "preference": next((word for word, lead in LEAD.items() if word and lead == row.rating), None),
        "text": text,
        "error": answer.error if answer is not None else None,
    }


def filter_words() -> dict[str, Any]:
    """Choices in filters that are the same for every run."""
    return {"preferred": [(LEAD[word], label) for word, label in PREFERRED.items()], "people": list(AGREES)}


def pair_page(site: Site, request: Request) -> Response:
    """The two texts, each judge's preferences in either order, and people's."""
    run = site.run(request)
    able = [slug for slug, folder in run.results.items() if site.compares(folder)]
    chosen = [slug for slug in request.query_params.getlist("judge") if slug in able]
    chosen = list(dict.fromkeys(chosen or able))[:BESIDE]
    if not chosen:
        raise NotFoundError(f"run {run.name} compares no stories", hint="its judgments are of single stories")
    view = _pair(run, chosen, request.query_params.get("pair", ""))
    return site.page("pair.html", run, "judgments", view=view, chosen=chosen, able=able, beside=BESIDE)


def _pair(run: FoundRun, chosen: list[str], name: str) -> dict[str, Any]:
    """Content of the page; `number` counts from 0, `before` and `after` are neighbours or None."""
    with stored(run.results[chosen[0]]) as opened:
        journal = opened.journal
        number = journal.number_of(name)
        pair = None if number is None else journal.pair_at(number)
        if number is None or pair is None:
            raise NotFoundError(f"run {run.name} has no pair {name!r}", hint="the list of comparisons has them all")
        one, other = (story_named(opened, story) for story in pair[1:])
        before, after = journal.pair_at(number - 1), journal.pair_at(number + 1)
        criteria = list(opened.asked.criteria)
        judges = [side(opened, name, one)]
        view = {
            "pair": name,
            "one": one,
            "other": other,
            "number": number,
            "total": journal.pair_count(),
            "before": before[0] if before else None,
            "after": after[0] if after else None,
            "people": people_of(opened, one, other, criteria),
            "texts_left_out": opened.asked.texts_left_out,
        }

    def beside_it(opened: Stored) -> JudgeView[list[Cell]]:
        if [opened.journal.text_of(story.id) for story in (one, other)] != [one.text, other.text]:
            return JudgeView(opened.asked.judge, [], {}, "has no request about these two texts")
        return side(opened, name, one)

    judges += [other_side(run.results[slug], beside_it) for slug in chosen[1:]]
    criteria += [name for judge in judges[1:] for name, _ in judge.cells]
    return view | {"criteria": list(dict.fromkeys(criteria)), "judges": judges}


PAGES: dict[str, Callable[[Site, Any], Any]] = {"/run/{run}/pair": pair_page}
