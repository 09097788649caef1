"""Pages on the map of explanations made by `judge explain`: the picture, the list and the texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from judge.asking.run_folder import ResultFolder
from judge.base.records import Judgment
from judge.show.web.view.judgments import Stored, stored
from judge.show.web.view.map import Dot, MapFilters, opened, picture_file, state_of
from judge.show.web.view.marked import excerpt
from judge.show.web.view.pages.answers import whole_number
from judge.show.web.view.runs import MAP
from judge.show.web.view.site import Computed, NotFoundError, Site

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


COLOURS = ("criterion", "eval_prompt", "cluster", "rating")


def map_page(site: Site, request: Request) -> Response:
    """The map, and a list of explanations that pass the filters."""
    run = site.run(request)
    mapped = [name for name, folder in run.results.items() if state_of(folder) is not None]
    slug = mapped[0] if mapped and "judge" not in request.query_params else site.slug(request, run)
    folder = run.results[slug]
    query = request.query_params
    filters = MapFilters(**{field.name: query.get(field.name, "") for field in fields(MapFilters)})
    colour = query.get("colour", "criterion")
    values: dict[str, Any] = {"facts": None, "work": None, "rows": [], "more": None, "clusters": [], "points": []}
    state = state_of(folder)
    if state is not None:
        computed = _read(site, folder, state)
        values["work"] = computed.work
        with opened(computed.file) as index:
            if index is not None and computed.work is None:
                dots, more = index.page(filters, after=-1 if (a := whole_number(query.get("after"))) is None else a)
                values |= {"facts": index.facts, "more": more, "clusters": index.clusters(filters)}
                values["ratings"] = index.ratings()
                with stored(folder) as answers:
                    values |= {"rows": [_row(answers, dot) for dot in dots], "criteria": answers.asked.criteria}
                    values |= {"prompts": answers.asked.eval_prompts}
    return site.page(
        "map.html", run, "map", slug=slug, filters=filters, set=filters.words(), colours=COLOURS,
        colour=colour if colour in COLOURS else "criterion", exists=state is not None, **values,
    )  # fmt: skip


def _read(site: Site, folder: ResultFolder, wanted: str) -> Computed:
    # A map of another fingerprint than `wanted` is converted in the background.
    file = site.kept.folder_of(folder.path) / MAP
    with opened(file) as index:
        if index is not None and index.facts.get("state") == wanted:
            return Computed(file, None)
    return site.computed("map", folder.path, MAP, wanted, [folder.path])


def _row(answers: Stored, dot: Dot) -> dict[str, Any]:
    """Point, beginning of the explanation (None where it cannot be shown) and rating's label."""
    scale = answers.asked.scales.get(dot.criterion)
    label = None if scale is None else scale.label_of(dot.rating)
    position = answers.journal.position_of(dot.story)
    story = None if position is None else answers.journal.story_at(position)
    text = None
    for answer in () if story is None else answers.answers(story, dot.criterion, dot.eval_prompt):
        if answer.repeat == (dot.repeat or 0) and answer.response is not None:
            judgment = answers.asked.reading.judgment(answer)
            # The place of the rating is one in the whole answer, not in the explanation.
            text = excerpt(judgment.explanation or answer.response.text, Judgment("ok"))
            break
    return {"dot": dot, "text": text, "label": label}


def map_data(site: Site, request: Request) -> Response:
    """Coordinates and values of all drawn points."""
    from starlette.responses import FileResponse

    run = site.run(request)
    file = picture_file(site.kept.folder_of(run.results[site.slug(request, run)].path) / MAP)
    if not file.is_file():
        raise NotFoundError(f"run {run.name} holds no map", hint=f"judge explain {run.path}")
    return FileResponse(file, media_type="application/json", headers={"cache-control": "no-store"})


def dot_part(site: Site, request: Request) -> Response:
    """Redirect from a point of the map to the answers to its query."""
    from starlette.responses import RedirectResponse

    run = site.run(request)
    slug = site.slug(request, run)
    number = whole_number(request.query_params.get("number"))
    with opened(site.kept.folder_of(run.results[slug].path) / MAP) as index:
        dot = None if index is None or number is None else index.dot(number)
    if dot is None:
        raise NotFoundError(f"the map has no point {number}")
    target = request.url.replace(path=f"/run/{run.key}/part/answer", query="").include_query_params(
        judge=slug, story=dot.story, criterion=dot.criterion, eval_prompt=dot.eval_prompt, repeat=dot.repeat or 0
    )
    return RedirectResponse(str(target))


PAGES: dict[str, Callable[[Site, Any], Any]] = {
    "/run/{run}/map": map_page,
    "/run/{run}/map.json": map_data,
    "/run/{run}/part/dot": dot_part,
}
