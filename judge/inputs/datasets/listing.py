"""The list of datasets with their state on this machine, and a story as readable text."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any

from judge.base.printing.tables import Column, Table
from judge.base.records import Rating, Story
from judge.inputs.datasets import DATASETS, known_datasets, open_dataset
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.locate import find_with_place, registered
from judge.inputs.datasets.sources import FILES, LICENCES, OTHER_FILES, SOURCES, UNPUBLISHED
from judge.version import __version__

_WIDTH = 100


def listing() -> Table:
    """Table of all datasets and of the files that other commands read. The number of stories is the one that the
    release states; the stories are not counted.
    """
    rows = [_dataset_row(name) for name in known_datasets()]
    rows += [
        {"name": name, "kind": "files", "state": _state(files), "licence": LICENCES.get(name)}
        for name, files in {**OTHER_FILES, **UNPUBLISHED}.items()
    ]
    columns = [
        Column("name", "name"),
        Column("kind", "kind"),
        Column("stories", "stories"),
        Column("state", "state"),
        Column("licence", "licence"),
    ]
    notes = [
        "unverified: the address and checksum are as published, but no download from there with this program is known."
    ]
    return Table("Datasets", columns, rows, f"datasets:{len(known_datasets())}|v{__version__}", notes)


def story_sheet(dataset: Dataset, story: Story) -> str:
    """One story as readable text: story-prompt, story, reference story and human ratings."""
    lines = [f"{dataset.name} · {story.id} · by {story.system}"]
    for title, text in (
        ("Story-prompt", story.story_prompt),
        ("Story", story.text),
        ("Reference story", story.reference),
    ):
        if text and not (title == "Reference story" and text == story.text):
            lines += ["", title, *_wrapped(text)]
    if story.reference == story.text:
        lines += ["", "This story is its own reference story."]
    lines += ["", "Ratings" if story.ratings else "Nobody rated this story."]
    for criterion in dict.fromkeys(r.criterion for r in story.ratings):
        given = [r for r in story.ratings if r.criterion == criterion]
        values = ", ".join(_value(dataset, r) + _by(r) for r in given)
        counts = Counter(_value(dataset, r) for r in given)
        many = len(given) > 1 and dataset.labels.of(criterion) is not None
        counted = f" [{', '.join(f'{word} {times}' for word, times in counts.items())}]" if many else ""
        lines.append(f"  {criterion}: {values}{counted}")
        lines += [f"    {line.strip()}" for r in given if r.comment for line in _wrapped(r.comment)]
    if dataset.labels_note:
        lines += ["", dataset.labels_note]
    return "\n".join(lines)


def _by(rating: Rating) -> str:
    """Rater and panel of a rating in brackets, if known; else empty."""
    names = ", ".join(name for name in (rating.rater, rating.panel) if name)
    return f" ({names})" if names else ""


def _value(dataset: Dataset, rating: Rating) -> str:
    """A rating as the rater gave it: a label's word, or the number."""
    scale = dataset.labels.of(rating.criterion)
    return (scale and scale.label_of(rating.value)) or f"{rating.value:g}"


def _wrapped(text: str) -> list[str]:
    return [
        line
        for paragraph in text.split("\n")
        for line in textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ") or [""]
    ]


def _dataset_row(name: str) -> dict[str, Any]:
    state = _state(FILES[name]) if name in FILES else "present"
    row: dict[str, Any] = {"name": name, "kind": "stories", "state": state, "licence": LICENCES.get(name)}
    if name in registered() and name not in FILES:
        gone = not registered()[name].path.exists()
        return {**row, "kind": "your stories", "state": "gone" if gone else "present (registered)"}
    if state.startswith("present") and name in DATASETS:
        dataset = open_dataset(name)
        row |= {"stories": dataset.expected.get("stories"), "licence": dataset.licence_note}
    return row


def _state(files: tuple[str, ...]) -> str:
    places = [find_with_place(f) for f in files]
    origins = [p[1] for p in places if p]
    if len(origins) == len(files):
        return f"present ({', '.join(dict.fromkeys(origins))})"
    missing = [f for f, found_at in zip(files, places, strict=True) if found_at is None]
    if any(f not in SOURCES for f in missing):
        return "needs file (judge data add)"
    return "fetchable" if all(SOURCES[f].verified for f in missing) else "fetchable (unverified)"
