"""The server of `judge view`: read-only; errors are pages with a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder
from judge.base.errors import TELLS_INTACT, JudgeError, SpecError
from judge.base.records import Judgment, Story
from judge.base.wording import PLAIN, written
from judge.inputs.perturbations.perturbation import CATALOGUE, Facts, applied
from judge.inputs.perturbations.story_name import PerturbedName, read_name, story_name
from judge.lab.stress.making import edits_of, facts_path
from judge.show.web.pages import static_route
from judge.show.web.view.judgments import Stored, stored
from judge.show.web.view.map import Dot, MapFilters, opened, picture_file, state_of
from judge.show.web.view.marked import difference, edited, excerpt
from judge.show.web.view.pages import analyses, answers, overview, pairs
from judge.show.web.view.pages.answers import whole_number
from judge.show.web.view.runs import MAP, FoundRun
from judge.show.web.view.site import Computed, NotFoundError, Site
from judge.show.web.view.story import JudgeView, side

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access


# Content of the page that shows a perturbed story next to its original, with the changes marked. Texts of stories are
# escaped.

# Ids in one batch: the first that names a known change is usually near the start, and a dataset may hold very many.
_FEW = 500


@dataclass(frozen=True, slots=True)
class Sides:
    """One judge's answers about the original and the perturbed story; `problem` is why they are not shown."""

    slug: str
    origin: JudgeView | None = None
    changed: JudgeView | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedView:
    """Content of the page on one perturbed story; `old` and `new` are the texts with changes marked. `marks` are from
    the facts file's edits, or a comparison of words. `versions` are (id, change). `before` and `after` are neighbours'
    ids with this perturbation and strength, or None."""

    origin: Story
    changed: Story
    name: PerturbedName
    facts: Facts
    old: Markup
    new: Markup
    marks: Literal["facts", "words"]
    versions: tuple[tuple[str, str], ...]
    before: str | None
    after: str | None


def first_changed(journal: JournalReader) -> str | None:
    """Id of the first perturbed story whose original is in the journal too, or None."""
    position = 0
    while names := journal.names_holding("@", position, _FEW):
        match = next((name for name in names if known_change(name) and has_origin(journal, name)), None)
        if match is not None:
            return match
        position = (journal.position_of(names[-1]) or 0) + 1
    return None


def known_change(story: str) -> PerturbedName | None:
    """The perturbation in a story's id, if this program knows it."""
    name = read_name(story)
    return name if name is not None and name.perturbation in CATALOGUE else None


def has_origin(journal: JournalReader, story: str) -> bool:
    """Whether the journal holds the original of a perturbed story's id."""
    name = read_name(story)
    return name is not None and journal.position_of(story_name(name.origin)) is not None


def view(journal: JournalReader, run: FoundRun, root: Path, dataset: str, changed: Story, origin: Story) -> ChangedView:
    """A perturbed story next to its original; the id of `changed` must name a perturbation."""
    name = read_name(changed.id)
    if name is None or name.perturbation is None:
        raise ValueError(f"{changed.id!r} tells of no change")
    old, new, marks = _marked(_facts_files(run, root, dataset), origin.text, changed)
    position = journal.position_of(changed.id) or 0
    ending = changed.id.removeprefix(name.origin)
    beside = [
        next((other for other in names if other != changed.id and other.endswith(ending) and known_change(other)), None)
        for names in (
            journal.names_holding(ending, position, 3, backwards=True),
            journal.names_holding(ending, position, 3),
        )
    ]
    versions = [
        (other, change)
        for other in journal.names_holding(f"{name.origin}@")
        if (change := known_change(other)) is not None and change.origin == name.origin
    ]
    return ChangedView(
        origin,
        changed,
        name,
        CATALOGUE[name.perturbation],
        old,
        new,
        marks,
        tuple((other, change_words(change)) for other, change in versions),
        *beside,
    )


def change_words(name: PerturbedName) -> str:
    """A perturbation's name, with its strength if there are several."""
    facts = CATALOGUE[name.perturbation or ""]
    return f"{facts.name} {name.strength}" if len(facts.strengths) > 1 else facts.name


def _facts_files(run: FoundRun, root: Path, dataset: str) -> Iterator[Path]:
    # Next to the dataset file that the run names, or in the run's folder; only below `root`.
    named = [facts_path(run.path / dataset)] if dataset.endswith(".jsonl") else []
    for file in [*named, *sorted(run.path.glob("*.facts.jsonl"))]:
        if file.resolve().is_relative_to(root):
            yield file


def _marked(files: Iterator[Path], text: str, changed: Story) -> tuple[Markup, Markup, Literal["facts", "words"]]:
    """Edits of a facts file if they turn the original into the perturbed text, else a comparison of words."""
    for file in files:
        edits = edits_of(file, changed.id)
        if edits is not None and _leads(text, edits, changed.text):
            return *edited(text, edits), "facts"
    return *difference(text, changed.text), "words"


def _leads(text: str, edits: Sequence[Any], to: str) -> bool:
    try:
        return applied(text, edits) == to
    except ValueError:
        return False


