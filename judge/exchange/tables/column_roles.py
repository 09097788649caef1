"""Whose ratings the columns of a table hold, for `judge check` and `judge import`: their reading with what the user
stated. Form 1: a row is a story (or a story and a rater), with columns of judges' and people's ratings. Form 2: with an
additional column of criteria. Form 3: a row is one rating, with a column of raters' names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge.base.errors import DataError, SpecError, unknown
from judge.base.wording import Advice, typed
from judge.exchange.ratings_rows import OWN, is_parsed
from judge.exchange.tables.answer_rows import (
    by_kind,
    called_by_a_column,
    errors_in_rows,
    judges_in_a_column,
    ours,
    parsed,
    with_judges_in_a_column,
)
from judge.exchange.tables.role_questions import ask, persons_or_criteria, refuse_judges_in_rows
from judge.exchange.tables.side_columns import answered, are_persons, by_file, repeat_column
from judge.exchange.tables.table_roles import (
    NO_COLUMN,
    ORDER,
    GivenColumns,
    Guessed,
    RatingColumn,
    distinct,
    options_of,
)
from judge.inputs.datasets.dataset import label_scales
from judge.inputs.datasets.files.column_names import (
    OVERALL,
    NamedColumn,
    Side,
    counts_repeats,
    is_count,
    is_criterion,
    may_be_persons,
    named,
    named_column,
    stem,
    with_persons,
    without_means,
)
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.reading import Reading, Role, is_measure
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import is_column

# Keys of a judge's answer in words.
_ANSWERS = ("completion", "response", "raw_response", "raw_output", "answer")
# Option -> the role of its column in a reading.
_ROLES: Mapping[str, Role] = {
    "rater": "rater",
    "criterion": "criterion",
    "story": "id",
    "by": "system",
    "prompt": "story_prompt",
    "text": "text",
    "panel": "panel",
    "comments": "explanation",
}


class ComparedTableError(DataError):
    """A table that compares two stories in each row, where ratings of one were expected."""


class PeopleAloneError(DataError):
    """A table of people's ratings without a judge's; `guessed` is its interpretation."""

    def __init__(self, error: DataError, guessed: Guessed) -> None:
        """The error of a table without a judge, and what its columns are."""
        super().__init__(error.sentence, hint=error.hint)
        self.guessed = guessed


def guess(table: TableCells, given: GivenColumns) -> Guessed:
    """An interpretation of a table's columns; given roles are kept. Raises DataError where no judge or no human rater
    can be identified, and TwoReadingsError where two interpretations give different answers."""
    _check_given(table, given)
    if is_parsed(table.columns) and not given.story and not ours(table):
        raise _without_ids(table)
    if replace(given, sheet=None, number_repeats=False) == GivenColumns() and (own_fields := ours(table)):
        return (
            parsed(table, own_fields, given)
            if is_parsed(table.columns)
            else Guessed("ours", own_fields, GivenColumns(sheet=given.sheet))
        )
    reading = _reading(table, given)
    if reading.twins is not None:
        raise _compared(reading, table)
    if given.labels is None and table.scale is None and any(read.role == "label" for read in reading.columns.values()):
        labels = ",".join(reading.labels)
        labelled = replace(table, scale=label_scales({"labels": labels}).of(""))
        return guess(labelled, replace(given, labels=labels))
    wide = _wide(reading, given) if not given.rating else None
    guessed = wide if wide is not None else _rows(reading, given)
    if guessed is None:
        alone = _people_alone(reading, given)
        error = errors_in_rows(reading) or _nothing_found(table, reading, given)
        raise error if alone is None else PeopleAloneError(error, alone)
    if given.positions and guessed.form == "rows":
        raise SpecError(Advice("{positions} has no effect where each row is one rating: people have no columns"))
    return guessed


def guess_side(
    table: TableCells, given: GivenColumns, side: Side, *, together: bool = True, beside: Collection[str] = ()
) -> Guessed:
    """An interpretation of a table of the ratings of one side, judges or people, whose stories are joined by their
    ids; `together`: a prompt and a system may name a story. `beside` are criteria of the judge's table, in small
    letters: people's columns that name none of them may be persons'. Raises DataError where the table has no such
    ratings, and TwoReadingsError where two interpretations give different answers."""
    if own_fields := ours(table):
        return parsed(table, own_fields, given) if is_parsed(table.columns) else Guessed("ours", own_fields, given)
    reading = _reading(table, given)
    labels = given.labels or (",".join(reading.labels) if reading.labels else None)
    table = replace(table, scale=label_scales({"labels": labels}).of("")) if labels else table
    reading, given = replace(reading, table=table), replace(given, labels=labels)
    stated = [_given_column(column, reading) for column in (given.judge if side == "judge" else given.human)]
    columns = [column for column in reading.ratings() if column.side == side]
    columns = stated or without_means(columns or [column for column in reading.ratings() if column.side is None])
    if not columns:
        raise _nothing_found(table, reading, given)
    if side == "human" and are_persons(columns, given.human, beside, reading):
        columns = [replace(column, criterion=None) for column in columns]
    missing = given.missing or (*table.words_for_nothing([column.column for column in columns]), *table.no_answers)
    judges, people = (columns, []) if side == "judge" else ([], columns)
    guessed = _from_columns(reading, given, judges, people, missing)
    if "story" not in guessed.fields and {"prompt", "by"} <= guessed.fields.keys():
        item, writer = guessed.fields["prompt"], guessed.fields["by"]
        guessed.fields["story"] = f"{item}+{writer}" if together else item
        if not together:
            del guessed.fields["prompt"]
    if "story" not in guessed.fields:
        raise _without_ids(table)
    if side == "human":
        ask(guessed, given, judges, people, table)
        return guessed
    rater = guessed.fields.pop("rater", None)
    by = rater or guessed.fields.get("by")
    if by is not None and "story" in guessed.fields and answered(table, by, guessed.fields["story"]):
        if rater is None:
            guessed.fields.pop("by", None)
        guessed.fields["judge"] = by
    own = {"repeat": repeat_column(table, guessed.fields), "comments": reading.column("explanation")}
    guessed.fields.update({name: column for name, column in own.items() if column is not None})
    return replace(guessed, judges=tuple(by_file(column, table) for column in guessed.judges))


def criteria_of(table: TableCells, given: GivenColumns) -> set[str]:
    """The criteria, in small letters, that a judge's table rates."""
    reading = _reading(table, given)
    column = reading.column("criterion")
    if column is not None:
        return {str(value).casefold() for value in table.values(column) if not is_missing(value, ())}
    stated = [_given_column(name, reading) for name in given.judge]
    return {(c.criterion or OVERALL).casefold() for c in (stated or without_means(reading.ratings()))}


