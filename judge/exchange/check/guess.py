"""Roles of a table's columns: as the user states them, and for the rest guessed from names and cells, for confirmation.

Three forms are told apart: a row a story, or a story and rater, with columns of judges and people; the same with a
column of criteria; and a row a rating, where a column says who rated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from judge.datasets.files.column_guess import fits, named_column
from judge.errors import DataError, SpecError, unknown
from judge.exchange.check.look import Looked
from judge.exchange.check.names import OVERALL, NamedColumn, is_count, named, without_means
from judge.exchange.check.said import SaidColumns
from judge.exchange.ratings.rows import BY_ROW, OWN
from judge.ratings_table import COLUMNS
from judge.wording import Advice, listed

Form = Literal["columns", "rows", "ours"]

_OURS = frozenset({"story", "criterion", "rating", "source"})
_WHO = ("rater", "judge", "evaluator", "rated_by", "annotator", "source")
_FIELDS = {"story": "id", "by": "system", "prompt": "story_prompt", "text": "text"}
"""Option -> what `column_guess` calls the field."""

_STORIES = frozenset({"story", "stories", "item", "example", "sample", "document", "doc", "docid", "text", "output"})
_CRITERIA = frozenset({"test", "question", "item", "criterionname"})


@dataclass(frozen=True, slots=True)
class RatingColumn:
    """A column of ratings, with its criterion and rater."""

    column: str
    criterion: str
    who: str


@dataclass(frozen=True, slots=True)
class Guessed:
    """A reading of the table: the options that repeat it, and what of it was not said by the person.

    `form`: ratings in columns of judges and people, in rows with a column of who rated, or a ratings table of ours.
    `judges` are columns or, in rows, names; `positions` says that people's columns hold sorted answers and no persons.
    """

    form: Form
    fields: dict[str, str]
    judges: tuple[RatingColumn, ...] = ()
    people: tuple[RatingColumn, ...] = ()
    judge_names: tuple[str, ...] = ()
    labels: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    positions: bool = False
    number_repeats: bool = False
    guessed: tuple[str, ...] = field(default=())

    @property
    def used(self) -> set[str]:
        """Columns that are read."""
        return {*self.fields.values(), *(one.column for one in (*self.judges, *self.people))}

    def column_map(self) -> dict[str, Any]:
        """As `exchange.ratings` takes it."""
        names = {"story": "story", "by": "system", "prompt": "story_prompt"}
        made: dict[str, Any] = {names.get(option, option): column for option, column in self.fields.items()}
        if self.form == "ours":
            return made
        if self.form == "rows":
            made.setdefault("criterion", f"={OVERALL}")
            made["judges"] = list(self.judge_names)
        for prefix, columns in (("judges", self.judges), ("people", self.people)):
            for criterion in dict.fromkeys(one.criterion for one in columns):
                mine = [one for one in columns if one.criterion == criterion]
                by_row = prefix == "people" and "rater" in self.fields
                made[f"{prefix}.{criterion}"] = mine[0].column if by_row else {one.who: one.column for one in mine}
        if self.form == "columns":
            made.setdefault("story", BY_ROW)
        if self.positions:
            made["rater"] = "=unknown"
        made |= {"labels": f"={self.labels}"} if self.labels else {}
        made |= {"missing": list(self.missing)} if self.missing else {}
        return made | ({"sheet": [self.sheet]} if self.sheet else {})

    @property
    def options(self) -> str:
        """The options that repeat this reading."""
        several = len({one.criterion for one in (*self.judges, *self.people)}) > 1
        said = [("judge", name) for name in self.judge_names]
        for option, columns in (("judge", self.judges), ("human", self.people)):
            said += [(option, f"{one.criterion}={one.column}" if several else one.column) for one in columns]
        said += [*self.fields.items()] if self.form != "ours" else []
        said += [("labels", self.labels)] if self.labels else []
        said += [("missing", word) for word in self.missing]
        said += [("sheet", self.sheet)] if self.sheet else []
        parts = [Advice(f"{{{option}}}", **{option: value}) for option, value in said]
        given = {"number_repeats": self.number_repeats, "positions": self.positions}
        parts += [Advice(f"{{{option}}}") for option, value in given.items() if value]
        return listed(parts, " ")


def guess(table: Looked, said: SaidColumns) -> Guessed:
    """A reading of the table; what was said stays. DataError where no judge or no person can be told."""
    _check_said(table, said)
    if {*table.columns} >= _OURS and replace(said, sheet=None, number_repeats=False) == SaidColumns():
        return Guessed(
            "ours", {name: name for name in (*COLUMNS, "panel", "text") if name in table.columns}, sheet=said.sheet
        )
    fields = {name: value for name in ("criterion", "rater", "panel", "rating") if (value := getattr(said, name))}
    wide = _wide(table, said, {*fields.values()}) if not said.rating else None
    found = wide if wide is not None else _rows(table, said, fields)
    if found is None:
        raise _nothing_found(table, said)
    if said.positions and found.form == "rows":
        raise SpecError(Advice("{positions} has no effect where each row is one rating: people have no columns"))
    return found


def _check_said(table: Looked, said: SaidColumns) -> None:
    columns = (said.criterion, said.story, said.by, said.prompt, said.text, said.rater, said.rating, said.panel)
    for column in columns:
        if column is not None and column not in table.columns:
            raise DataError(unknown("column", column, table.columns), file=table.path)
    if said.rating and not said.rater:
        raise SpecError(
            Advice("{rating} is for tables of one row a rating, which also name who rated: {rater}", rater="COLUMN")
        )
    if said.rating and said.human:
        raise SpecError(
            Advice("{human} has no effect beside {rating}: who is no judge in the column of raters is a person")
        )


def _nothing_found(table: Looked, said: SaidColumns) -> DataError:
    numbers = [column for column in table.columns if not is_count(column) and table.holds_ratings(column)]
    missing = [side for side, given in (("a judge", said.judge), ("people", said.human)) if not given]
    lacking = " and ".join(missing) or "a judge and people"
    words = "say which columns are whose: {} {}; one row a rating: {} {} {}"
    parts = [
        Advice("{judge}", judge=said.judge[0] if said.judge else "COLUMN"),
        Advice("{human}", human=said.human[0] if said.human else "COLUMN"),
        Advice("{rater}", rater="COLUMN"),
        Advice("{rating}", rating="COLUMN"),
        Advice("{judge}", judge="NAME"),
    ]
    message = f"no columns could be identified as the ratings of {lacking}"
    found = ", ".join(numbers) or "none"
    return DataError(f"{message}; columns of numbers: {found}", file=table.path, hint=Advice(words, *parts))


def _wide(table: Looked, said: SaidColumns, taken: set[str]) -> Guessed | None:
    """Columns of judges and of people; None where the table has no such."""
    in_rows = [name for name in said.judge if _of(name, table)[1] not in table.columns]
    if in_rows:
        who = said.rater or _who_column(table, in_rows)
        if who is None:
            raise DataError(unknown("column", _of(in_rows[0], table)[1], table.columns), file=table.path)
        return None
    for name in said.human:
        if _of(name, table)[1] not in table.columns:
            raise DataError(unknown("column", _of(name, table)[1], table.columns), file=table.path)
    known = {column for one in (*said.judge, *said.human) for column in (_of(one, table)[1],)}
    others = {value for name in _FIELDS if (value := getattr(said, name))}
    free = [
        named(column)
        for column in table.columns
        if column not in known | taken | others and not is_count(column) and table.holds_ratings(column)
    ]
    judges = [_said_column(one, table) for one in said.judge] or [one for one in free if one.side == "judge"]
    people = [_said_column(one, table) for one in said.human] or [one for one in free if one.side == "human"]
    judges, people = judges or _like(free, people), people or _like(free, judges)
    left = [one for one in free if one.side is None]
    if bool(judges) != bool(people) and len(left) == 1:
        judges, people = judges or left, people or left
    if not said.human:
        people = without_means(people)
    if not judges or not people:
        return None
    missing = said.missing or table.words_for_nothing([one.column for one in (*judges, *people)])
    return _of_columns(table, said, judges, people, missing)


def _of(given: str, table: Looked) -> tuple[str | None, str]:
    """(criterion or None, column) of COLUMN or CRITERION=COLUMN."""
    criterion, equals, column = given.partition("=")
    return (criterion, column) if equals and given not in table.columns else (None, given)


def _said_column(given: str, table: Looked) -> NamedColumn:
    criterion, column = _of(given, table)
    told = named(column)
    return NamedColumn(column, told.side, criterion or told.criterion, told.who, told.mean)


def _like(free: Sequence[NamedColumn], others: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Columns whose names say nobody, of the criteria that the other side has."""
    criteria = {one.criterion for one in others}
    return [one for one in free if one.side is None and one.criterion in criteria] if others else []


