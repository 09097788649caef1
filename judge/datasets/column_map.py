"""Any CSV, JSON lines or Parquet table as a dataset, through a column map. Guesses no column, fills no cell.

A map says which column holds what: `{"id": "Story ID", "text": "Story", "system": "Model", "story_prompt": "Prompt",
"reference": "Human", "rater": "Worker ID", "ratings": {"Relevance": "rel"}}`; `"ratings.Relevance": "rel"` says the
same as the nested form, and `"system": "=gpt-4"` is a constant. Text fields that the map leaves out are taken from
columns of the same name, where there are any. Shapes:

- one row a story: `ratings` columns, no `rater`. Read row by row. Without an `id`, a story's id is its row number.
- one row a story and rater: `rater` and `ratings`.
- one row a rating: `criterion` and `rating`, with `rater` where it is known.

In the last two, rows of one id make one story, wherever they stand, and must agree on its texts. An empty cell (null in
JSON and Parquet) is a rating that was not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judge.datasets.dataset import Dataset
from judge.datasets.source_file import csv_rows, json_lines, rating_value, text_value
from judge.errors import DataError, MissingExtraError, SpecError, unknown
from judge.records import Rating, Story

TEXT_FIELDS = ("id", "story_prompt", "system", "text", "reference")
FIELDS = (*TEXT_FIELDS, "rater", "criterion", "rating")
_HINT = "say which column holds what, e.g. --column text=Story --column system=Model --column ratings.Relevance=rel"


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Field -> column (or `=constant`), and criterion -> column of its ratings."""

    fields: Mapping[str, str]
    ratings: Mapping[str, str]

    @property
    def grouped(self) -> bool:
        """Whether several rows make one story."""
        return "rater" in self.fields or "criterion" in self.fields


def open_table(path: Path, columns: Mapping[str, Any] | None = None, name: str | None = None) -> Dataset:
    """A dataset over a table; the map is checked against the table's columns at once."""
    chosen = _complete(_parse(columns or {}), path)
    return Dataset(
        name=name or path.stem,
        files=(path,),
        stories=partial(read_stories, path, chosen),
        rater_identity="rater" in chosen.fields,
        columns=dict(columns or {}),
    )


def read_stories(path: Path, columns: ColumnMap) -> Iterator[Story]:
    """The table's stories, as the map reads them."""
    return _grouped(path, columns) if columns.grouped else _one_row_a_story(path, columns)


def _parse(columns: Mapping[str, Any]) -> ColumnMap:
    fields: dict[str, str] = {}
    ratings: dict[str, str] = {}
    for key, value in columns.items():
        if key == "ratings" and isinstance(value, Mapping):
            ratings.update({str(c): str(v) for c, v in value.items()})
        elif key.startswith("ratings.") and isinstance(value, str):
            ratings[key.removeprefix("ratings.")] = value
        elif key not in FIELDS:
            raise SpecError(unknown("column map field", key, [*FIELDS, "ratings.CRITERION"]))
        elif not isinstance(value, str) or not value:
            raise SpecError(f"column map: {key} must name a column, not {value!r}")
        else:
            fields[key] = value
    if ("criterion" in fields) != ("rating" in fields):
        raise SpecError("column map: criterion and rating go together, one row a rating")
    if "criterion" in fields and ratings:
        raise SpecError("column map: either criterion and rating (one row a rating) or ratings.CRITERION, not both")
    return ColumnMap(fields, ratings)


def _complete(columns: ColumnMap, path: Path) -> ColumnMap:
    """Add fields whose columns bear their names; DataError for columns that the table has not."""
    present = _columns(path)
    fields = {f: f for f in TEXT_FIELDS if f in present} | dict(columns.fields)
    for field, column in [*fields.items(), *((f"ratings.{c}", v) for c, v in columns.ratings.items())]:
        if not column.startswith("=") and column not in present:
            raise DataError(unknown("column", column, present) + f", wanted as {field}", file=path, hint=_HINT)
    for field in ("text", "system", *(("id",) if columns.grouped else ())):
        if field not in fields:
            known = ", ".join(present)
            raise DataError(f"no column is said to hold the {field}", file=path, found=known, hint=_HINT)
    return ColumnMap(fields, columns.ratings)


