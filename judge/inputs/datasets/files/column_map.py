"""Reads any table as a dataset, through a column map that names the column of each field.

The map `{"id": "Story ID", "text": "Story", "system": "Model", "story_prompt": "Prompt", "reference": "Human", "rater":
"Worker ID", "ratings": {"Relevance": "rel"}}` names a column for each field. `"ratings.Relevance": "rel"` is the same
as the nested form, `"system": "=gpt-4"` is a constant, and `a.b` is key b of the object in column a. Text fields that
the map leaves out are read from columns of the same name, if there are any. A table may have these shapes:

- one row a story: `ratings` columns, no `rater`. Read row by row. Without an `id`, a story's id is its row number.
  A criterion may have several columns, one for each rater: a list of columns (each column's name is its rater's), or
  `{"ann": "ann_coh", "bob": "bob_coh"}`, written `ann:ann_coh,bob:bob_coh` on the command line. If a column
  does not hold the ratings of one person throughout, add `"rater": "=unknown"`. A cell may hold several ratings
  (see `ratings_in`).
- one row a story and rater: `rater` and `ratings`.
- one row a rating: `criterion` and `rating`, with `rater` if the raters are known.

Raters may belong to panels. `panel` is a column (or `=constant`) with the panel of each row; rows with one id may then
have different panels. `"panels": {"expert": ["ann", "bob"]}`, written `panels.expert=ann,bob` on the command line,
names the raters of each panel.

If a story has several rows, they are those with its id, in any order, and they must have the same texts. An empty cell
(null in JSON and Parquet), or a word listed in `missing`, is a missing rating. `sheet` is the sheet of a workbook.

Ratings may be labels: `labels` and `unordered` declare them (`label_scales`). A cell then holds a label's word (letter
case is ignored) or its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Rating, Story
from judge.base.wording import Advice, joined
from judge.inputs.datasets.dataset import KEYS, Dataset, LabelScales, is_key, label_scales
from judge.inputs.datasets.files.source_file import RatingPlace, is_missing, ratings_in, text_value
from judge.inputs.datasets.files.table_file import (
    cell,
    has_decimal_commas,
    is_column,
    out_of,
    table_columns,
    table_rows,
)

TEXT_FIELDS = ("id", "story_prompt", "system", "text", "reference")
FIELDS = (*TEXT_FIELDS, "rater", "criterion", "rating", "panel")
_PANELS = "panels"
_SAID = ("missing", "sheet", *KEYS)
# In place of a column: of raters, that they are not known; of texts, that there are none.
UNKNOWN = UNKNOWN_RATER = "=unknown"

# Columns of one criterion's ratings, each with the rater whose ratings it holds, or None.
RatingColumns = tuple[tuple[str | None, str], ...]


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """A checked column map: fields' and criteria's columns (or `=constant`), and how the table writes its values."""

    fields: Mapping[str, str]
    ratings: Mapping[str, RatingColumns]
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    anonymous: bool = False
    decimal_comma: bool = False
    labels: LabelScales = field(default_factory=LabelScales)
    panels: Mapping[str, str] = field(default_factory=dict)
    """Rater -> panel."""
    out_of: str | None = None

    @property
    def grouped(self) -> bool:
        """Whether a story may have several rows in a table with this column map."""
        return _grouped_by(self.fields)

    @property
    def names_raters(self) -> bool:
        """Whether the column map names the raters of ratings. If it does not, the cells may still name them."""
        many = any(rater for columns in self.ratings.values() for rater, _ in columns)
        return "rater" in self.fields or (many and not self.anonymous)

    def rating_place(self, path: Path, row: int, column: str, criterion: str) -> RatingPlace:
        """Where and how one rating is read: words for missing ratings, decimal commas, and labels."""
        scale = self.labels.of(criterion)
        return RatingPlace(path, row, column, self.missing, self.decimal_comma, scale, out_of=self.out_of)


def open_table(
    path: Path,
    columns: Mapping[str, Any] | None = None,
    name: str | None = None,
    labels: LabelScales | None = None,
) -> Dataset:
    """A table as a dataset, whose map is checked at once. Raises SpecError if it declares other labels than `labels`,
    those of the criteria to compare with."""
    chosen = complete(columns or {}, path)
    name = name or path.stem
    if labels:
        chosen = replace(chosen, labels=chosen.labels.with_given(labels, name))
    return Dataset(
        name=name,
        files=(path,),
        stories=partial(read_stories, path, chosen),
        rater_identity=True if chosen.names_raters else None,
        columns=dict(columns or {}),
        labels=chosen.labels,
    )


def read_stories(path: Path, columns: ColumnMap) -> Iterator[Story]:
    return _grouped(path, columns) if columns.grouped else _one_row_a_story(path, columns)


def complete(columns: Mapping[str, Any], path: Path) -> ColumnMap:
    """Checked map; missing text fields are columns of the same name. Raises SpecError for an invalid map, DataError for
    columns that the table lacks, with a map to copy in the hint."""
    missing, sheet = stated_words(columns.get("missing")), stated_words(columns.get("sheet"))
    panels = _panels(columns)
    columns = {key: value for key, value in columns.items() if key.partition(".")[0] != _PANELS}
    named = {key: value for key, value in columns.items() if key not in _SAID and not is_key(key)}
    present = table_columns(path, sheet[0] if sheet else None)
    fields, ratings = _parse(named, present)
    fields = {f: f for f in TEXT_FIELDS if f in present} | fields
    unnamed = fields.get("rater") == UNKNOWN_RATER
    if unnamed:
        del fields["rater"]
    wanted = [*fields.items(), *((f"ratings.{c}", column) for c, many in ratings.items() for _, column in many)]
    for wanted_as, column in wanted:
        if not column.startswith("=") and not is_column(column, present):
            message = unknown("column", column, present) + f", wanted as {wanted_as}"
            raise DataError(message, file=path, hint=_propose(path, sheet, columns))
    texts = () if ratings or "rating" in fields else ("text",)  # ratings alone are compared, not judged
    for needed in (*texts, "system", *(("id",) if _grouped_by(fields) else ())):
        if needed not in fields:
            message = f"the map names no column for the {needed}"
            raise DataError(message, file=path, found=", ".join(present), hint=_propose(path, sheet, columns))
    if "rater" in fields and any(len(many) > 1 for many in ratings.values()):
        raise SpecError("column map: either rater (one row a rater) or several columns of a criterion, not both")
    comma = has_decimal_commas(path)
    labels = label_scales(columns)
    named_sheet = sheet[0] if sheet else None
    ends = out_of(path, named_sheet)
    return ColumnMap(fields, ratings, missing, named_sheet, unnamed, comma, labels, panels, ends)


def _grouped_by(fields: Mapping[str, str]) -> bool:
    return "rater" in fields or "criterion" in fields or not fields.get("panel", "=").startswith("=")


def _panels(columns: Mapping[str, Any]) -> dict[str, str]:
    panels = {key.removeprefix(f"{_PANELS}."): value for key, value in columns.items() if key.startswith(f"{_PANELS}.")}
    whole = columns.get(_PANELS, {})
    if not isinstance(whole, Mapping):
        raise SpecError(f"column map: panels must name the raters of each panel, not {whole!r}")
    panel_by_rater: dict[str, str] = {}
    for panel, raters in {**whole, **panels}.items():
        for rater in stated_words(raters):
            if panel_by_rater.setdefault(rater, str(panel)) != str(panel):
                raise SpecError(f"column map: rater {rater!r} is in panels {panel_by_rater[rater]!r} and {panel!r}")
    return panel_by_rater


def _propose(path: Path, sheet: tuple[str, ...], columns: Mapping[str, Any]) -> str:
    from judge.inputs.datasets.files.column_guess import proposed

    return proposed(path, sheet[0] if sheet else None, columns)


def _parse(columns: Mapping[str, Any], present: Sequence[str]) -> tuple[dict[str, str], dict[str, RatingColumns]]:
    fields: dict[str, str] = {}
    ratings: dict[str, RatingColumns] = {}
    for key, value in columns.items():
        if key == "ratings" and isinstance(value, Mapping):
            ratings.update({str(c): rating_columns(str(c), v, present) for c, v in value.items()})
        elif key.startswith("ratings.") and value:
            criterion = key.removeprefix("ratings.")
            ratings[criterion] = rating_columns(criterion, value, present)
        elif key not in FIELDS:
            known_fields = [*FIELDS, "ratings.CRITERION", "panels.NAME", *_SAID]
            close = f"ratings.{key}" if isinstance(value, str) and key[:1].isupper() else None
            guess = Advice("; a criterion's ratings are {columns!r}", columns={close: value}) if close else ""
            raise SpecError(joined(unknown("column map field", key, known_fields), guess))
        elif not isinstance(value, str) or not value:
            raise SpecError(f"column map: {key} must name a column, not {value!r}")
        else:
            fields[key] = value
    if ("criterion" in fields) != ("rating" in fields):
        raise SpecError("column map: criterion and rating go together, one row a rating")
    if "criterion" in fields and ratings:
        raise SpecError("column map: either criterion and rating (one row a rating) or ratings.CRITERION, not both")
    return fields, ratings


def rating_columns(criterion: str, value: Any, present: Sequence[str]) -> RatingColumns:
    """(rater, column) of a criterion: one column (rater None), a mapping, or several as a list or with commas, where
    one without a rater names it."""
    if isinstance(value, Mapping):
        return tuple((str(rater), str(column)) for rater, column in value.items())
    if isinstance(value, str):
        if value in present or not {",", ":"} & {*value} or value.startswith("="):
            return ((None, value),)
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, list) or not value:
        raise SpecError(f"column map: ratings.{criterion} must name a column, or several, not {value!r}")
    pairs: list[tuple[str | None, str]] = []
    for part in map(str, value):
        rater, colon, column = part.partition(":")
        pairs.append((rater.strip(), column.strip()) if colon and part not in present else (part, part))
    return tuple(pairs)


def stated_words(value: Any) -> tuple[str, ...]:
    """Words under a key such as `missing`: one string with commas, a list, or `=one,two` from the command line."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.removeprefix("=").split(","))
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def _one_row_a_story(path: Path, columns: ColumnMap) -> Iterator[Story]:
    seen: dict[str, int] = {}
    for row, cells in table_rows(path, columns.sheet):
        texts = _texts(cells, columns, path, row)
        story = texts.get("id") or str(row)
        if story in seen:
            hint = Advice(
                "where several rows make one story, name the rater column ({}), or criterion and rating ({})",
                Advice("{columns}", columns={"rater": "COLUMN"}),
                Advice("{columns}", columns={"criterion": "COLUMN", "rating": "COLUMN"}),
            )
            message = f"the id is already used in row {seen[story]}"
            raise DataError(message, file=path, row=row, column=columns.fields.get("id"), found=story, hint=hint)
        seen[story] = row
        yield _story(story, texts, _ratings(cells, columns, path, row))


