"""Content of the page that shows a perturbed story next to its original, with the changes marked. Texts of stories are
escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from judge.answers.journal import JournalReader
from judge.base.records import Story
from judge.inputs.perturbations.catalogue import CATALOGUE
from judge.inputs.perturbations.edit import applied
from judge.inputs.perturbations.perturbation import Facts
from judge.inputs.perturbations.story_name import PerturbedName, read_name, story_name
from judge.lab.stress.facts_file import edits_of, facts_path
from judge.show.web.view.marked import difference, edited
from judge.show.web.view.runs import FoundRun
from judge.show.web.view.story import JudgeView

# Ids in one batch: the first that names a known change is usually near the start, and a dataset may hold very many.
_FEW = 500


@dataclass(frozen=True, slots=True)
class Sides:
    """Answers of one judge about the original (`origin`) and the perturbed story (`changed`). `problem` is the reason
    why they cannot be shown, None where they can.
    """

    slug: str
    origin: JudgeView | None = None
    changed: JudgeView | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedView:
    """Content of the page on one perturbed story.

    `old` is the original text and `new` the perturbed text, with the changes marked. `marks` says where the marks come
    from: the edits in the facts file, or a comparison of words. `versions` are all perturbed versions of the original,
    as (id, name of the change). `before` and `after` are the ids of the previous and next story with this perturbation
    and strength, None without one.
    """

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
    """Id of the first perturbed story in the journal whose original is in the journal too; None without such a
    story.
    """
    position = 0
    while names := journal.names_holding("@", position, _FEW):
        match = next((name for name in names if known_change(name) and has_origin(journal, name)), None)
        if match is not None:
            return match
        position = (journal.position_of(names[-1]) or 0) + 1
    return None


def known_change(story: str) -> PerturbedName | None:
    """The perturbation named in a story's id, parsed, if this program knows it; None for any other id."""
    name = read_name(story)
    return name if name is not None and name.perturbation in CATALOGUE else None


def has_origin(journal: JournalReader, story: str) -> bool:
    """Whether the journal holds the original of a perturbed story; `story` is the id of the perturbed story."""
    name = read_name(story)
    return name is not None and journal.position_of(story_name(name.origin)) is not None


def view(journal: JournalReader, run: FoundRun, root: Path, dataset: str, changed: Story, origin: Story) -> ChangedView:
    """Content of the page that shows a perturbed story next to its original. The id of `changed` must name a
    perturbation.
    """
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
    """Name of a perturbation, followed by its strength if the perturbation has several strengths."""
    facts = CATALOGUE[name.perturbation or ""]
    return f"{facts.name} {name.strength}" if len(facts.strengths) > 1 else facts.name


def _facts_files(run: FoundRun, root: Path, dataset: str) -> Iterator[Path]:
    """Yield paths where the facts file (with the edits of perturbed stories) may be: next to the dataset file that the
    run names, and in the folder of the run. Only files below `root` are included.
    """
    named = [facts_path(run.path / dataset)] if dataset.endswith(".jsonl") else []
    for file in [*named, *sorted(run.path.glob("*.facts.jsonl"))]:
        if file.resolve().is_relative_to(root):
            yield file


def _marked(files: Iterator[Path], text: str, changed: Story) -> tuple[Markup, Markup, Literal["facts", "words"]]:
    """The original text and the perturbed text with the changes marked, and where the marks come from. They are the
    edits in a facts file if these turn the original into the perturbed text, else the result of a comparison of words.
    """
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
