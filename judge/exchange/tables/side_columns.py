"""What two tables, of people's ratings and a judge's, tell of each other: ids, persons, numbers of answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from judge.exchange.tables.table_roles import RatingColumn
from judge.inputs.datasets.files.cell_patterns import LEAST_GROUPS, fits, number_of
from judge.inputs.datasets.files.column_evidence import REPEATS
from judge.inputs.datasets.files.column_names import NamedColumn, Side, bare, is_criterion, is_given_name
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.column_words import NAMES
from judge.inputs.datasets.files.reading import Reading
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells

# Share of the smaller table's names that the other has at the least.
_LEAST_COMMON = 0.5


def joined_ids(people: TableCells, judged: TableCells) -> Mapping[Side, str]:
    """The columns of stories' names in people's table and in the judge's, by side. Empty where the readings of both
    tables name columns that match as well as any, and where none match: at least five values, and half of the smaller
    table's. People's ids tell their rows, with rater and criterion."""
    readings = read_columns(people), read_columns(judged)
    names = [_names(reading) for reading in readings]
    names[0] = {column: values for column, values in names[0].items() if _tells_rows(column, readings[0])}
    common = {(a, b): len(mine & its) for a, mine in names[0].items() for b, its in names[1].items()}
    best = max(common, key=lambda pair: (common[pair], pair[0] == pair[1]), default=None)
    if best is None or common[best] < LEAST_GROUPS:
        return {}
    if common[best] < _LEAST_COMMON * min(len(names[0][best[0]]), len(names[1][best[1]])):
        return {}
    guessed = (readings[0].column("id"), readings[1].column("id"))
    if guessed[0] is not None and guessed[1] is not None and common.get((guessed[0], guessed[1]), 0) >= common[best]:
        return {}
    return {"human": best[0], "judge": best[1]}


def _tells_rows(column: str, reading: Reading) -> bool:
    """Whether a row is known by this column with its rater and criterion."""
    table = reading.table
    others = [name for role in ("rater", "criterion") if (name := reading.column(role)) is not None]
    cells = [[*map(str, table.values(name))] for name in (column, *others)]
    return len({*zip(*cells, strict=True)}) == len(table.rows)


def _names(reading: Reading) -> dict[str, set[str]]:
    """The values of each column that may name stories: short, whole and of no other known meaning."""
    table = reading.table
    known = ("text", "criterion", "rater", "system", "explanation", "label", "verdict")
    names: dict[str, set[str]] = {}
    for column in table.columns:
        values = [value for value in table.values(column) if not is_missing(value, ())]
        parted = any((number := number_of(value)) is not None and not number.is_integer() for value in values)
        if reading.columns[column].role not in known and fits("id", values) and not parted:
            names[column] = {*map(str, values)}
    return names


def are_persons(
    columns: Sequence[NamedColumn], stated: Sequence[str], beside: Collection[str], reading: Reading
) -> bool:
    """Whether people's columns are named for persons: by given names, by words with a capital beside columns without
    (and on one scale), or by the user without a criterion; none for a criterion, beside a judge's ratings of one
    criterion that is none of theirs."""
    criteria = [str(column.criterion).casefold() for column in columns]
    if len(beside) != 1 or not columns[1:] or len({*criteria}) < len(criteria) or {*criteria} & {*beside}:
        return False
    if stated:
        return {*stated} == {column.column for column in columns}
    if any(is_criterion(name) for name in criteria):
        return False
    others = {*reading.table.columns} - {column.column for column in columns}
    capitals = all(c.column.istitle() for c in columns) and any(name.islower() for name in others)
    return any(is_given_name(c.column) for c in columns) or (capitals and _on_one_scale(columns, reading.table))


def _on_one_scale(columns: Sequence[NamedColumn], table: TableCells) -> bool:
    """Whether columns have the same lowest and highest rating."""
    names = [column.column for column in columns]
    missing = table.words_for_nothing(names)
    given = [[number for number in table.numbers(name, missing) or () if number is not None] for name in names]
    return all(given) and len({(min(numbers), max(numbers)) for numbers in given}) == 1


def repeat_column(table: TableCells, fields: Mapping[str, str]) -> str | None:
    """A column that numbers a judge's answers to one question, where without it several rows are alike."""
    keys = [column for name in ("story", "criterion", "judge") if (column := fields.get(name)) is not None]
    cells = [[*map(str, table.values(key))] for key in keys]
    alone = {*zip(*cells, strict=True)}
    for column in table.columns:
        if bare(column) in REPEATS and column not in fields.values() and len(alone) < len(table.rows):
            values = table.values(column)
            whole = all(str(value).isdigit() for value in values)
            if whole and len({*zip(*cells, map(str, values), strict=True)}) == len(table.rows):
                return column
    return None


def answered(table: TableCells, column: str, story: str) -> bool:
    """Whether a column such as `model` names who answered: one name throughout, or several about one story."""
    pairs = {(str(a), str(b)) for a, b in zip(table.values(story), table.values(column), strict=True)}
    return len({name for _, name in pairs}) == 1 or len({its for its, _ in pairs}) < len(pairs)


def by_file(column: RatingColumn, table: TableCells) -> RatingColumn:
    """A judge's column whose name says only that it holds ratings is the judge's that the file is named for."""
    return replace(column, who=table.name) if bare(column.who) in NAMES["rating"] else column