def _of_columns(
    table: Looked,
    said: SaidColumns,
    judges: Sequence[NamedColumn],
    people: Sequence[NamedColumn],
    missing: Sequence[str],
) -> Guessed:
    used = {one.column for one in (*judges, *people)}
    fields = _fields(table, said, used)
    both = {one.criterion for one in judges} & {one.criterion for one in people} - {None}
    own = "criterion" in fields
    groups: list[list[RatingColumn]] = []
    for side in (judges, people):
        rows = [
            RatingColumn(
                one.column,
                OWN if own else str(one.criterion) if both and one.criterion else OVERALL,
                one.who if both and not own else one.column,
            )
            for one in side
        ]
        groups.append(_distinct(rows))
    judged, rated = groups
    if "rater" in fields and len({one.criterion for one in rated}) < len(rated):
        raise SpecError(
            Advice(
                "{rater} names the person of each row, and several columns hold people's ratings of one criterion: "
                "name one, or name each with its criterion ({})",
                Advice("{human}", human="CRITERION=COLUMN"),
                rater=fields["rater"],
            )
        )
    positions = said.positions or any(
        table.in_order([one.column for one in rated if one.criterion == criterion], missing)
        for criterion in {one.criterion for one in rated}
    )
    told = (
        ["judge"] * (not said.judge) + ["human"] * (not said.human) + ["missing"] * bool(missing and not said.missing)
    )
    told += [name for name in fields if getattr(said, name) is None]
    return Guessed(
        "columns",
        fields,
        tuple(judged),
        tuple(rated),
        labels=said.labels,
        missing=tuple(missing),
        sheet=said.sheet,
        positions=positions,
        number_repeats=said.number_repeats,
        guessed=tuple(told),
    )


