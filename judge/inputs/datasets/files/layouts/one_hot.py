"""Columns `STEM.1` to `STEM.k` of true and false, one of them true in a row, as one column of ratings from 1 to k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from judge.base.late_pattern import late
from judge.base.wording import few

Rows = Iterator[tuple[int, dict[str, Any]]]

# Rows that tell the form of all, and choices at the least.
_LOOKED_AT, _LEAST_CHOICES = 20, 3
_CHOICE = late(r"^(.+?)[._ -](\d+)$")
_TRUE, _FALSE = "true", "false"


def choices_as_ratings(rows: Rows, told: list[str] | None = None) -> Rows:
    """The rows, with the choices of each question as one rating; `told` is given a sentence on it."""
    first = [*islice(rows, _LOOKED_AT)]
    records = [cells for _, cells in first]
    questions = _questions(records) if records and all(isinstance(cells, dict) for cells in records) else {}
    if questions and told is not None:
        told.append(f"{few([*questions], 4)}: the number of the choice that is true is read as the rating")
    for number, cells in chain(first, rows):
        yield number, _chosen(cells, questions) if questions else cells


def _questions(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Question -> column of a choice -> its number: from 1 on, with never more than one true, and some false."""
    found: dict[str, dict[str, int]] = {}
    for column in records[0]:
        if match := _CHOICE.match(column):
            found.setdefault(match[1], {})[column] = int(match[2])
    return {
        stem: columns
        for stem, columns in found.items()
        if len(columns) >= _LEAST_CHOICES
        and sorted(columns.values()) == [*range(1, len(columns) + 1)]
        and stem not in records[0]
        and all(_one_true([_word(cells.get(column)) for column in columns]) for cells in records)
        and any(_word(cells.get(column)) == _TRUE for cells in records for column in columns)
    }


def _one_true(words: Sequence[str]) -> bool:
    return {*words} <= {_TRUE, _FALSE, ""} and words.count(_TRUE) <= 1


def _word(value: Any) -> str:
    return str(value).strip().lower() if value is not None else ""


def _chosen(cells: Mapping[str, Any], questions: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    of = {column: stem for stem, columns in questions.items() for column in columns}
    row: dict[str, Any] = {}
    for column, value in cells.items():
        stem = of.get(column)
        if stem is None:
            row[column] = value
        elif stem not in row:
            true = [number for name, number in questions[stem].items() if _word(cells.get(name)) == _TRUE]
            row[stem] = true[0] if len(true) == 1 else None
    return row
