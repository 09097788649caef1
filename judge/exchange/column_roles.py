"""Roles of a table's columns; those that the user does not state are guessed from names and cells, to be confirmed.
Form 1: a row is a story (or a story and a rater), with columns of ratings by judges and by people. Form 2: with an
additional column of criteria. Form 3: a row is one rating, with a column of raters' names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from judge.base.errors import DataError, SpecError, unknown
from judge.base.wording import Advice, listed
from judge.exchange.ratings_rows import BY_ROW, OWN, is_parsed, story_columns
from judge.exchange.table_cells import OVERALL, NamedColumn, TableCells, is_count, named, without_means
from judge.inputs.datasets.files.column_guess import fits, named_column
from judge.ratings.ratings_table import COLUMNS

# Options by which the user states the roles of a table's columns.


@dataclass(frozen=True, slots=True)
class GivenColumns:
    """Options of `judge check` that say which column of a table holds what; empty if the user did not give them.

    `judge` and `human` are COLUMN or CRITERION=COLUMN. In a table with one rating per row, `rater` and `rating` are
    columns, and `judge` lists the names that are judges. `by` is the column of systems. `labels` are words, lowest
    first, separated by commas. `missing` are words for a missing rating. `number_repeats`: rows with ratings of one
    story by one judge are repeats. `positions`: people's answers are in any order, so that a column is not one
    person's."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    criterion: str | None = None
    by: str | None = None
    story: str | None = None
    prompt: str | None = None
    text: str | None = None
    rater: str | None = None
    rating: str | None = None
    panel: str | None = None
    labels: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    number_repeats: bool = False
    positions: bool = False
    """Whether people's columns are answers in any order, and not of a person each."""


Form = Literal["columns", "rows", "ours"]

_OURS = frozenset({"story", "criterion", "rating", "source"})
_WHO = ("rater", "judge", "evaluator", "rated_by", "annotator", "source")
# Option -> what `column_guess` calls the field.
_FIELDS = {"story": "id", "by": "system", "prompt": "story_prompt", "text": "text"}

_STORIES = frozenset({"story", "stories", "item", "example", "sample", "document", "doc", "docid", "text", "output"})
_CRITERIA = frozenset({"test", "question", "item", "criterionname"})


@dataclass(frozen=True, slots=True)
class RatingColumn:
    """A column of ratings, with its criterion and its judge or human rater (`who`)."""

    column: str
    criterion: str
    who: str


@dataclass(frozen=True, slots=True)
class Guessed:
    """An interpretation of a table's columns; `guessed` names the options that the user did not give.

    `form`: ``columns`` (judges and people have columns), ``rows`` (one rating per row, with a column of raters and the
    judges' `judge_names`) or ``ours`` (a ratings table). `fields` maps an option to its column; `missing` and
    `positions` are as in `GivenColumns`."""

    form: Form
    fields: dict[str, str]
    given: GivenColumns
    judges: tuple[RatingColumn, ...] = ()
    people: tuple[RatingColumn, ...] = ()
    judge_names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    positions: bool = False
    guessed: tuple[str, ...] = field(default=())

    @property
    def used(self) -> set[str]:
        """The columns that this interpretation reads."""
        return {*self.fields.values(), *(column.column for column in (*self.judges, *self.people))}

    def column_map(self) -> dict[str, Any]:
        """The column map that `judge.exchange.ratings_file` takes."""
        names = {"story": "story", "by": "system", "prompt": "story_prompt"}
        columns_map: dict[str, Any] = {names.get(option, option): column for option, column in self.fields.items()}
        if self.form == "ours":
            return {"criterion": f"={OVERALL}"} | columns_map
        if self.form == "rows":
            columns_map.setdefault("criterion", f"={OVERALL}")
            columns_map["judges"] = list(self.judge_names)
        for prefix, columns in (("judges", self.judges), ("people", self.people)):
            for criterion in dict.fromkeys(rating_column.criterion for rating_column in columns):
                mine = [rating_column for rating_column in columns if rating_column.criterion == criterion]
                by_row = prefix == "people" and "rater" in self.fields
                columns_map[f"{prefix}.{criterion}"] = (
                    mine[0].column if by_row else {rating_column.who: rating_column.column for rating_column in mine}
                )
        if self.form == "columns":
            columns_map.setdefault("story", BY_ROW)
        if self.positions:
            columns_map["rater"] = "=unknown"
        columns_map |= {"labels": f"={self.given.labels}"} if self.given.labels else {}
        columns_map |= {"missing": list(self.missing)} if self.missing else {}
        return columns_map | ({"sheet": [self.given.sheet]} if self.given.sheet else {})

    @property
    def options(self) -> str:
        several = len({column.criterion for column in (*self.judges, *self.people)}) > 1
        options = [("judge", name) for name in self.judge_names]
        for option, columns in (("judge", self.judges), ("human", self.people)):
            options += [
                (option, f"{column.criterion}={column.column}" if several else column.column) for column in columns
            ]
        options += [*self.fields.items()] if self.form != "ours" else []
        options += [("labels", self.given.labels)] if self.given.labels else []
        options += [("missing", word) for word in self.missing]
        options += [("sheet", self.given.sheet)] if self.given.sheet else []
        parts = [Advice(f"{{{option}}}", **{option: value}) for option, value in options]
        given = {"number_repeats": self.given.number_repeats, "positions": self.positions}
        parts += [Advice(f"{{{option}}}") for option, value in given.items() if value]
        return listed(parts, " ")