def _columns(path: Path) -> list[str]:
    if path.suffix.lower() == ".parquet":
        with _parquet(path) as table:
            names: list[str] = table.schema_arrow.names
            return names
    for _, cells in table_rows(path):
        return list(cells)
    raise DataError("the table has no rows", file=path)


def table_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row, cells) of a table of any of the three formats. Lines of JSON may lack keys; they are null then."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        row = 0
        with _parquet(path) as table:
            for batch in table.iter_batches(batch_size=1000):
                for cells in batch.to_pylist():
                    row += 1
                    yield row, cells
        if row == 0:
            raise DataError("the table has no rows", file=path)
    elif suffix in (".jsonl", ".ndjson"):
        for row, cells in json_lines(path):
            if not isinstance(cells, dict):
                raise DataError("not an object", file=path, row=row, found=cells)
            yield row, cells
    elif suffix == ".csv":
        yield from csv_rows(path)
    else:
        raise DataError(
            f"files ending in {suffix or 'nothing'} are not read", file=path, allowed=".csv, .jsonl, .parquet"
        )


def _parquet(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Parquet", "data") from error
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"is not a Parquet file: {error}", file=path) from error


def _one_row_a_story(path: Path, columns: ColumnMap) -> Iterator[Story]:
    seen: dict[str, int] = {}
    for row, cells in table_rows(path):
        texts = _texts(cells, columns, path, row)
        story = texts.get("id") or str(row)
        if story in seen:
            hint = "where several rows make one story, name the rater column or criterion and rating"
            message = f"the id stands already in row {seen[story]}"
            raise DataError(message, file=path, row=row, column=columns.fields.get("id"), found=story, hint=hint)
        seen[story] = row
        yield _story(story, texts, _ratings(cells, columns, path, row))


def _grouped(path: Path, columns: ColumnMap) -> Iterator[Story]:
    texts: dict[str, dict[str, str | None]] = {}
    ratings: dict[str, list[Rating]] = {}
    for row, cells in table_rows(path):
        read = _texts(cells, columns, path, row)
        story = str(read["id"])
        known = texts.setdefault(story, read)
        for field, value in read.items():
            if value != known[field]:
                message = f"differs from the earlier rows of story {story!r}"
                raise DataError(message, file=path, row=row, column=columns.fields[field], found=value)
        given = ratings.setdefault(story, [])
        for rating in _ratings(cells, columns, path, row):
            if rating.rater is not None and any(
                r.rater == rating.rater and r.criterion == rating.criterion for r in given
            ):
                message = f"rater {rating.rater!r} rated story {story!r} on {rating.criterion} before"
                raise DataError(message, file=path, row=row, column=columns.fields["rater"])
            given.append(rating)
    for story, read in texts.items():
        yield _story(story, read, ratings[story])


def _texts(cells: Mapping[str, Any], columns: ColumnMap, path: Path, row: int) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for field in TEXT_FIELDS:
        if field not in columns.fields:
            continue
        column = columns.fields[field]
        value = _cell(cells, column)
        if field == "id" and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if field in ("reference", "story_prompt") and (value is None or value == ""):
            found[field] = None
        else:
            found[field] = text_value(value, path, row, column)
    return found


def _ratings(cells: Mapping[str, Any], columns: ColumnMap, path: Path, row: int) -> list[Rating]:
    rater: str | None = None
    if "rater" in columns.fields:
        value = _cell(cells, columns.fields["rater"])
        rater = text_value(str(value) if isinstance(value, int) else value, path, row, columns.fields["rater"])
    pairs = list(columns.ratings.items())
    if "criterion" in columns.fields:
        column = columns.fields["criterion"]
        pairs = [(text_value(_cell(cells, column), path, row, column), columns.fields["rating"])]
    given = [(criterion, column, _cell(cells, column)) for criterion, column in pairs]
    return [
        Rating(c, rating_value(v, None, path, row, column), rater)
        for c, column, v in given
        if v is not None and v != ""
    ]


def _cell(cells: Mapping[str, Any], column: str) -> Any:
    return column[1:] if column.startswith("=") else cells.get(column)


def _story(story: str, texts: Mapping[str, str | None], ratings: list[Rating]) -> Story:
    return Story(
        id=story,
        story_prompt=texts.get("story_prompt") or "",
        system=str(texts["system"]),
        text=str(texts["text"]),
        reference=texts.get("reference"),
        ratings=tuple(ratings),
    )
