"""Handling of several rows that hold a rating of the same thing: repeats if they are numbered, otherwise an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.wording import Advice
from judge.exchange.ratings.rows import FileRow
from judge.ratings.ratings_table import PANEL

_NAMED = 3
"""Pairs of rows named in a message."""


def _key(row: FileRow) -> tuple[Any, ...]:
    """Key of a judge's query: rows that are repeats of each other have the same key."""
    return tuple(row.cells[name] for name in ("run", "dataset", "judge", "eval_prompt", "story", "criterion"))


def number(rows: Sequence[FileRow], path: Path) -> None:
    """Number the repeats of each judge's query in place, in the file's order; DataError where the file already numbers
    them.
    """
    counts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row.cells["source"] != "judge":
            continue
        if row.cells["repeat"] is not None:
            hint = Advice("leave out {number_repeats}")
            raise DataError("the file numbers its repeats", file=path, row=row.number, hint=hint)
        row.cells["repeat"] = counts[_key(row)] = counts.get(_key(row), -1) + 1


def refuse_twice(rows: Sequence[FileRow], path: Path) -> None:
    """Raise DataError for duplicate ratings by a judge or a named rater; the message names the rows."""
    judged = [row for row in rows if row.cells["source"] == "judge"]
    pairs = _pairs(judged, lambda row: (*_key(row), row.cells["repeat"]))
    if pairs:
        row = pairs[0][1]
        asked = f"judge {row.cells['judge']!r}" + _prompt(row)
        if row.cells["repeat"] is None:
            numbered = Advice(
                "repeated answers are numbered in a column repeat, or by {number_repeats} in the file's order; of rows "
                "that say the same, delete all but one",
                number_repeats=True,
            )
            raise DataError(_repeated_sentence(pairs, asked, "", "judges' ratings"), file=path, hint=numbered)
        hint = "number the repeats of one story and criterion 0, 1, 2, ..., or delete all rows but one"
        raise DataError(
            _repeated_sentence(pairs, asked, f" in repeat {row.cells['repeat']}", "judges' ratings"),
            file=path,
            hint=hint,
        )
    named = [row for row in rows if row.cells["source"] == "rater" and row.cells["rater"] is not None]
    pairs = _pairs(
        named, lambda row: tuple(row.cells[name] for name in ("dataset", "rater", PANEL, "story", "criterion"))
    )
    if pairs:
        asked = f"rater {pairs[0][1].cells['rater']!r}"
        hint = "delete all rows but one; where the column does not name persons, leave it out"
        raise DataError(_repeated_sentence(pairs, asked, "", "people's ratings"), file=path, hint=hint)


def _pairs(rows: Sequence[FileRow], key: Callable[[FileRow], tuple[Any, ...]]) -> list[tuple[FileRow, FileRow]]:
    """(first row, later row) for every row with the same key as an earlier row. The first row is the first one with
    this key.
    """
    first: dict[tuple[Any, ...], FileRow] = {}
    return [(first[key(row)], row) for row in rows if first.setdefault(key(row), row) is not row]


def _prompt(row: FileRow) -> str:
    return f", Eval-Prompt {row.cells['eval_prompt']}" if row.cells["eval_prompt"] != "-" else ""


def _repeated_sentence(pairs: Sequence[tuple[FileRow, FileRow]], who: str, repeat: str, rows_name: str) -> str:
    first, second = pairs[0]
    story, criterion = second.cells["story"], second.cells["criterion"]
    sentence = f"rows {first.number} and {second.number}: {who} rates story {story!r} on {criterion} twice{repeat}"
    if len(pairs) > 1:
        more = ", ".join(f"{a.number} and {b.number}" for a, b in pairs[1:_NAMED])
        rest = ", ..." if len(pairs) > _NAMED else ""
        sentence += f"; {len(pairs)} of the {rows_name} occur twice, also in rows {more}{rest}"
    return sentence
