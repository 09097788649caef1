"""The page of a perturbed story next to its original, with the changes and the ratings; without a story, the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from judge.answers.journal import JournalReader
from judge.base.errors import JudgeError
from judge.base.records import Story
from judge.base.wording import PLAIN, written
from judge.inputs.perturbations.perturbation import (
    CATALOGUE,
    Facts,
    PerturbedName,
    applied,
    edits_of,
    facts_path,
    read_name,
    story_name,
)
from judge.show.web.view.judgments import Stored, stored
from judge.show.web.view.marked import difference, edited
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.site import NotFoundError, Site
from judge.show.web.view.story import BESIDE, Cell, JudgeView, side, story_named

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

# Ids in one batch: the first that names a known change is usually near the start, and a dataset may hold very many.
_FEW = 500


@dataclass(frozen=True, slots=True)
class Sides:
    """One judge's answers about the original and the perturbed story; `problem` is why they are not shown."""

    slug: str
    origin: JudgeView[Cell] | None = None
    changed: JudgeView[Cell] | None = None
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
        story_named(opened, name),
        story_named(opened, f"{change.origin}@none"),
    )


def _sides(run: FoundRun, slug: str, page_view: ChangedView) -> Sides:
    """`problem` says if the judge's journal has other texts under their ids, or none."""
    try:
        with stored(run.results[slug]) as opened:
            for story in (page_view.origin, page_view.changed):
                if opened.journal.position_of(story.id) is None or opened.journal.text_of(story.id) != story.text:
                    return Sides(slug, problem="has no request about these two texts")
            origin, changed = (story_named(opened, story.id) for story in (page_view.origin, page_view.changed))
            return Sides(slug, side(opened, origin), side(opened, changed))
    except JudgeError as error:
        return Sides(slug, problem=written(error.sentence, PLAIN))


OF_RATINGS: dict[str, Callable[[Site, Any], Any]] = {"/run/{run}/changed": changed_page}
