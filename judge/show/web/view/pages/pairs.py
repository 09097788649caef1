"""Read-only pages of `judge view` about runs that compare stories: the list of comparisons, and one pair of stories
with all judgments on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from judge.answers.parsing.stored_verdicts import StoredVerdicts
from judge.base.errors import TELLS_INTACT, JudgeError
from judge.base.records import Story
from judge.base.wording import PLAIN, written
from judge.show.web.view.index import LEAD
from judge.show.web.view.judgments import AGREES, Row
from judge.show.web.view.marked import excerpt
from judge.show.web.view.pair import JudgeView, PairView, people_of, side
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.site import NotFoundError, Site
from judge.show.web.view.stored import Stored, stored

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BESIDE = 4
"""Judges beside each other on a pair's page."""

PREFERRED = {"first": "the first", "second": "the second", "tie": "neither (tie)"}
"""What a verdict can be, as the filter names it."""


def rows(opened: Stored, rows_read: list[Row]) -> list[dict[str, Any]]:
    """Values from which a page shows comparisons: for each row of the index of judgments, the names of the two stories
    and the beginning of the answer from the journal.
    """
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
    """Choices in the filters of comparisons that are the same for every run: preferences, and agreement with people."""
    return {"preferred": [(LEAD[word], label) for word, label in PREFERRED.items()], "people": list(AGREES)}


def pair_page(site: Site, request: Request) -> Response:
    """Page about one pair of stories: the two texts, each judge's preferences with the stories in either order, and
    people's preferences.
    """
    run = site.run(request)
    able = [slug for slug, folder in run.results.items() if site.compares(folder)]
    chosen = [slug for slug in request.query_params.getlist("judge") if slug in able]
    chosen = list(dict.fromkeys(chosen or able))[:BESIDE]
    if not chosen:
        raise NotFoundError(f"run {run.name} compares no stories", hint="its judgments are of single stories")
    view = _pair(run, chosen, request.query_params.get("pair", ""))
    return site.page("pair.html", run, "judgments", view=view, chosen=chosen, able=able, beside=BESIDE)


def _pair(run: FoundRun, chosen: list[str], name: str) -> PairView:
    with stored(run.results[chosen[0]]) as opened:
        journal = opened.journal
        number = journal.number_of(name)
        pair = None if number is None else journal.pair_at(number)
        if number is None or pair is None:
            raise NotFoundError(f"run {run.name} has no pair {name!r}", hint="the list of comparisons has them all")
        one, other = (_story(opened, story) for story in pair[1:])
        before, after = journal.pair_at(number - 1), journal.pair_at(number + 1)
        criteria = list(opened.asked.criteria)
        judges = [side(chosen[0], opened, name, one)]
        people = people_of(opened, one, other, criteria)
        total, left_out = journal.pair_count(), opened.asked.texts_left_out
    judges += [_other_side(slug, run, name, one, other) for slug in chosen[1:]]
    criteria += [name for view in judges[1:] for name, _ in view.cells if name not in criteria]
    return PairView(
        name,
        one,
        other,
        number,
        total,
        before[0] if before else None,
        after[0] if after else None,
        list(dict.fromkeys(criteria)),
        people,
        judges,
        left_out,
    )


def _other_side(slug: str, run: FoundRun, pair: str, one: Story, other: Story) -> JudgeView:
    """Answers about a pair of stories by a further judge of the run. If that judge's journal has other texts under the
    stories' names, or does not have them, `problem` in the result says so. `slug` is the name of the judge's result
    folder in addresses.
    """
    try:
        with stored(run.results[slug]) as opened:
            texts = [opened.journal.text_of(story.id) for story in (one, other)]
            if texts != [one.text, other.text]:
                return JudgeView(slug, opened.asked.judge, [], {}, "has no request about these two texts")
            return side(slug, opened, pair, one)
    except JudgeError as error:
        return JudgeView(slug, slug, [], {}, written(error.sentence, PLAIN))


def _story(opened: Stored, name: str) -> Story:
    position = opened.journal.position_of(name)
    story = None if position is None else opened.journal.story_at(position)
    if story is None:
        raise NotFoundError(f"the journal has no story {name!r}", hint=TELLS_INTACT)
    return story


PAGES: dict[str, Callable[[Site, Any], Any]] = {"/run/{run}/pair": pair_page}
