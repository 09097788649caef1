"""Logs of a judge's answers in words, each of which begins with its number, as rows with that number as the rating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from judge.base.late_pattern import late
from judge.inputs.datasets.files.column_names import bare, is_count, named_column
from judge.inputs.datasets.files.column_words import NAMES

Rows = Iterator[tuple[int, dict[str, Any]]]

# Names of columns that hold answers, that number them, and that say who answered. Completions have a parser of theirs.
_ANSWERS = frozenset(("answer", "rawanswer", "response", "rawresponse", "rawoutput", "output", "reply"))
_REPEATS = frozenset(("rep", "repeat", "run", "sample", "try", "trial", "seed", "iteration", "attempt"))
_WHO = frozenset(("model", "judge", "modelname", "judgemodel", "llm"))
# A number alone, or behind a word and a colon; no fraction, nor part of a word.
_NUMBERED = late(r"^\W*(?:[^\W\d][^\n:=]{0,30}[:=]\s*)?(\d+(?:\.\d+)?)(?![\w/%,.-]*[\w/%])")
# Rows that tell the form of all, of which such answers are this share at the least.
_LOOKED_AT, _LEAST, _SHARE = 20, 5, 0.8
RATING = "rating"


def answers_with_numbers(rows: Rows, told: list[str] | None = None) -> Rows:
    """The rows, those of such a log with the column `rating`; `told` is given a sentence on it."""
    first = [*islice(rows, _LOOKED_AT)]
    records = [cells for _, cells in first]
    column = _answers(records) if len(records) >= _LEAST and all(isinstance(each, dict) for each in records) else None
    if column is not None and told is not None:
        told.append(f"the number at the start of each cell of {column} is read as the rating, no other as none")
    for number, cells in chain(first, rows):
        yield number, cells | {RATING: _number(cells.get(column))} if column is not None else cells


def _answers(records: Sequence[Mapping[str, Any]]) -> str | None:
    """The column of answers of a log that says who answered in which repeat, with no numbers beside ids."""
    columns = [*records[0]]
    names = {bare(column) for column in columns}
    if not names & _WHO or not names & _REPEATS or names & {*NAMES["rating"][:5], "status"}:
        return None
    for column in columns:
        known = bare(column) in _REPEATS or is_count(column) or named_column("id", [column]) is not None
        if not known and all(isinstance(each.get(column), int | float) for each in records):
            return None
    for column in columns:
        if bare(column) in _ANSWERS and all(isinstance(each.get(column), str) for each in records):
            given = [_number(each[column]) for each in records]
            words = any(not str(each[column]).strip().isdigit() for each in records)
            if words and sum(number is not None for number in given) >= _SHARE * len(given):
                return column
    return None


def _number(value: Any) -> float | None:
    match = _NUMBERED.match(value.strip()) if isinstance(value, str) else None
    return float(match[1]) if match else None