# Pages on the map of explanations made by `judge explain`: the picture, the list and the texts.

COLOURS = ("criterion", "eval_prompt", "cluster", "rating")


def map_page(site: Site, request: Request) -> Response:
    """The map, and a list of explanations that pass the filters."""
    run = site.run(request)
    mapped = [name for name, folder in run.results.items() if state_of(folder) is not None]
    slug = mapped[0] if mapped and "judge" not in request.query_params else site.slug(request, run)
    folder = run.results[slug]
    query = request.query_params
    filters = MapFilters(**{k: query.get(k, "") for k in ("criterion", "eval_prompt", "system", "cluster", "rating")})
    colour = query.get("colour", "criterion")
    values: dict[str, Any] = {"facts": None, "work": None, "rows": [], "more": None, "clusters": [], "points": []}
    state = state_of(folder)
    if state is not None:
        computed = _read(site, folder, state)
        values["work"] = computed.work
        with opened(computed.file) as index:
            if index is not None and computed.work is None:
                dots, more = index.page(filters, after=-1 if (a := whole_number(query.get("after"))) is None else a)
                values |= {"facts": index.facts, "more": more, "clusters": index.clusters()}
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
    if story is None:
        return {"dot": dot, "text": None, "label": label}
    for answer in answers.answers(story, dot.criterion, dot.eval_prompt):
        if answer.repeat == (dot.repeat or 0) and answer.response is not None:
            judgment = answers.asked.reading.judgment(answer)
            # The place of the rating is one in the whole answer, not in the explanation.
            text = excerpt(judgment.explanation or answer.response.text, Judgment("ok"))
            return {"dot": dot, "text": text, "label": label}
    return {"dot": dot, "text": None, "label": label}


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


# The read-only page of `judge view` that shows perturbed stories, each next to its original.

# Judges beside each other.
BESIDE = 4


def changed_page(site: Site, request: Request) -> Response:
    """A perturbed story next to its original, with edits and ratings; without one, the reason."""
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
    """`problem` says if the judge's journal has other texts under their ids, or none."""
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


# Requests answered at a time: each thread keeps memory of its own.
THREADS = 6


def view_app(root: Path, access: Access) -> Starlette:
    """The web application of `judge view` for runs under `root`. Raises SpecError where it is no folder."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    if not root.is_dir():
        raise SpecError(
            f"{root} is no folder",
            hint="judge view FOLDER, with the folder that holds the runs; judge demo makes a run",
        )
    site = Site(root, access)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        from anyio.to_thread import current_default_thread_limiter

        current_default_thread_limiter().total_tokens = THREADS
        yield
        site.close()

    pages = overview.PAGES | analyses.PAGES | answers.PAGES | pairs.PAGES
    routes = [Route(address, _endpoint(site, page)) for address, page in pages.items()]
    rated = analyses.OF_RATINGS | answers.OF_RATINGS | OF_RATINGS | PAGES
    routes += [Route(address, _endpoint(site, _of_ratings(page))) for address, page in rated.items()]
    handlers: Any = {
        JudgeError: lambda _, error: _sentence(site, error),
        sqlite3.Error: lambda _, error: _sentence(site, _unreadable(error)),
        HTTPException: lambda request, error: _sentence(site, _unknown(request, error), error.status_code),
    }
    return Starlette(routes=[*routes, static_route()], exception_handlers=handlers, lifespan=life)


def _endpoint(site: Site, page: Callable[[Site, Any], Any]) -> Callable[[Any], Any]:
    # Starlette runs synchronous functions in a thread, so others do not wait while SQLite reads the disk.
    def endpoint(request: Request) -> Response:
        response: Response = page(site, request)
        return response

    return endpoint


def _of_ratings(page: Callable[[Site, Any], Any]) -> Callable[[Site, Any], Any]:
    """For pages about ratings: NotFoundError for runs that compare stories."""

    def shown(site: Site, request: Request) -> Any:
        run = site.run(request)
        wanted = request.query_params.get("judge")
        if site.only_compares(run) or (wanted in run.results and site.compares(run.results[wanted])):
            raise NotFoundError(
                f"run {run.name} compares stories: this page is about ratings", hint=f"/run/{run.key}/judgments"
            )
        return page(site, request)

    return shown


def _sentence(site: Site, error: JudgeError, status: int | None = None) -> Response:
    """`status` None = 404 for NotFoundError and 422 otherwise."""
    status = status or (404 if isinstance(error, NotFoundError) else 422)
    sentence, hint = written(error.sentence, PLAIN), written(error.hint or "", PLAIN)
    return site.page("parts/sentence.html", status=status, sentence=sentence, hint=hint or None)


def _unreadable(error: sqlite3.Error) -> JudgeError:
    return JudgeError(f"a file of this run cannot be read ({error})", hint=TELLS_INTACT)


def _unknown(request: Request, error: Any) -> JudgeError:
    if error.status_code == 405:
        return NotFoundError("these pages only show: nothing can be written here")
    return NotFoundError(f"there is no page at {request.url.path}")
