"""Reads HANNA: 1,056 stories, each rated by three workers on six criteria (`hanna_stories_annotations.csv`). Ids are
the Story IDs, "0" to "1055"; "0" to "95" are human. Texts keep blanks at their beginning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, csv_rows, rating_value, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies.hanna_scores import CRITERIA, SYSTEMS

# Reads the HANNA study's audit file: 100 explanations, six questions, three annotator positions.

ITEMS, POSITIONS = 100, 3
# Error as printed -> column, and whether 1 means that the error is absent.
QUESTIONS: Mapping[str, tuple[str, bool]] = {
    "Poor Syntax": ("Answer.a-2-syntax.1", False),
    "Incoherence": ("Answer.a-6-incoherence.1", False),
    "Wrong Guideline": ("Answer.a-1-guidelines.1", True),
    "Superfluous Text": ("Answer.a-3-superfluous.1", False),
    "Unsubstantiated Claims": ("Answer.a-5-unsubstantiated.1", False),
}

UNUSED = "Answer.a-4-incorrectness.1"
_HANNA_USER_STUDY_TEXTS = ("Input.story_id", "Input.explanation")


@dataclass(frozen=True, slots=True)
class AuditedItem:
    """An explanation that people audited: the whole answer, and each error's marks by the three annotator positions (1
    = present). `unused` answers the question that the study dropped; None if it was not asked, as in this program's
    exports."""

    story: str
    answer: str
    errors: Mapping[str, tuple[int, ...]]
    unused: tuple[int | None, ...]


def read_items(path: Path) -> list[AuditedItem]:
    """The 100 audited explanations, in the file's order. Raises DataError unless each block of three rows is about one
    and marks are 0 or 1."""
    columns = [column for column, _ in QUESTIONS.values()] + [UNUSED]
    items: list[AuditedItem] = []
    block: list[dict[str, str]] = []
    count = 0
    for row, cells in csv_rows(path, (*_HANNA_USER_STUDY_TEXTS, *columns)):
        if block and any(cells[column] != block[0][column] for column in _HANNA_USER_STUDY_TEXTS):
            raise DataError(
                "not the explanation of the row above",
                file=path,
                row=row,
                found=cells[_HANNA_USER_STUDY_TEXTS[0]],
                allowed=block[0][_HANNA_USER_STUDY_TEXTS[0]],
            )
        for column in columns:
            if column == UNUSED and not cells[column]:
                continue
            if cells[column] not in ("0", "1"):
                raise DataError("not an answer", file=path, row=row, column=column, found=cells[column], allowed="0, 1")
        count += 1
        block.append(cells)
        if len(block) == POSITIONS:
            items.append(_item(block))
            block = []
    check_count("answers", count, ITEMS * POSITIONS, path)
    return items


def _item(block: list[dict[str, str]]) -> AuditedItem:
    errors = {
        name: tuple(1 - int(cells[column]) if turned else int(cells[column]) for cells in block)
        for name, (column, turned) in QUESTIONS.items()
    }
    story, answer = (block[0][column] for column in _HANNA_USER_STUDY_TEXTS)
    unused = tuple(int(cells[UNUSED]) if cells[UNUSED] else None for cells in block)
    return AuditedItem(story, answer, errors, unused)


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