def _distinct(columns: Sequence[RatingColumn]) -> list[RatingColumn]:
    """Columns of one criterion have a name each: where two would be called alike, the column's own."""
    keys = [(one.criterion, one.who) for one in columns]
    return [
        RatingColumn(one.column, one.criterion, one.column) if keys.count((one.criterion, one.who)) > 1 else one
        for one in columns
    ]


def _fields(table: Looked, said: SaidColumns, used: set[str]) -> dict[str, str]:
    """Option -> column for what stands beside ratings."""
    found = {name: value for name in ("criterion", "rater", "panel", "rating") if (value := getattr(said, name))}
    found |= {name: value for name in _FIELDS if (value := getattr(said, name))}
    taken = used | {*found.values()}
    for option, name in {"rater": "rater", "criterion": "criterion", **_FIELDS}.items():
        if option in found:
            continue
        free = [column for column in table.columns if column not in taken and fits(name, table.values(column))]
        column = named_column(name, free)
        if option == "criterion" and column is None:
            column = next((one for one in free if one.lower() in _CRITERIA), None)
        if option == "story":
            column = _of_ids([*([column] if column else []), *_more_ids(free)], table, {*found})
        if column is not None:
            found[option] = column
            taken.add(column)
    if "text" not in found:
        long = [c for c in table.columns if c not in taken and fits("text", table.values(c))]
        found |= {"text": long[0]} if len(long) == 1 else {}
    return found


def _of_ids(columns: Sequence[str], table: Looked, known: set[str]) -> str | None:
    """Of columns that may name stories one in which each row has its own, unless several rows are about a story."""
    own = None if {"rater", "criterion"} & known else next((one for one in columns if table.unique(one)), None)
    return own or next(iter(columns), None)


def _more_ids(columns: Sequence[str]) -> list[str]:
    """Columns whose names say that they name stories, or end in id."""
    bare = {column: re.sub(r"[^a-z]", "", column.lower()) for column in columns}
    return [c for c in columns if bare[c] in _STORIES] + [c for c in columns if bare[c].endswith("id")]


def _who_column(table: Looked, names: Sequence[str]) -> str | None:
    """The column in whose cells all these names stand."""
    return next((c for c in table.columns if {*names} <= {str(value) for value in table.values(c)}), None)


def _rows(table: Looked, said: SaidColumns, fields: dict[str, str]) -> Guessed | None:
    """One row a rating: a column says who rated; None where the table has no such."""
    numbers = [one for one in table.columns if table.holds_ratings(one) and not is_count(one)]
    rating = said.rating or named_column("rating", numbers) or (numbers[0] if len(numbers) == 1 else None)
    who = said.rater or (_who_column(table, said.judge) if said.judge else None) or _named_who(table)
    if rating is None or who is None:
        return None
    raters = list(dict.fromkeys(str(value) for value in table.values(who)))
    judges = said.judge or tuple(name for name in raters if named(name).side == "judge")
    for name in said.judge:
        if name not in raters:
            raise DataError(unknown("judge", name, raters), file=table.path, column=who)
    if not judges or len(judges) == len(raters):
        return None
    fields = {**fields, **_fields(table, said, {rating, who}), "rater": who, "rating": rating}
    if "story" not in fields:
        hint = Advice("{story}", story="COLUMN")
        raise DataError(
            "no column could be identified as the story's name",
            file=table.path,
            found=", ".join(table.columns),
            hint=hint,
        )
    missing = said.missing or table.words_for_nothing([rating])
    told = [name for name in fields if getattr(said, name) is None] + ["judge"] * (not said.judge)
    told += ["missing"] * bool(missing and not said.missing)
    return Guessed(
        "rows",
        fields,
        judge_names=tuple(judges),
        labels=said.labels,
        missing=tuple(missing),
        sheet=said.sheet,
        number_repeats=said.number_repeats,
        guessed=tuple(told),
    )


def _named_who(table: Looked) -> str | None:
    names = {column.lower().replace(" ", "_"): column for column in table.columns}
    return next((names[name] for name in _WHO if name in names), None) or named_column("rater", table.columns)
