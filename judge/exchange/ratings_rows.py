"""Reader of the rows of a ratings file, with the column names of the ratings table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from judge.answers.parsing.answers_file import RESULT_KEYS
from judge.base.errors import DataError, SpecError, nearest, unknown
from judge.base.wording import Advice
from judge.inputs.datasets.dataset import KEYS, LabelScales, is_key, label_scales
from judge.inputs.datasets.files import column_names
from judge.inputs.datasets.files.cell_patterns import finest, fits
from judge.inputs.datasets.files.column_map import UNKNOWN_RATER, label, rating_columns, stated_words
from judge.inputs.datasets.files.column_names import bare, is_count, named_column
from judge.inputs.datasets.files.column_words import NAMES
from judge.inputs.datasets.files.source_file import RatingPlace, label_value, ratings_in
from judge.inputs.datasets.files.table_cells import leaves_out, no_answer
from judge.inputs.datasets.files.table_file import (
    cell,
    has_decimal_commas,
    is_column,
    out_of,
    parts_of,
    table_columns,
    table_rows,
)
from judge.ratings.ratings_table import COLUMNS, LABEL, PANEL

# Columns of a table that `judge parse` wrote, which a ratings table does not have.

# The column of the line in the file of answers.
LINE = "line"

# Rows: enough to tell texts from ids.
_LOOKED_AT = 200


def is_parsed(present: Sequence[str]) -> bool:
    """Whether a table with these columns is one of parsed answers."""
    return set(RESULT_KEYS) <= set(present)


def story_columns(path: Path, present: Sequence[str]) -> dict[str, str]:
    """The columns of the stories' ids and texts in a table of parsed answers: `story` is the judged text or its id. Of
    columns that the answers' lines had, one holds ids where its short names tell what all others do."""
    rows = [cells for _, cells in islice(table_rows(path), _LOOKED_AT)]
    known = {*RESULT_KEYS, *COLUMNS, LABEL, PANEL, "text", "reference"} - {"story"}
    others = [column for column in present if column not in known and column]
    short = [column for column in others if fits("id", [cell(cells, column) for cells in rows])]
    own_id = named_column("id", short)
    if own_id is None:
        several = [
            column
            for column in short
            if column_names.named(column).side is None
            and not is_count(column)
            and (column == "story" or bare(column) not in {*NAMES["system"], *NAMES["story_prompt"]})
            and len({str(cell(cells, column)) for cells in rows}) > 1
        ]
        own_id = finest(several, lambda column: [cell(cells, column) for cells in rows])
    if "story" not in others or own_id == "story":
        return {} if own_id is None else {"story": own_id}
    if fits("text", [cell(cells, "story") for cells in rows]):
        return {"story": own_id or "story", "text": "story"}
    return {}


NEEDED = ("story", "criterion", "rating")
FIELDS = (*COLUMNS, LABEL, PANEL, "text", "reference")
_TEXTS = frozenset((*COLUMNS, PANEL)) - {"rating"}
_WIDE = ("ratings.", "judges.", "people.")
_JUDGES = "judges"
_SAID = ("missing", "sheet", _JUDGES, *KEYS)

# In place of a criterion's name: that of the row.
OWN = "*"

# In place of a column of ids: the row's number.
BY_ROW = "=row"

Columns = Mapping[str, tuple[tuple[str | None, str], ...]]
Given = list[tuple[str | None, float | None]]


@dataclass(frozen=True, slots=True)
class RatingsMap:
    """Column map of a user's file of ratings: field -> column, and for each criterion the columns of ratings.

    Those in `judges` are by the judge or rater that the row names, each in `by_judge` by one judge, those in `people`
    by people, who are not persons if `anonymous`. `judge_names` are the judges in the column of raters. `missing` are
    words for a missing rating."""

    fields: Mapping[str, str]
    judges: Columns
    by_judge: Columns
    people: Columns
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    sheet: str | None
    decimal_comma: bool
    anonymous: bool = False
    labels: LabelScales = field(default_factory=LabelScales)
    judge_names: frozenset[str] = frozenset()
    out_of: str | None = None

    @property
    def wide(self) -> bool:
        """Whether the file has separate columns of ratings for criteria, judges or people."""
        return bool(self.judges or self.by_judge or self.people)


