"""The read-only page of `judge view` that shows perturbed stories, each next to its original."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from judge.base.errors import TELLS_INTACT, JudgeError
from judge.base.records import Story
from judge.base.wording import PLAIN, written
from judge.show.web.view.changed import ChangedView, Sides, first_changed, has_origin, known_change, view
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.site import NotFoundError, Site
from judge.show.web.view.stored import Stored, stored
from judge.show.web.view.story import side

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BESIDE = 4
"""Judges beside each other."""


def changed_page(site: Site, request: Request) -> Response:
    """Page with one perturbed story next to its original, with the edits marked and the ratings of the two stories.
    Where there is no perturbed story, the page says why.
    """
    run = site.run(request)
    able = [slug for slug, folder in run.results.items() if folder.journal.is_file() and not site.compares(folder)]
    if not able:
        site.slug(request, run)
        reason = "These ratings were imported: their stories and answers are not in a journal that could be shown."
        return site.page("changed.html", run, "tables", view=None, reason=reason)
    wanted = request.query_params.get("story")
    with stored(run.results[able[0]]) as opened:
        name = wanted or first_changed(opened.journal)
        if name is None:
            reason = (
                "No story of this run was changed: no id is like ORIGIN@PERTURBATION.STRENGTH, with ORIGIN@none beside "
                "it. Such stories are made with judge stress make."
            )
            return site.page("changed.html", run, "tables", view=None, reason=reason)
        page_view = _view(site, run, opened, name)
        left_out = opened.asked.texts_left_out
    judges = [_sides(run, slug, page_view) for slug in able[:BESIDE]]
    return site.page("changed.html", run, "tables", view=page_view, judges=judges, left_out=left_out)


def _view(site: Site, run: FoundRun, opened: Stored, name: str) -> ChangedView:
    journal = opened.journal
    change, position = known_change(name), journal.position_of(name)
    if change is None or position is None or not has_origin(journal, name):
        raise NotFoundError(
            f"run {run.name} has no changed story {name!r} with its origin",
            hint=f"/run/{run.key}/changed has the first",
        )
    return view(
        journal,
        run,
        site.runs.root,
        str(opened.asked.definition.get("dataset") or ""),
        _story(opened, name),
        _story(opened, f"{change.origin}@none"),
    )


def _story(opened: Stored, name: str) -> Story:
    position = opened.journal.position_of(name)
    story = None if position is None else opened.journal.story_at(position)
    if story is None:
        raise NotFoundError(f"the journal has no story {name!r}", hint=TELLS_INTACT)
    return story


def _sides(run: FoundRun, slug: str, page_view: ChangedView) -> Sides:
    """Answers of a judge about the original and the perturbed story. If the judge's journal has other texts under their
    ids, or none, `problem` in the result says so. `slug` is the name of the judge's result folder in addresses.
    """
    try:
        with stored(run.results[slug]) as opened:
            for story in (page_view.origin, page_view.changed):
                if opened.journal.position_of(story.id) is None or opened.journal.text_of(story.id) != story.text:
                    return Sides(slug, problem="has no request about these two texts")
            origin, changed = (_story(opened, story.id) for story in (page_view.origin, page_view.changed))
            return Sides(slug, side(slug, opened, origin), side(slug, opened, changed))
    except JudgeError as error:
        return Sides(slug, problem=written(error.sentence, PLAIN))


OF_RATINGS: dict[str, Callable[[Site, Any], Any]] = {"/run/{run}/changed": changed_page}