def side_of(table: TableCells) -> Side | None:
    """Whose ratings a table holds, as the names of its columns, of its raters and of the file suggest."""
    if is_parsed(table.columns):
        return "judge"
    reading = read_columns(table)
    sides = {column.side for column in reading.ratings()} - {None}
    if len(sides) == 1:
        return sides.pop()
    rater = reading.column("rater") or reading.column("system")
    names = {named(str(value)).side for value in table.values(rater)} if rater is not None else set()
    if names == {"judge"} and rater is not None and answered(table, rater, reading.column("id") or rater):
        return "judge"
    return named(table.name).side or ("human" if reading.column("rater") is not None else None)


def _reading(table: TableCells, given: GivenColumns) -> Reading:
    fields = {role: column for option, role in _ROLES.items() if (column := _said(given, option, table))}
    ratings = [_split_column(name, table)[1] for name in (*given.judge, *given.human)]
    return read_columns(table, fields, [*ratings, *(given.rating.split(",") if given.rating else [])])


def _compared(reading: Reading, table: TableCells) -> DataError:
    twins = reading.twins
    verdicts = ", ".join(twins.verdicts if twins is not None else ())
    message = f"compares two stories a row, with verdicts in {verdicts}: there are no ratings of one story"
    hint = f"judge import {typed(table.path)} -o runs/{table.path.stem}, then judge rank runs/{table.path.stem}"
    return ComparedTableError(message, file=table.path, hint=hint)


def _check_given(table: TableCells, given: GivenColumns) -> None:
    for column in (_said(given, name, table) for name in ORDER):
        for part in column.split(",") if column is not None and column == given.rating else [column]:
            if part is not None and not is_column(part, table.columns):
                raise DataError(unknown("column", part, table.columns), file=table.path)
    if given.rating and not given.rater:
        raise SpecError(
            Advice("{rating} is for tables of one row a rating, which also name who rated: {rater}", rater="COLUMN")
        )
    if given.rating and given.human:
        raise SpecError(
            Advice("{human} has no effect beside {rating}: who is no judge in the column of raters is a person")
        )


