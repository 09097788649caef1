"""Reads the ratings in one cell: a number, a list of numbers, or numbers by rater.

A list is in JSON (`[4, 5, 3]`) or Python notation, or consists of numbers between semicolons, bars or commas (`4;5;3`).
An object (`{"ann": 4, "bob": 5}`) names its raters. In a file whose separator is the semicolon, `4,5` is 4.5, as
spreadsheets of many countries write it, and commas do not separate a list. In other files `4,5` is ambiguous and raises
an error.

If the criterion has labels, each rating is a label's word or code. A cell whose whole text is a label is read as this
label, even if it contains separators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.inputs.datasets.files.label_cell import label_value, word_code
from judge.inputs.datasets.files.source_file import rating_value

_LIST = re.compile(r"[;|]")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_COMMA_LIST = re.compile(rf"\s*{_NUMBER}(?:\s*,\s*{_NUMBER}){{2,}}\s*")
_BLANK_LIST = re.compile(rf"\[\s*{_NUMBER}\.?(?:\s+{_NUMBER}\.?)*\s*\]")  # numpy's arrays, written as text
_ONE_COMMA = re.compile(r"\s*[+-]?\d+\s*,\s*\d+\s*")
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "-", "--", ".", "?", "missing", "#n/a"})
"""Words that files write for a missing rating; read so only where the column map says it."""


@dataclass(frozen=True, slots=True)
class RatingPlace:
    """Position of a cell for error messages, with the table's notation for numbers and missing ratings.

    `scale` is the scale of a criterion with labels, else None. With `only_codes` a number must be a label's code.
    """

    path: Path
    row: int
    column: str
    missing: tuple[str, ...] = ()
    decimal_comma: bool = False
    scale: Scale | None = None
    only_codes: bool = True


def ratings_in(value: Any, cell: RatingPlace) -> list[tuple[str | None, float | None]]:
    """Ratings in one cell as pairs (rater or None, rating), in the cell's order. A missing rating is None. Raises
    DataError for a value that is not a rating.
    """
    if cell.scale is not None and not is_missing(value, cell.missing):
        whole = word_code(value, cell.scale)
        if whole is not None:
            return [(None, whole)]
    if isinstance(value, str):
        value = _parsed(value, cell)
    if isinstance(value, Mapping):
        return [(str(rater), _number(part, cell)) for rater, part in value.items()]
    if isinstance(value, list | tuple):
        return [(None, _number(part, cell)) for part in value]
    return [(None, _number(value, cell))]


def is_missing(value: Any, missing: tuple[str, ...]) -> bool:
    """Whether a cell is blank, null, or one of the words that the column map lists as `missing`."""
    return value is None or (isinstance(value, str) and (not value.strip() or value.strip() in missing))


def _parsed(text: str, cell: RatingPlace) -> Any:
    bare = text.strip()
    if bare[:1] in ("[", "{", "("):
        for read in (orjson.loads, ast.literal_eval):
            try:
                return read(bare)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue  # the last two: nested too deeply for Python's parser
        return bare[1:-1].split() if _BLANK_LIST.fullmatch(bare) else text
    if _LIST.search(bare):
        return _LIST.split(bare)
    if cell.decimal_comma:
        return bare.replace(",", ".") if _ONE_COMMA.fullmatch(bare) else text
    if cell.scale is not None and all(word_code(part, cell.scale) is not None for part in bare.split(",")):
        return bare.split(",")
    return bare.split(",") if _COMMA_LIST.fullmatch(bare) else text


def _number(value: Any, cell: RatingPlace) -> float | None:
    if is_missing(value, cell.missing):
        return None
    if isinstance(value, str) and cell.decimal_comma and _ONE_COMMA.fullmatch(value):
        value = value.replace(",", ".")
    if cell.scale is not None:
        return label_value(value, cell.scale, cell.path, cell.row, cell.column, only_codes=cell.only_codes)
    try:
        return rating_value(value, None, cell.path, cell.row, cell.column)
    except DataError as error:
        error.hint = _hint(value)
        raise


def _hint(value: Any) -> str | None:
    if isinstance(value, str) and _ONE_COMMA.fullmatch(value):
        return "a number is written 4.5, two ratings 4;5 or [4, 5]"
    if isinstance(value, str) and value.strip().lower() in MISSING_WORDS:
        word = value.strip()
        sentence = "where it means that no rating was given: {columns!r} (in run.yaml: missing: [{!r}])"
        return Advice(sentence, word, columns={"missing": f"={word}"})
    if isinstance(value, str) and value.strip().isalpha() and "inf" not in value.lower():
        return Advice("where the ratings are labels, say which: {columns}", columns={"labels": "=No,Yes"})
    if isinstance(value, Mapping | list):
        dotted = {"ratings.CRITERION": "COLUMN.KEY"}
        return Advice("name the key that holds the rating with dots: {columns}", columns=dotted)
    return None