def guess(table: TableCells, given: GivenColumns) -> Guessed:
    """An interpretation of a table's columns; given roles are kept. Raises DataError where no judge or no human rater
    can be identified."""
    _check_given(table, given)
    if replace(given, sheet=None, number_repeats=False) == GivenColumns() and (ours := _ours(table)):
        return Guessed("ours", ours, GivenColumns(sheet=given.sheet))
    fields = {name: value for name in ("criterion", "rater", "panel", "rating") if (value := getattr(given, name))}
    wide = _wide(table, given, {*fields.values()}) if not given.rating else None
    guessed = wide if wide is not None else _rows(table, given, fields)
    if guessed is None:
        raise _nothing_found(table, given)
    if given.positions and guessed.form == "rows":
        raise SpecError(Advice("{positions} has no effect where each row is one rating: people have no columns"))
    return guessed


def _ours(table: TableCells) -> dict[str, str]:
    """Columns of a table that `judge ratings` or `judge parse` wrote; empty where neither did."""
    parsed = is_parsed(table.columns)
    if not parsed and not {*table.columns} >= _OURS:
        return {}
    fields = {name: name for name in (*COLUMNS, "panel", "text") if name in table.columns}
    fields |= story_columns(table.path, table.columns) if parsed else {}
    return fields if "story" in fields else {}


def _check_given(table: TableCells, given: GivenColumns) -> None:
    columns = (given.criterion, given.story, given.by, given.prompt, given.text, given.rater, given.rating, given.panel)
    for column in columns:
        if column is not None and column not in table.columns:
            raise DataError(unknown("column", column, table.columns), file=table.path)
    if given.rating and not given.rater:
        raise SpecError(
            Advice("{rating} is for tables of one row a rating, which also name who rated: {rater}", rater="COLUMN")
        )
    if given.rating and given.human:
        raise SpecError(
            Advice("{human} has no effect beside {rating}: who is no judge in the column of raters is a person")
        )


def _nothing_found(table: TableCells, given_columns: GivenColumns) -> DataError:
    numbers = [column for column in table.columns if not is_count(column) and table.holds_ratings(column)]
    missing = [side for side, given in (("a judge", given_columns.judge), ("people", given_columns.human)) if not given]
    lacking = " and ".join(missing) or "a judge and people"
    words = "say which columns are whose: {} {}; one row a rating: {} {} {}"
    parts = [
        Advice("{judge}", judge=given_columns.judge[0] if given_columns.judge else "COLUMN"),
        Advice("{human}", human=given_columns.human[0] if given_columns.human else "COLUMN"),
        Advice("{rater}", rater="COLUMN"),
        Advice("{rating}", rating="COLUMN"),
        Advice("{judge}", judge="NAME"),
    ]
    message = f"no columns could be identified as the ratings of {lacking}"
    numbers_listed = ", ".join(numbers) or "none"
    return DataError(f"{message}; columns of numbers: {numbers_listed}", file=table.path, hint=Advice(words, *parts))


