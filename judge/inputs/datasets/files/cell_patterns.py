"""What the cells of columns say alone: texts or names, numbers, and which column tells what others tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from judge.inputs.datasets.files.column_names import NamedColumn, bare, stem
from judge.inputs.datasets.files.column_words import fold
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells

# Characters of a story at the least.
_LONG = 40
# Groups of rows from which on it is no chance that each has one value.
LEAST_GROUPS = 5


def fits(name: str, values: Sequence[Any]) -> bool:
    """Whether cells may be values of the field `name`: story texts are long strings, and names are short."""
    given = [value for value in values if not is_missing(value, ())]
    if not given or any(isinstance(value, Mapping | list) for value in given):
        return False
    size = sum(len(str(value)) for value in given) / len(given)
    if name == "text":
        return all(isinstance(value, str) for value in given) and size >= _LONG
    if name in ("reference", "explanation"):
        return all(isinstance(value, str) and number_of(value) is None for value in given)
    return name == "story_prompt" or size < _LONG


def finest(columns: Sequence[str], values: Callable[[str], Sequence[Any]]) -> str | None:
    """The column of names that tells all that the others tell: each of its names stands beside one of every other's."""
    cells = {column: [str(value) for value in values(column)] for column in columns}
    for column, mine in cells.items():
        if all(len({*zip(mine, other, strict=True)}) == len({*mine}) for other in cells.values()):
            return column
    return None


def constant_within(table: TableCells, column: str, group: str) -> bool:
    """Whether a column has one value for each value of another, in several rows, and not the same everywhere."""
    groups: dict[str, set[str]] = {}
    for value, key in zip(table.values(column), table.values(group), strict=True):
        groups.setdefault(str(key), set()).add(str(value))
    several = len(groups) < len(table.rows) and len(groups) >= LEAST_GROUPS
    return several and all(len(values) == 1 for values in groups.values()) and len(set.union(*groups.values())) > 1


def numbered(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Those that differ from another only in a number at the end, and whose names name no person or judge."""
    groups: dict[tuple[str | None, str | None], int] = {}
    for column in columns:
        key = (stem(column.column), column.criterion)
        groups[key] = groups.get(key, 0) + 1
    return [c for c in columns if c.side is None and stem(c.column) and groups[stem(c.column), c.criterion] > 1]


def by_stem(columns: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for column in columns:
        if (its := stem(column)) is not None:
            groups.setdefault(its, []).append(column)
    return groups


def says(column: str, names: Sequence[str]) -> bool:
    return any(bare(column) == name or (len(name) > 3 and bare(column).endswith(name)) for name in names)


def as_spelled(word: str, spelled: Mapping[str, str]) -> str:
    # As the words that occur: small letters, or a capital first.
    return word.capitalize() if all(other[:1].isupper() for other in spelled.values()) else word


def spelled_alike(word: str) -> str:
    return fold(word.replace("_", " ").replace("-", " "))


def number_of(value: Any) -> float | None:
    try:
        return float(str(value).replace(",", ".")) if not isinstance(value, bool | list | Mapping) else None
    except ValueError:
        return None


def longest(columns: Sequence[str], values: Any) -> str | None:
    return max(columns, key=lambda column: sum(len(str(value)) for value in values(column)), default=None)