def _grouped(path: Path, columns: ColumnMap) -> Iterator[Story]:
    texts: dict[str, dict[str, str | None]] = {}
    ratings: dict[str, list[Rating]] = {}
    given: set[tuple[str, str, str, str | None]] = set()
    for row, cells in table_rows(path, columns.sheet):
        read = _texts(cells, columns, path, row)
        story = str(read["id"])
        earlier = texts.setdefault(story, read)
        for name, value in read.items():
            if value != earlier[name]:
                message = f"differs from the earlier rows of story {story!r}"
                raise DataError(message, file=path, row=row, column=columns.fields[name], found=value)
        for rating in _ratings(cells, columns, path, row):
            if rating.rater is not None:
                key = (story, rating.criterion, rating.rater, rating.panel)
                if key in given:
                    message = f"rater {rating.rater!r} rated story {story!r} on {rating.criterion} before"
                    raise DataError(message, file=path, row=row, column=columns.fields.get("rater"))
                given.add(key)
            ratings.setdefault(story, []).append(rating)
    for story, read in texts.items():
        yield _story(story, read, ratings.get(story, []))


def _texts(cells: Mapping[str, Any], columns: ColumnMap, path: Path, row: int) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    for name in TEXT_FIELDS:
        if name not in columns.fields:
            continue
        column = columns.fields[name]
        value = None if (name, column) == ("text", UNKNOWN) else cell(cells, column)
        if (name == "text" and column == UNKNOWN) or (
            name in ("reference", "story_prompt") and is_missing(value, columns.missing)
        ):
            texts[name] = None
        else:
            texts[name] = text_value(label(value) if name in ("id", "system") else value, path, row, column)
    return texts