@dataclass(slots=True)
class FileRow:
    """One rating with its row in the file; `cells` maps the ratings table's columns to values."""

    number: int
    cells: dict[str, Any]
    text: str | None
    reference: str | None


def ratings_map(path: Path, columns: Mapping[str, Any], leave_out: Sequence[str]) -> RatingsMap:
    """`columns`, completed with fields that are columns' names. Raises DataError for columns that do not fit."""
    given_fields = {key: value for key, value in columns.items() if key not in _SAID and not is_key(key)}
    sheet = stated_words(columns.get("sheet"))
    present = table_columns(path, sheet[0] if sheet else None)
    wide: dict[str, dict[str, Any]] = {prefix: {} for prefix in _WIDE}
    fields: dict[str, str] = {}
    for key, value in given_fields.items():
        prefix = next((prefix for prefix in _WIDE if key.startswith(prefix)), None)
        if prefix is not None:
            criterion = key.removeprefix(prefix)
            wide[prefix][criterion] = rating_columns(criterion, value, present)
        elif key not in FIELDS:
            raise SpecError(
                unknown("column map field", key, [*FIELDS, *(f"{prefix}CRITERION" for prefix in _WIDE), *_SAID])
            )
        elif not isinstance(value, str) or not value:
            raise SpecError(f"column map: {key} must name a column, not {value!r}")
        else:
            fields[key] = value
    used = [column for many in wide.values() for pairs in many.values() for _, column in pairs]
    # A column of words is often mapped to the rating itself.
    spoken_for = {*used, *leave_out, *((LABEL,) if LABEL in fields.values() else ())}
    # A column that holds another field is not also the field of its own name, as `run` where it numbers repeats.
    spoken_for |= {column for field, column in fields.items() if column != field and column not in fields}
    parsed = is_parsed(present)
    of_stories = story_columns(path, present) if parsed else {}
    fields = {f: f for f in FIELDS if f in present and f not in spoken_for} | of_stories | fields
    if parsed:
        read = {*fields.values(), *used}
        leave_out = [*leave_out, *(column for column in present if column not in read and column not in leave_out)]
    if LABEL in fields and "rating" not in fields and not (wide["ratings."] or wide["judges."]):
        fields["rating"] = fields.pop(LABEL)
    anonymous = fields.get("rater") == UNKNOWN_RATER
    if anonymous:
        del fields["rater"]
    columns_map = RatingsMap(
        fields=fields,
        judges=wide["ratings."],
        by_judge=wide["judges."],
        people=wide["people."],
        left_out=tuple(leave_out),
        missing=stated_words(columns.get("missing")),
        sheet=sheet[0] if sheet else None,
        decimal_comma=has_decimal_commas(path),
        anonymous=anonymous,
        labels=label_scales(columns),
        judge_names=frozenset(stated_words(columns.get(_JUDGES))),
        out_of=out_of(path, sheet[0] if sheet else None),
    )
    _check(columns_map, [*fields.values(), *used], present, path)
    return columns_map


def _check(columns_map: RatingsMap, used: Sequence[str], present: Sequence[str], path: Path) -> None:
    for column in (*used, *columns_map.left_out):
        if not column.startswith("=") and not is_column(column, present):
            raise DataError(unknown("column", column, present), file=path)
    needed: tuple[str, ...] = ("story",) if columns_map.wide else NEEDED
    if any(OWN in columns for columns in (columns_map.judges, columns_map.by_judge, columns_map.people)):
        needed = ("story", "criterion")
    missing = [name for name in needed if name not in columns_map.fields]
    if missing:
        names = ", ".join(map(repr, missing))
        message = f"column{'s' if len(missing) > 1 else ''} {names} missing"
        raise DataError(message, file=path, found=", ".join(present), hint=_propose(missing, columns_map, present))
    if (columns_map.judges or columns_map.by_judge) and (
        "rating" in columns_map.fields or ("criterion" in needed) < ("criterion" in columns_map.fields)
    ):
        raise SpecError("column map: either criterion and rating (one row a rating) or ratings.CRITERION, not both")
    read = {
        *used,
        *columns_map.left_out,
        *(part for column in used if column not in present for part in parts_of(column)),
    }
    # A key within an object is read, or left, with the object.
    strange = [
        column
        for column in present
        if column not in read
        and not any(
            name.startswith(f"{column}.") or column.startswith(f"{name}.") for name in present if name != column
        )
    ]
    if strange:
        close = nearest(strange[0], [name for name in FIELDS if name not in present])
        meant = Advice(" (did you mean {!r}? {columns})", close, columns={close: strange[0]})
        words = "columns that hold none of these{} are left out by: {leave_out}"
        hint = Advice(words, meant if close else "", leave_out=",".join(strange))
        raise DataError(unknown("column", strange[0], FIELDS), file=path, hint=hint)