def _said(given: GivenColumns, option: str, table: TableCells) -> str | None:
    """The column that was given for an option; None too where the user said that there is no story-prompt."""
    column: str | None = getattr(given, option)
    return None if option == "prompt" and column == NO_COLUMN and NO_COLUMN not in table.columns else column


def _without_ids(table: TableCells) -> DataError:
    """Error for a table with several rows a story, none of whose columns could be identified as the story's name."""
    found, hint = ", ".join(table.columns), Advice("{story}", story="COLUMN")
    return DataError("no column could be identified as the story's name", file=table.path, found=found, hint=hint)


def _nothing_found(table: TableCells, reading: Reading, given: GivenColumns) -> DataError:
    """The error where a side has no columns, with a command; beside one side it names what may be the other's."""
    sides = reading.sides([_split_column(name, table)[1] for name in (*given.judge, *given.human)])
    judges = given.judge or tuple(column.column for column in sides.judges)
    people = given.human or tuple(column.column for column in sides.people)
    known = {*(_split_column(name, table)[1] for name in (*judges, *people))}
    numbers = [c for c in table.columns if c not in known and not is_count(c) and table.holds_ratings(c)]
    shown = ("rating", "ignored")
    numbers = [c for c in numbers if reading.columns[c].role in shown and "number" in reading.columns[c].because]
    lacking = " and ".join(side for side, named in (("a judge", judges), ("people", people)) if not named)
    first, most = ((*numbers[:1],), (*numbers,)) if judges or people else ((), ())
    ways = replace(given, judge=judges or first or ("COLUMN",), human=people or most or ("COLUMN",))
    message = f"no columns could be identified as the ratings of {lacking or 'a judge and people'}"
    words = "say which columns are whose, e.g. judge check {} {}; one row a rating: {} {} {}"
    rows = (Advice("{rater}", rater="COLUMN"), Advice("{rating}", rating="COLUMN"), Advice("{judge}", judge="NAME"))
    hint: str = Advice(words, typed(table.path), options_of(ways), *rows)
    told = next((column for column in table.columns if column.lower() in _ANSWERS), None)
    if told is not None and table.path.suffix in (".jsonl", ".ndjson") and not numbers and not judges:
        file = table.path
        hint = f"{told} holds answers in words: judge parse {file} -o {file.with_suffix('.csv')} reads their ratings"
    return DataError(f"{message}; other columns of numbers: {', '.join(numbers) or 'none'}", file=table.path, hint=hint)


def _wide(reading: Reading, given: GivenColumns) -> Guessed | None:
    """None without columns for each judge and human rater."""
    table = reading.table
    in_rows = [
        name
        for name in given.judge
        if _split_column(name, table)[1] not in table.columns
        and not is_column(_split_column(name, table)[1], table.columns)
    ]
    if in_rows:
        if (given.rater or _who_column(table, in_rows)) is None:
            raise DataError(unknown("column", _split_column(in_rows[0], table)[1], table.columns), file=table.path)
        return None
    for name in given.human:
        if _split_column(name, table)[1] not in table.columns:
            raise DataError(unknown("column", _split_column(name, table)[1], table.columns), file=table.path)
    stated = {_split_column(name, table)[1] for name in (*given.judge, *given.human)}
    sides = reading.sides(stated)
    judges = [_given_column(column, reading) for column in given.judge] or sides.judges
    people = [_given_column(column, reading) for column in given.human] or sides.people
    if given.judge and not people:
        people = sides.neither
    if people and judges_in_a_column(reading, stated) is not None:
        judges = judges or (sides.neither if not sides.neither[1:] else [])
        if len(judges) == len(people) == 1 and "=" not in "".join(given.judge):
            judges = [replace(judges[0], criterion=people[0].criterion)]
    if not judges or not people:
        return None
    rated = [column.column for column in (*judges, *people)]
    missing = given.missing or (*table.words_for_nothing(rated), *table.no_answers)
    if (
        len(judges) > 1
        and all(counts_repeats(column.column) for column in judges)
        and len({c.criterion for c in judges}) == 1
    ):
        given = replace(given, number_repeats=True)
    guessed = _from_columns(reading, given, judges, people, missing)
    guessed = with_judges_in_a_column(guessed, reading)
    guessed = called_by_a_column(guessed, reading)
    refuse_judges_in_rows(guessed, reading)
    ask(guessed, given, judges, people, table)
    return guessed


