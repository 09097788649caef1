"""Rows below a table that hold means or sums of its columns, and no story."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.late_pattern import late
from judge.inputs.datasets.files.column_words import MEANS, fold

TOTALS = frozenset(
    ("total", "totals", "sum", "summe", "somme", "suma", "totale", "std", "sd", "stdev", "min", "max", "合计", "итого")
)
# Rows at the end of which each may be one, and cells of words in it at the most, its name among them.
_LAST, _MOST_WORDS = 3, 1
# Bytes at the end of a file that are looked at, and what ends a line's first cell.
_END, _FIRST = 1 << 16, late(r'["\',;\t|]')

Rows = Iterator[tuple[int, dict[str, Any]]]


def without_totals(rows: Rows, told: list[str] | None = None) -> Rows:
    """The rows, without those at the end that are named as means or sums and hold numbers beside that name alone;
    `told` is given a sentence on each."""
    held: deque[tuple[int, dict[str, Any]]] = deque()
    for row in rows:
        held.append(row)
        if len(held) > _LAST:
            yield held.popleft()
    for number, cells in held:
        name = name_of_total(cells) if isinstance(cells, Mapping) else None
        if name is None:
            yield number, cells
        elif told is not None:
            told.append(f"row {number}, {name!r}, is left out: it holds means or sums, and no story's ratings")


def ends_in_totals(path: Path) -> bool:
    """Whether one of the last lines of a text file may be a row of means or sums, by how it begins."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _END))
        lines = stream.read().decode("utf-8", "replace").splitlines()[-_LAST:]
    return any(fold(_FIRST.split(line.lstrip('"'))[0]).rstrip(".: ") in MEANS | TOTALS for line in lines)


def name_of_total(cells: Mapping[str, Any]) -> str | None:
    """The name of a row of means or sums, None for another: its first filled cell, beside numbers alone."""
    filled = [value for value in cells.values() if value not in (None, "")]
    words = [value for value in filled if isinstance(value, str) and not _number(value)]
    if len(words) != _MOST_WORDS or len(filled) <= _MOST_WORDS or words[0] is not filled[0]:
        return None
    return words[0] if fold(words[0]).rstrip(".: ") in MEANS | TOTALS else None


def _number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
