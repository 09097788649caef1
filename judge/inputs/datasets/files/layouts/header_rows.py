"""Names of columns from a header of several rows, such as raters' names above blocks of criteria side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError

# Rows that a header has at most, and rows of which the first are looked at.
MOST_ROWS, LOOKED_AT = 3, 500
# Names of columns in the header below a title.
_LEAST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Header:
    """A header of `rows` rows: the name of each column, None for one that is left out; `same`: columns that repeat an
    earlier one's cells in every row, as blocks side by side repeat the stories' names."""

    names: tuple[str | None, ...]
    rows: int
    same: Mapping[int, int]

    def cells(self, values: Sequence[Any], path: Path, row: int) -> dict[str, Any]:
        """Cells of a row by column. Raises DataError where blocks side by side are about different stories."""
        for later, first in self.same.items():
            given, named = (values[at] if at < len(values) else None for at in (later, first))
            if given != named:
                hint = "write the blocks below each other, with a column that names the block"
                message = f"blocks side by side name different stories: {named!r} and"
                raise DataError(message, file=path, row=row, column=self.names[first], found=given, hint=hint)
        return {
            name: values[at] if at < len(values) else None for at, name in enumerate(self.names) if name is not None
        }


def titles_above(rows: Sequence[Sequence[Any]]) -> int:
    """Number of rows with one cell, such as a title, above the first row of several names."""
    filled = [sum(bool(_word(value)) for value in row) for row in rows[: 2 * MOST_ROWS]]
    alone = next((at for at, count in enumerate(filled) if count > 1), 0)
    return alone if 0 < alone <= MOST_ROWS and max(filled[alone : alone + 2]) >= _LEAST_NAMES else 0


def header_of(rows: Sequence[Sequence[Any]]) -> Header | None:
    """The header of a table whose first row alone is none, because names are empty or occur twice: each column's name
    is made of the rows above it, where an empty cell takes that on its left; rows of one cell above it are a title.
    None where this gives no names either."""
    if titles := titles_above(rows):
        names = [_word(value) for value in rows[titles]]
        names = names[: max(at for at, name in enumerate(names, 1) if name)]
        if all(names) and len({*names}) == len(names):
            return Header(tuple(names), titles + 1, {})
        below = header_of(rows[titles:])
        return None if below is None else replace(below, rows=below.rows + titles)
    for count in range(2, min(MOST_ROWS, len(rows) - 1) + 1):
        header = _joined(rows[:count], rows[count : count + LOOKED_AT])
        if header is not None:
            return header
    return None


def _joined(head: Sequence[Sequence[Any]], below: Sequence[Sequence[Any]]) -> Header | None:
    width = max(map(len, (*head, *below)))
    words = [[_word(row[at]) if at < len(row) else "" for at in range(width)] for row in head]
    if any(_number(word) for word in words[-1] if word):
        return None
    blank = [not any(row[at] for row in words) for at in range(width)]
    empty = [not any(at < len(row) and _word(row[at]) for row in below) for at in range(width)]
    if any(nameless and not bare for nameless, bare in zip(blank, empty, strict=True)):
        return None
    filled = [*(_filled(row, blank) for row in words[:-1]), words[-1]]
    filled = [row for row in filled if len({word for word, gap in zip(row, blank, strict=True) if not gap}) > 1]
    names = [" ".join(filter(None, (row[at] for row in filled))) for at in range(width)]
    same: dict[int, int] = {}
    first: dict[str, int] = {}
    for at, word in enumerate(words[-1]):
        if not word or blank[at]:
            continue
        earlier = first.setdefault(word, at)
        if earlier != at and _equal(below, earlier, at):
            same[at] = earlier
    kept: list[str | None] = [
        None if gap or at in same else name for at, (gap, name) in enumerate(zip(blank, names, strict=True))
    ]
    for at in {*same.values()}:
        kept[at] = words[-1][at]
    given = [name for name in kept if name is not None]
    if len({*given}) < len(given) or not all(given):
        return None
    return Header(tuple(kept), len(head), same)


def _equal(rows: Sequence[Sequence[Any]], first: int, second: int) -> bool:
    """Whether two columns have the same names in all rows; numbers may be equal by chance, and are no names."""
    cells = [(row[first], row[second]) for row in rows if len(row) > max(first, second)]
    words = [a for a, _ in cells if _word(a) and not _number(_word(a))]
    return bool(words) and all(a == b for a, b in cells)


def _filled(row: Sequence[str], blank: Sequence[bool]) -> list[str]:
    filled, last = [], ""
    for word, gap in zip(row, blank, strict=True):
        last = "" if gap else word or last
        filled.append(last)
    return filled


def _word(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())


def _number(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return True
