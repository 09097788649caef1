"""Reads HANNA: 1,056 stories, each rated by three workers on six criteria (`hanna_stories_annotations.csv`). Ids are
the Story IDs, "0" to "1055"; "0" to "95" are human. Texts keep blanks at their beginning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, csv_rows, rating_value, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies.hanna_files import CRITERIA, SYSTEMS

SCALE = Scale(1, 5, 1)
STORIES = 1056
RATERS = 3
CITATION = "Chhun et al. 2022 (COLING) and Chhun, Suchanek and Clavel 2024 (TACL), HANNA"
_TEXTS = ("Prompt", "Human", "Story", "Model")
COLUMNS = ("Story ID", *_TEXTS, *CRITERIA, "Worker ID", "Assignment ID", "Work time in seconds", "Name")


def load(name: str) -> Dataset:
    (path,) = (need(f, name) for f in FILES[name])
    return Dataset(
        name=name,
        files=(path,),
        stories=partial(read_stories, path),
        rater_identity=True,
        citation=CITATION,
        licence_note=LICENCES[name],
        scale=SCALE,
        expected={"stories": STORIES, "systems": len(SYSTEMS), "story_prompts": 96, "ratings": STORIES * RATERS * 6},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """All 1,056 stories by Story ID, each with 18 ratings by three workers. Raises DataError unless each has 3 rows
    with the same texts, and ratings are 1, 2, 3, 4 or 5."""
    texts: dict[str, dict[str, str]] = {}
    ratings: dict[str, list[Rating]] = {}
    rows = 0
    for row, cells in csv_rows(path, COLUMNS):
        rows += 1
        story = _story_id(cells["Story ID"], path, row)
        first = texts.setdefault(story, {c: text_value(cells[c], path, row, c) for c in _TEXTS})
        for column in _TEXTS:
            if cells[column] != first[column]:
                message = f"differs from the other rows of story {story}"
                raise DataError(message, file=path, row=row, column=column, found=cells[column])
        if first["Model"] not in SYSTEMS:
            allowed = ", ".join(SYSTEMS)
            raise DataError(
                "not HANNA's system", file=path, row=row, column="Model", found=first["Model"], allowed=allowed
            )
        worker = text_value(cells["Worker ID"], path, row, "Worker ID")
        ratings.setdefault(story, []).extend(
            Rating(criterion, rating_value(cells[criterion], SCALE, path, row, criterion), worker)
            for criterion in CRITERIA
        )
    check_count("rows", rows, STORIES * RATERS, path)
    check_count("stories", len(texts), STORIES, path)
    for story in sorted(texts, key=int):
        if len(ratings[story]) != RATERS * len(CRITERIA):
            count = len(ratings[story]) // len(CRITERIA)
            raise DataError("not three rows", file=path, row=f"of story {story}", column="Story ID", found=count)
        t = texts[story]
        yield Story(story, t["Prompt"], t["Model"], t["Story"], t["Human"], tuple(ratings[story]))


def _story_id(cell: str, path: Path, row: int) -> str:
    if not cell.isdecimal() or not cell.isascii() or int(cell) >= STORIES:
        raise DataError(
            "not a Story ID", file=path, row=row, column="Story ID", found=cell, allowed=f"0 to {STORIES - 1}"
        )
    return str(int(cell))