def _people_alone(reading: Reading, given: GivenColumns) -> Guessed | None:
    """The interpretation of a table of people's ratings alone: a column names who rated each row, and no judge, or
    every column of ratings is named for a person. None where a column may be a judge's."""
    table = reading.table
    rater = given.rater or reading.column("rater")
    ratings = [column for column in reading.ratings() if not is_measure(column.column)]
    if given.judge or any(column.side == "judge" for column in ratings):
        return None
    people = [_given_column(column, reading) for column in given.human]
    if rater is not None:
        sides = {named(str(value)).side for value in table.values(rater)}
        if not people and ("judge" in sides or by_kind(table, rater)):
            return None
        people = people or without_means([column for column in ratings if column.column != rater])
        given = replace(given, rater=rater) if given.rater else given
    elif not people:
        sides_read = reading.sides()
        if sides_read.judges or (sides_read.people and sides_read.neither):
            return None
        people = sides_read.people if sides_read.people[1:] else _of_one_person(sides_read.neither, reading, given)
    if not people:
        return None
    given = replace(given, rating=None)
    missing = given.missing or (*table.words_for_nothing([column.column for column in people]), *table.no_answers)
    if rater is not None and len({column.criterion for column in people}) < len(people):
        people = [replace(column, criterion=column.column) for column in people]
    guessed = _from_columns(reading, given, [], people, missing)
    ask(guessed, given, [], people, table)
    return guessed


def _of_one_person(columns: Sequence[NamedColumn], reading: Reading, given: GivenColumns) -> list[NamedColumn]:
    """Columns of numbers that name nobody, of several criteria each, as one person's. Raises TwoReadingsError where
    their names may be persons'."""
    names = [column.criterion for column in columns]
    if not columns[1:] or None in names or len({*names}) < len(names):
        return []
    if all(is_criterion(str(name)) for name in names):
        return [replace(column, who=reading.table.name) for column in columns]
    fields: dict[str, Any] = {k: value for k, value in _fields(reading, given, set()).items() if k in ORDER}
    stated = replace(given, **fields)
    persons = replace(stated, human=tuple(f"{OVERALL}={column.column}" for column in columns))
    criteria = replace(stated, human=tuple(f"{column.column}={column.column}" for column in columns))
    raise persons_or_criteria(reading.table, persons, criteria)


def _split_column(given: str, table: TableCells) -> tuple[str | None, str]:
    criterion, equals, column = given.partition("=")
    # COLUMN may contain `=` if the table has a column with that whole name.
    return (criterion, column) if equals and given not in table.columns else (None, given)


def _given_column(given: str, reading: Reading) -> NamedColumn:
    """A column of ratings that the user named, with what the other columns tell of its name."""
    criterion, column = _split_column(given, reading.table)
    known = {each.column: each for each in with_persons(reading.ratings())}
    parts = known.get(column) or named(column)
    return NamedColumn(column, parts.side, criterion or parts.criterion, parts.who, parts.mean)


def _from_columns(
    reading: Reading,
    given: GivenColumns,
    judges: Sequence[NamedColumn],
    people: Sequence[NamedColumn],
    missing: Sequence[str],
) -> Guessed:
    table = reading.table
    fields = _fields(reading, given, {column.column for column in (*judges, *people)})
    sides = [{column.criterion for column in side} for side in (judges, people) if side]
    both = set.intersection(*sides) - {None}
    own = "criterion" in fields
    if "story" not in fields and {"criterion", "rater"} & {*fields}:
        raise _without_ids(table)
    groups: list[list[RatingColumn]] = []
    for side in (judges, people):
        rows = [
            RatingColumn(
                column.column,
                OWN if own else str(column.criterion) if both and column.criterion else OVERALL,
                _who(column, given, judges) if (both and not own) or given.number_repeats else column.column,
            )
            for column in side
        ]
        groups.append(rows if given.number_repeats and side is judges else distinct(rows))
    judged, rated = groups
    if "rater" in fields and given.human and not given.rater and len({c.criterion for c in rated}) < len(rated):
        del fields["rater"]  # what the user named goes before what was guessed
    if "rater" in fields and len({column.criterion for column in rated}) < len(rated):
        raise SpecError(
            Advice(
                "{rater} names the person of each row, and several columns hold people's ratings of one criterion: "
                "name one, or name each with its criterion ({})",
                Advice("{human}", human="CRITERION=COLUMN"),
                rater=fields["rater"],
            )
        )
    positions = given.positions or _in_any_order(table, rated, missing, by_row="rater" in fields)
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
        reading=reading,
    )


