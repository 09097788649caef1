"""Reads Creative Short Stories (Ismayilzada, Stevenson and van der Plas 2024, arXiv 2411.02316): five-sentence stories
by people and models.

The table has `story`, `author` (`human` or a model), `item_id` (three words that the story must contain) and, for four
criteria, lists `expert_CRITERION` and `non_expert_CRITERION` of ratings from 1 to 5. The id is in `id`, else made of
words and row. Other columns, such as guesses of the author, are ignored. A position in two lists need not be one
person, so only raters' panels are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import rating_value, text_value
from judge.inputs.datasets.files.table_file import table_rows
from judge.inputs.datasets.studies import released

SCALE = Scale(1, 5, 1)
CRITERIA = ("Creativity", "Originality", "Surprise", "Value")
# How columns begin -> panel.
PANELS: Mapping[str, str] = {"expert": "expert", "non_expert": "lay"}

HUMAN = "Human"
_RATED = {f"{begins}_{name.lower()}": (name, panel) for name in CRITERIA for begins, panel in PANELS.items()}
_COLUMNS = ("story", "author", "item_id", *_RATED)


def load(name: str) -> Dataset:
    return released(
        name,
        read_stories,
        rater_identity=False,
        scale=SCALE,
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The stories with their ratings, in the file's order. Raises DataError for a missing column, an empty text, or a
    rating off the scale."""
    row_by_id: dict[str, int] = {}
    for row, cells in table_rows(path):
        missing = [column for column in _COLUMNS if column not in cells]
        if missing:
            raise DataError("not the columns of the released table", file=path, row=row, found=list(cells),
                            allowed=", ".join(_COLUMNS))  # fmt: skip
        words = text_value(cells["item_id"], path, row, "item_id")
        author = text_value(cells["author"], path, row, "author")
        story = f"{words}-{row}" if cells.get("id") is None else str(cells["id"])
        if row_by_id.setdefault(story, row) != row:
            message = f"the id is already used in row {row_by_id[story]}"
            raise DataError(message, file=path, row=row, column="id", found=story)
        system = HUMAN if author.casefold() == HUMAN.casefold() else author
        ratings = tuple(_ratings(cells, path, row))
        yield Story(story, words, system, text_value(cells["story"], path, row, "story"), None, ratings)


def _ratings(cells: Mapping[str, Any], path: Path, row: int) -> Iterator[Rating]:
    # Missing lists and entries without a number are skipped.
    for column, (criterion, panel) in _RATED.items():
        given = cells[column]
        if given is None:
            continue
        if not isinstance(given, list):
            raise DataError("not a list of ratings", file=path, row=row, column=column, found=given)
        for value in given:
            if value is not None and value == value:  # not NaN, which is how tables write a rating that nobody gave
                yield Rating(criterion, rating_value(value, SCALE, path, row, column), panel=panel)