def _wide(table: TableCells, given: GivenColumns, taken: set[str]) -> Guessed | None:
    """None without columns for each judge and human rater; `taken` have another role."""
    in_rows = [name for name in given.judge if _split_column(name, table)[1] not in table.columns]
    if in_rows:
        who = given.rater or _who_column(table, in_rows)
        if who is None:
            raise DataError(unknown("column", _split_column(in_rows[0], table)[1], table.columns), file=table.path)
        return None
    for name in given.human:
        if _split_column(name, table)[1] not in table.columns:
            raise DataError(unknown("column", _split_column(name, table)[1], table.columns), file=table.path)
    given_names = {
        column for rating_column in (*given.judge, *given.human) for column in (_split_column(rating_column, table)[1],)
    }
    others = {value for name in _FIELDS if (value := getattr(given, name))}
    free = [
        named(column)
        for column in table.columns
        if column not in given_names | taken | others and not is_count(column) and table.holds_ratings(column)
    ]
    judges = [_given_column(rating_column, table) for rating_column in given.judge] or [
        rating_column for rating_column in free if rating_column.side == "judge"
    ]
    people = [_given_column(rating_column, table) for rating_column in given.human] or [
        rating_column for rating_column in free if rating_column.side == "human"
    ]
    judges, people = judges or _like(free, people), people or _like(free, judges)
    left = [rating_column for rating_column in free if rating_column.side is None]
    if bool(judges) != bool(people) and len(left) == 1:
        judges, people = judges or left, people or left
    if not given.human:
        people = without_means(people)
    if not judges or not people:
        return None
    missing = given.missing or table.words_for_nothing([rating_column.column for rating_column in (*judges, *people)])
    return _from_columns(table, given, judges, people, missing)


def _split_column(given: str, table: TableCells) -> tuple[str | None, str]:
    criterion, equals, column = given.partition("=")
    # COLUMN may contain `=` if the table has a column with that whole name.
    return (criterion, column) if equals and given not in table.columns else (None, given)


def _given_column(given: str, table: TableCells) -> NamedColumn:
    criterion, column = _split_column(given, table)
    parts = named(column)
    return NamedColumn(column, parts.side, criterion or parts.criterion, parts.who, parts.mean)