def _propose(missing: Sequence[str], columns_map: RatingsMap, present: Sequence[str]) -> str:
    free = [column for column in present if column not in columns_map.fields.values()]
    columns: dict[str, str] = {}
    for name in missing:
        column = named_column("id" if name == "story" else name, free)
        columns[name] = column or ("=NAME" if name == "criterion" else "COLUMN")
    return Advice(
        "say which column holds what: {columns}; a column for each criterion is named {}",
        Advice("{columns}", columns={"ratings.CRITERION": "COLUMN"}),
        columns=columns,
    )


def file_rows(
    path: Path, columns: RatingsMap, *, dataset: str | None, unrated: str | None, repeats: bool = False
) -> list[FileRow]:
    """Every rating in a table file, in its order; those from columns of one judge and of people come last. Such ratings
    that several rows of a story repeat are returned once; with `repeats` they are different repeats by a judge, and all
    are returned. `dataset` is the name where the file has none, and `unrated` the status of rows without one."""
    return _Reader(path, columns, dataset, unrated, repeats).read()


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    columns: RatingsMap
    dataset: str | None
    unrated: str | None
    repeats: bool = False

    @property
    def left(self) -> tuple[str, ...]:
        """Words that say of a whole row that it is no answer."""
        return left_words(self.columns.missing)

    def read(self) -> list[FileRow]:
        file_rows: list[FileRow] = []
        judged: dict[tuple[Any, ...], list[FileRow]] = {}
        people: dict[tuple[Any, ...], list[FileRow]] = {}
        for number, cells in table_rows(self.path, self.columns.sheet):
            if self.left and no_answer(cells, self.left):
                continue
            row = FileRow(number, self._base(cells, number), self._text(cells, "text"), self._text(cells, "reference"))
            for criterion, many in self._own(row).items():
                given = self._given(cells, row, criterion, many)
                file_rows += self._rated(row, criterion, self._labelled(cells, row, criterion, given), many[0][1])
            for named, many in self.columns.by_judge.items():
                criterion = self._criterion(row, named)
                for judge, column in many:
                    rows = self._by_judge(cells, row, criterion, judge or column, column)
                    if self.repeats:
                        file_rows += rows
                    else:
                        self._once(judged, row, (criterion, judge or column), rows, column, "the judge's ratings")
            for named, many in self.columns.people.items():
                criterion = self._criterion(row, named)
                given = self._given(cells, row, criterion, many, people=True)
                own = row.cells["rater"]
                rows = [self._person(row, criterion, rater or own, v) for rater, v in given if v is not None]
                self._once(people, row, (criterion, own, row.cells[PANEL]), rows, many[0][1], "people's ratings")
        kept = (row for of_story in (judged, people) for rows in of_story.values() for row in rows)
        return [*file_rows, *kept]

    def _criterion(self, row: FileRow, named: str) -> str:
        """`named`, or the row's own criterion where the column map has `*`."""
        if named != OWN:
            return named
        if row.cells["criterion"] is None:
            self._refuse("the cell is empty", row.number, "criterion")
        return str(row.cells["criterion"])

    def _once(
        self,
        rows_of_key: dict[tuple[Any, ...], list[FileRow]],
        row: FileRow,
        whose: tuple[Any, ...],
        rows: list[FileRow],
        column: str,
        subject: str,
    ) -> None:
        """Stores a story's ratings at the first reading; DataError where a later row has different ones."""
        first = rows_of_key.setdefault((row.cells["dataset"], row.cells["story"], *whose), rows)
        if [_rater_and_rating(row_before) for row_before in first] == [
            _rater_and_rating(row_before) for row_before in rows
        ]:
            return
        message = f"{subject} of story {row.cells['story']!r} differ from those of an earlier row"
        hint: str = "each story needs an id of its own, or is named by several columns together: A+B"
        if "rater" not in self.columns.fields:
            words = "where rows are people's, a column names the rater; where they are a judge's repeats: {}; else {}"
            hint = Advice(words, Advice("{number_repeats}", number_repeats=True), hint)
        raise DataError(message, file=self.path, row=row.number, column=column, hint=hint)

    def _by_judge(
        self, cells: Mapping[str, Any], row: FileRow, criterion: str, judge: str, column: str
    ) -> list[FileRow]:
        # The ratings are that judge's, whichever judge or person the file's row itself names.
        asked = self._text(cells, "eval_prompt") or "-"
        none = dict.fromkeys(("rater", PANEL, "flags"))
        if self.columns.people or len({who for many in self.columns.by_judge.values() for who, _ in many}) > 1:
            none["explanation"] = None
        own = {"source": "judge", "judge": judge, "eval_prompt": asked, "criterion": criterion}
        status = row.cells["status"] if row.cells["source"] == "judge" else None
        mine = FileRow(row.number, row.cells | none | own | {"status": status}, row.text, row.reference)
        given = self._given(cells, mine, criterion, [(None, column)])
        return list(self._rated(mine, criterion, given, column))

    def _base(self, cells: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Values of a row except its ratings, with defaults."""
        values: dict[str, Any] = dict.fromkeys((*COLUMNS, PANEL))
        values |= {name: self._text(cells, name) for name in self.columns.fields if name in _TEXTS}
        if self.columns.fields["story"] == BY_ROW:
            values["story"] = str(number)
        if values["story"] is None:
            self._refuse("the cell is empty", number, "story")
        if values["rater"] in self.columns.judge_names and values["judge"] is None:
            values["judge"], values["rater"] = values["rater"], None
        if self.dataset is not None and values["dataset"] not in (None, self.dataset):
            hint = Advice("leave the other dataset's rows out of the file, or import without {dataset}")
            self._refuse(f"the file names another dataset than {self.dataset}", number, "dataset", values, hint)
        values["run"] = values["run"] or self.path.stem
        values["dataset"] = values["dataset"] or self.dataset or self.path.stem
        person = values["rater"] is not None and values["judge"] is None
        values["source"] = values["source"] or ("rater" if person else "judge")
        if values["source"] not in ("judge", "rater"):
            self._refuse("not judge or rater", number, "source", values)
        if values["source"] == "judge":
            values["judge"] = values["judge"] or self.path.stem
            values["eval_prompt"] = values["eval_prompt"] or "-"
        else:
            values["judge"] = values["eval_prompt"] = None
        if values["repeat"] is not None:
            values["repeat"] = self._repeat(values, number)
        return values

    def _own(self, row: FileRow) -> Columns:
        if self.columns.judges or "rating" not in self.columns.fields:
            return self.columns.judges
        if row.cells["criterion"] is None:
            self._refuse("the cell is empty", row.number, "criterion")
        return {row.cells["criterion"]: ((None, self.columns.fields["rating"]),)}

    def _given(
        self,
        cells: Mapping[str, Any],
        row: FileRow,
        criterion: str,
        many: Sequence[tuple[str | None, str]],
        *,
        people: bool = False,
    ) -> Given:
        """(rater or None, rating) pairs of one criterion in a row, from the cells `many` of (rater or None, column)."""
        ratings: Given = []
        by_people = people or row.cells["source"] == "rater"
        for named, column in many:
            rating_place = RatingPlace(
                self.path,
                row.number,
                column,
                self.columns.missing,
                self.columns.decimal_comma,
                self.columns.labels.of(criterion),
                # A judge's may be the mean of its repeats, and is looked at again when its scale is known.
                only_codes=by_people,
                out_of=self.columns.out_of,
            )
            ratings += [(own or named, value) for own, value in ratings_in(cell(cells, column), rating_place)]
        raters = cell(cells, self.columns.fields["rater"]) if people and "rater" in self.columns.fields else None
        if isinstance(raters, list):
            if len(raters) != len(ratings):
                message = f"holds {len(raters)} raters beside {len(ratings)} ratings"
                raise DataError(message, file=self.path, row=row.number, column=self.columns.fields["rater"])
            ratings = [(str(label(rater)), value) for rater, (_, value) in zip(raters, ratings, strict=True)]
        return ratings

    def _labelled(self, cells: Mapping[str, Any], row: FileRow, criterion: str, given: Given) -> Given:
        """The row's label may replace a missing rating; DataError where they differ or there are several ratings."""
        label = self._text(cells, LABEL)
        if label is None:
            return given
        column = self.columns.fields[LABEL]
        scale = self.columns.labels.of(criterion)
        if scale is None:
            hint = Advice(
                "{criteria} names the set with its labels, or leave the column out: {leave_out}", leave_out=column
            )
            message = f"a label of {criterion}, whose labels are not known"
            raise DataError(message, file=self.path, row=row.number, column=column, found=label, hint=hint)
        code = label_value(label, scale, self.path, row.number, column)
        if len(given) != 1 or given[0][1] not in (None, code):
            message = "not the label of the rating beside it"
            ratings = ", ".join(f"{rating:g}" for _, rating in given if rating is not None)
            allowed = scale.code_words
            raise DataError(
                message, file=self.path, row=row.number, column=column, found=f"{label} ({ratings})", allowed=allowed
            )
        return [(given[0][0], code)]

    def _rated(self, row: FileRow, criterion: str, given: Given, column: str) -> Iterator[FileRow]:
        """Several ratings by a judge are its repeats, several human ratings are by different people."""
        for at, (rater, rating) in enumerate(given):
            if row.cells["source"] == "rater":
                values = self._person(row, criterion, rater or row.cells["rater"], rating).cells
            else:
                values = row.cells | {"criterion": criterion, "rating": rating, PANEL: None}
                if len(given) > 1:
                    if values["repeat"] is not None:
                        message = "several ratings are in a row that is one repeat"
                        raise DataError(message, file=self.path, row=row.number, column=column)
                    values["repeat"] = at
            if rating is None and values["status"] in (None, "ok") and row.cells["status"] is None:
                values["status"] = self.unrated
            if rating is None and values["status"] is None:
                message = "neither a rating nor a status that says why there is none; story"
                hint = Advice("a column status says it, or {unrated} for all such rows", unrated="no_rating")
                story = values["story"]
                raise DataError(message, file=self.path, row=row.number, column=column, found=story, hint=hint)
            values["status"] = values["status"] or "imported"
            yield FileRow(row.number, values, row.text, row.reference)

    def _person(self, row: FileRow, criterion: str, rater: str | None, rating: float | None) -> FileRow:
        none = dict.fromkeys(("judge", "eval_prompt", "repeat", "flags"))
        if row.cells["source"] == "judge" and "rater" not in self.columns.fields:
            none["explanation"] = None
        status = row.cells["status"] if row.cells["source"] == "rater" else None
        named = None if self.columns.anonymous else rater
        own = {"source": "rater", "criterion": criterion, "rater": named, "rating": rating, "status": status or "ok"}
        return FileRow(row.number, row.cells | none | own, row.text, row.reference)

    def _text(self, cells: Mapping[str, Any], name: str) -> str | None:
        if name not in self.columns.fields:
            return None
        value = cell(cells, self.columns.fields[name])
        if isinstance(value, list):
            return None  # raters beside a list of ratings
        return None if value is None or value == "" or value != value else str(label(value))  # NaN differs from itself

    def _repeat(self, values: Mapping[str, Any], number: int) -> int:
        try:
            repeat = float(values["repeat"])
        except ValueError:
            repeat = -1.0
        if repeat < 0 or not repeat.is_integer():
            self._refuse("not the number of a repeat (0, 1, 2, ...)", number, "repeat", values)
        return int(repeat)

    def _refuse(
        self, message: str, number: int, name: str, values: Mapping[str, Any] | None = None, hint: str | None = None
    ) -> NoReturn:
        column, value = self.columns.fields.get(name, name), values[name] if values is not None else None
        raise DataError(message, file=self.path, row=number, column=column, found=value, hint=hint)


def left_words(missing: Sequence[str]) -> tuple[str, ...]:
    """Those of the words for a missing rating that say of a whole row that it is no answer."""
    return tuple(word for word in missing if "=" in word and leaves_out(*word.split("=", 1)))


def _rater_and_rating(row: FileRow) -> tuple[Any, Any]:
    return row.cells["rater"], row.cells["rating"]