def label(value: Any) -> Any:
    """A cell's name as text: a whole number as in a CSV file (7.0 in a typed table becomes `7`); others unchanged."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _ratings(cells: Mapping[str, Any], columns: ColumnMap, path: Path, row: int) -> list[Rating]:
    raters = cell(cells, columns.fields["rater"]) if "rater" in columns.fields else None
    if "rater" in columns.fields and not isinstance(raters, list):
        _part(raters, 0, 1, columns, "rater", path, row)  # a row must name its rater, even where it holds no rating
    if "criterion" in columns.fields:
        return _long(cells, raters, columns, path, row)
    ratings: list[Rating] = []
    for criterion, many in columns.ratings.items():
        for named, column in many:
            given = ratings_in(cell(cells, column), columns.rating_place(path, row, column, criterion))
            for at, (own, value) in enumerate(given):
                rater = own or named or _part(raters, at, len(given), columns, "rater", path, row)
                if value is not None:
                    panel = _panel(cells, rater, at, len(given), columns, path, row)
                    ratings.append(Rating(criterion, value, None if columns.anonymous else rater, panel=panel))
    return ratings


def _long(cells: Mapping[str, Any], raters: Any, columns: ColumnMap, path: Path, row: int) -> list[Rating]:
    # The cells may be lists of the same length.
    column = columns.fields["rating"]
    value, criteria = cell(cells, column), cell(cells, columns.fields["criterion"])
    if columns.labels and isinstance(criteria, list) and isinstance(value, list) and len(criteria) == len(value):
        # Side by side with their criteria, each is read by its own labels.
        pairs = zip(value, criteria, strict=True)
        given = [
            rating
            for part, cell_rater in pairs
            for rating in ratings_in(part, columns.rating_place(path, row, column, str(cell_rater)))
        ]
    else:
        given = ratings_in(value, columns.rating_place(path, row, column, str(criteria)))
    ratings: list[Rating] = []
    for at, (own, value) in enumerate(given):
        criterion = _part(criteria, at, len(given), columns, "criterion", path, row)
        rater = own or _part(raters, at, len(given), columns, "rater", path, row)
        if value is not None:
            panel = _panel(cells, rater, at, len(given), columns, path, row)
            ratings.append(Rating(str(criterion), value, None if columns.anonymous else rater, panel=panel))
    return ratings


def _panel(
    cells: Mapping[str, Any], rater: str | None, at: int, count: int, columns: ColumnMap, path: Path, row: int
) -> str | None:
    # The row's panel column goes before the panel in which the column map lists the rater.
    if "panel" in columns.fields:
        value = cell(cells, columns.fields["panel"])
        if not is_missing(value, columns.missing):
            return _part(value, at, count, columns, "panel", path, row)
    return None if rater is None else columns.panels.get(rater)


def _part(value: Any, at: int, count: int, columns: ColumnMap, name: str, path: Path, row: int) -> str | None:
    # Rater, criterion or panel; a list has one entry for each rating of the row.
    if name not in columns.fields:
        return None
    column = columns.fields[name]
    if isinstance(value, list):
        if len(value) != count:
            message = f"holds {len(value)} entries beside {count} ratings"
            raise DataError(message, file=path, row=row, column=column, found=value)
        value = value[at]
    return text_value(label(value), path, row, column)


def _story(story: str, texts: Mapping[str, str | None], ratings: list[Rating]) -> Story:
    return Story(
        id=story,
        story_prompt=texts.get("story_prompt") or "",
        system=str(texts["system"]),
        text=texts.get("text") or "",
        reference=texts.get("reference"),
        ratings=tuple(ratings),
    )