def _like(free: Sequence[NamedColumn], others: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Columns whose names suggest neither side, with a criterion of `others`, which are all of one side."""
    criteria = {column.criterion for column in others}
    return [column for column in free if column.side is None and column.criterion in criteria] if others else []


def _from_columns(
    table: TableCells,
    given: GivenColumns,
    judges: Sequence[NamedColumn],
    people: Sequence[NamedColumn],
    missing: Sequence[str],
) -> Guessed:
    used = {column.column for column in (*judges, *people)}
    fields = _fields(table, given, used)
    both = {column.criterion for column in judges} & {column.criterion for column in people} - {None}
    own = "criterion" in fields
    groups: list[list[RatingColumn]] = []
    for side in (judges, people):
        rows = [
            RatingColumn(
                column.column,
                OWN if own else str(column.criterion) if both and column.criterion else OVERALL,
                column.who if both and not own else column.column,
            )
            for column in side
        ]
        groups.append(_distinct(rows))
    judged, rated = groups
    if "rater" in fields and len({column.criterion for column in rated}) < len(rated):
        raise SpecError(
            Advice(
                "{rater} names the person of each row, and several columns hold people's ratings of one criterion: "
                "name one, or name each with its criterion ({})",
                Advice("{human}", human="CRITERION=COLUMN"),
                rater=fields["rater"],
            )
        )
    positions = given.positions or any(
        table.in_order([column.column for column in rated if column.criterion == criterion], missing)
        for criterion in {column.criterion for column in rated}
    )
    guessed = (
        ["judge"] * (not given.judge)
        + ["human"] * (not given.human)
        + ["missing"] * bool(missing and not given.missing)
    )
    guessed += [name for name in fields if getattr(given, name) is None]
    return Guessed(
        "columns",
        fields,
        given,
        tuple(judged),
        tuple(rated),
        missing=tuple(missing),
        positions=positions,
        guessed=tuple(guessed),
    )


def _distinct(columns: Sequence[RatingColumn]) -> list[RatingColumn]:
    # Where columns of a criterion have the same rater's name, each gets its own column's name instead.
    keys = [(column.criterion, column.who) for column in columns]
    return [
        RatingColumn(column.column, column.criterion, column.column)
        if keys.count((column.criterion, column.who)) > 1
        else column
        for column in columns
    ]


def _fields(table: TableCells, given: GivenColumns, used: set[str]) -> dict[str, str]:
    fields = {name: value for name in ("criterion", "rater", "panel", "rating") if (value := getattr(given, name))}
    fields |= {name: value for name in _FIELDS if (value := getattr(given, name))}
    taken = used | {*fields.values()}
    for option, name in {"rater": "rater", "criterion": "criterion", **_FIELDS}.items():
        if option in fields:
            continue
        free = [column for column in table.columns if column not in taken and fits(name, table.values(column))]
        column = named_column(name, free)
        if option == "criterion" and column is None:
            column = next((column_name for column_name in free if column_name.lower() in _CRITERIA), None)
        if option == "story":
            column = _id_column([*([column] if column else []), *_more_ids(free)], table, {*fields})
        if column is not None:
            fields[option] = column
            taken.add(column)
    if "text" not in fields:
        long = [c for c in table.columns if c not in taken and fits("text", table.values(c))]
        fields |= {"text": long[0]} if len(long) == 1 else {}
    return fields


def _id_column(columns: Sequence[str], table: TableCells, fields: set[str]) -> str | None:
    # A story has several rows where raters or criteria have a column, so ids are not unique then.
    own = (
        None if {"rater", "criterion"} & fields else next((column for column in columns if table.unique(column)), None)
    )
    return own or next(iter(columns), None)


def _more_ids(columns: Sequence[str]) -> list[str]:
    bare = {column: re.sub(r"[^a-z]", "", column.lower()) for column in columns}
    return [c for c in columns if bare[c] in _STORIES] + [c for c in columns if bare[c].endswith("id")]


def _who_column(table: TableCells, names: Sequence[str]) -> str | None:
    """First column that contains every name."""
    return next((c for c in table.columns if {*names} <= {str(value) for value in table.values(c)}), None)


def _rows(table: TableCells, given: GivenColumns, fields: dict[str, str]) -> Guessed | None:
    """None without one rating per row and a column of raters."""
    numbers = [column for column in table.columns if table.holds_ratings(column) and not is_count(column)]
    rating = given.rating or named_column("rating", numbers) or (numbers[0] if len(numbers) == 1 else None)
    who = given.rater or (_who_column(table, given.judge) if given.judge else None) or _named_who(table)
    if rating is None or who is None:
        return None
    raters = list(dict.fromkeys(str(value) for value in table.values(who)))
    judges = given.judge or tuple(name for name in raters if named(name).side == "judge")
    for name in given.judge:
        if name not in raters:
            raise DataError(unknown("judge", name, raters), file=table.path, column=who)
    if not judges or len(judges) == len(raters):
        return None
    fields = {**fields, **_fields(table, given, {rating, who}), "rater": who, "rating": rating}
    if "story" not in fields:
        hint = Advice("{story}", story="COLUMN")
        raise DataError(
            "no column could be identified as the story's name",
            file=table.path,
            found=", ".join(table.columns),
            hint=hint,
        )
    missing = given.missing or table.words_for_nothing([rating])
    guessed = [name for name in fields if getattr(given, name) is None] + ["judge"] * (not given.judge)
    guessed += ["missing"] * bool(missing and not given.missing)
    return Guessed(
        "rows",
        fields,
        given,
        judge_names=tuple(judges),
        missing=tuple(missing),
        guessed=tuple(guessed),
    )


def _named_who(table: TableCells) -> str | None:
    names = {column.lower().replace(" ", "_"): column for column in table.columns}
    return next((names[name] for name in _WHO if name in names), None) or named_column("rater", table.columns)
