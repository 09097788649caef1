"""Reads A Confederacy of Models (Gómez-Rodríguez and Williams 2023, Findings of EMNLP): one story-prompt, with five
stories by each of twelve models and five by people.

Each text is a file, `MODEL-NUMBER.txt`. `mapping-grouped.csv` holds the codes (columns `Original`, `Anonymized`) under
which raters read the stories. The layout of the study's workbook of ratings is not known to this program. It reads the
only sheet that is not empty, with one row for each story and rater:

- `Story`: the story's code or file name, with or without .txt;
- `Rater`: who rated the story;
- every other column except `Group` and `Comments`: a criterion, rated from 1 to 10; an empty cell = no rating.

Letter case in the column names is ignored. A workbook with another layout raises an error; it can be converted to this
layout under the same file name. Raters were students and graduates of creative writing: the panel `expert`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import csv_rows, decode, rating_value, read_bytes, text_value
from judge.inputs.datasets.files.table_file import table_rows
from judge.inputs.datasets.studies import released

SCALE = Scale(1, 10, 1)
PANEL = "expert"
HUMAN = "Human"
STORY_PROMPT = (
    "Write an epic narration of a single combat between Ignatius J. Reilly and a pterodactyl, in the style of John "
    "Kennedy Toole."
)
_PLACES = ("story", "rater")
_NO_CRITERION = frozenset({*_PLACES, "group", "comments"})
_NUMBER, _DATE, _PERSON = late(r"-\d+$"), late(r"-\d{4}-\d{2}-\d{2}"), late(r"human\d+")


def load(name: str) -> Dataset:
    return released(
        name,
        lambda ratings, codes, *texts: read_stories(texts, codes, ratings),
        rater_identity=True,
        scale=SCALE,
    )


def read_stories(texts: Sequence[Path], codes: Path, ratings: Path) -> Iterator[Story]:
    """One story per text file, in order. `codes` is the table of codes, `ratings` the workbook. Raises DataError for an
    unknown story's rating, and for a duplicate."""
    names = {_bare(path.name): path for path in texts}
    original_by_name = {name.casefold(): name for name in names}
    for row, cells in csv_rows(codes, ("Original", "Anonymized")):
        original = _bare(text_value(cells["Original"], codes, row, "Original"))
        if original in names:
            original_by_name[_bare(text_value(cells["Anonymized"], codes, row, "Anonymized")).casefold()] = original
    rated = _rated(ratings, original_by_name)
    for name, path in names.items():
        text = text_value(decode(read_bytes(path), path, 1).strip(), path, 1, "text")
        yield Story(name, STORY_PROMPT, system_of(name), text, None, tuple(rated.get(name, ())))


def system_of(name: str) -> str:
    """The file's name without number and date; all human writers are one system."""
    system = _DATE.sub("", _NUMBER.sub("", name))
    return HUMAN if _PERSON.fullmatch(system) else system


def _rated(path: Path, original_by_name: Mapping[str, str]) -> dict[str, list[Rating]]:
    # `original_by_name` has lower-case names and codes.
    ratings_by_story: dict[str, list[Rating]] = {}
    rows: dict[tuple[str, str], int] = {}
    for row, cells in table_rows(path):
        columns = {column.strip().casefold(): column for column in cells}
        if any(field not in columns for field in _PLACES) or columns.keys() <= _NO_CRITERION:
            wanted = "Story, Rater, and a column for each criterion"
            hint = "save the ratings as one row for each story and rater, under the same file name"
            raise DataError("not a sheet of ratings", file=path, row=row, found=list(cells), allowed=wanted, hint=hint)
        title, rater = (
            str("" if cells[columns[field]] is None else cells[columns[field]]).strip() for field in _PLACES
        )
        story = original_by_name.get(_bare(title).casefold())
        if story is None:
            raise DataError("no story of the corpus", file=path, row=row, column=columns["story"], found=title)
        text_value(rater, path, row, columns["rater"])
        if rows.setdefault((story, rater), row) != row:
            message = f"the rater's ratings of this story are already in row {rows[story, rater]}"
            raise DataError(message, file=path, row=row, column=columns["rater"], found=f"{title}, {rater}")
        for name, column in columns.items():
            value = cells[column]
            if name not in _NO_CRITERION and value is not None and value != "":
                given = rating_value(value, SCALE, path, row, column)
                ratings_by_story.setdefault(story, []).append(Rating(column.strip(), given, rater, panel=PANEL))
    return ratings_by_story


def _bare(name: str) -> str:
    return name.removesuffix(".txt")