def _in_any_order(table: TableCells, rated: Sequence[RatingColumn], missing: Sequence[str], *, by_row: bool) -> bool:
    """Whether people's answers have no persons: lists in cells (unless a row names its raters), or sorted columns."""
    if not by_row and any(table.lists(column.column) for column in rated):
        return True
    return any(
        table.in_order([column.column for column in rated if column.criterion == criterion], missing)
        for criterion in {column.criterion for column in rated}
    )


def _who(column: NamedColumn, given: GivenColumns, judges: Sequence[NamedColumn]) -> str:
    """Rater of a column; of repeats, which differ only in a number at the end, the judge."""
    its = stem(column.column)
    if given.number_repeats and its and sum(stem(judge.column) == its for judge in judges) > 1:
        return counts_repeats(column.column) or its
    return column.who


def _fields(reading: Reading, given: GivenColumns, used: set[str]) -> dict[str, str]:
    fields = {name: value for name in (*_ROLES, "rating") if (value := _said(given, name, reading.table))}
    for option, role in _ROLES.items():
        column = reading.column(role) if option != "comments" else _comments(reading, fields)
        if option not in fields and column is not None and column not in used | {*fields.values()}:
            fields[option] = column
    if given.prompt and "prompt" in fields and fields["prompt"] != given.prompt:
        del fields["prompt"]
    return fields


def _comments(reading: Reading, fields: Mapping[str, str]) -> str | None:
    """The column of what the rater of each row wrote. Without one nobody says whose it is, of several raters."""
    told = [name for name, read in reading.columns.items() if read.role == "explanation" and read.named.side != "judge"]
    return told[0] if told and "rater" in fields else None


def _who_column(table: TableCells, names: Sequence[str]) -> str | None:
    """First column that contains every name."""
    return next((c for c in table.columns if {*names} <= {str(value) for value in table.values(c)}), None)


def _rows(reading: Reading, given: GivenColumns) -> Guessed | None:
    """None without a column of raters, judges among them, beside one of ratings, or one for each criterion."""
    table = reading.table
    who = given.rater or (_who_column(table, given.judge) if given.judge else None) or reading.column("rater")
    ratings = _rating_columns(reading, given)
    if not ratings or who is None:
        return None
    raters = list(dict.fromkeys(str(value) for value in table.values(who)))
    judges = given.judge or by_kind(table, who) or tuple(name for name in raters if named(name).side == "judge")
    for name in given.judge:
        if name not in raters:
            raise DataError(unknown("judge", name, raters), file=table.path, column=who)
    if not judges or len(judges) == len(raters):
        return None
    fields = {**_fields(reading, given, {*ratings, who}), "rater": who, "rating": ",".join(ratings)}
    if "story" not in fields:
        raise _without_ids(table)
    columns = tuple(RatingColumn(c, named(c).criterion or OVERALL, who) for c in ratings) if ratings[1:] else ()
    missing = given.missing or (*table.words_for_nothing(ratings), *table.no_answers)
    guessed = [name for name in fields if getattr(given, name) is None] + ["judge"] * (not given.judge)
    guessed += ["missing"] * bool(missing and not given.missing)
    return Guessed(
        "rows",
        fields,
        given,
        columns,
        judge_names=tuple(judges),
        missing=tuple(missing),
        guessed=tuple(guessed),
        reading=reading,
    )


def _rating_columns(reading: Reading, given: GivenColumns) -> list[str]:
    """The column of ratings of a table with a column of raters, or its columns of one criterion each."""
    if given.rating:
        return given.rating.split(",")
    numbers = reading.ratings()
    usual = named_column("rating", [column.column for column in numbers])
    if usual is not None or len(numbers) == 1:
        return [usual or numbers[0].column]
    criteria = {column.criterion for column in numbers}
    each = len(criteria) == len(numbers) and not may_be_persons(numbers) and None not in criteria
    return [column.column for column in numbers] if each and {column.side for column in numbers} == {None} else []
