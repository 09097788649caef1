"""Strict readers of text, JSON, CSV and JSON Lines. Errors name the row, counted as in an editor: a CSV file's header
and a JSON Lines file's first line are row 1."""

from __future__ import annotations

import ast
import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, TextIO

import orjson

from judge.base.errors import DataError
from judge.base.foreign import json_of, opening
from judge.base.late_pattern import late
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.inputs.datasets.files.encoding import UTF8, encoding_of

_LONGEST_CELL = 1 << 27
_BARE_NUMBER = late(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
_UTF8_HINT = "save the file as UTF-8 (iconv -f ENCODING -t UTF-8); nothing is guessed or replaced"


def read_bytes(path: Path) -> bytes:
    """All bytes of a file. Raises DataError if the file cannot be read."""
    with opening(path):
        return path.read_bytes()


def decode(raw: bytes, path: Path, row: int) -> str:
    """Text of UTF-8 bytes that begin at `row` of a file, without a byte-order mark at its start."""
    if row == 1 and raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        row += raw.count(b"\n", 0, error.start)
        byte = raw[error.start : error.start + 1]
        raise DataError("is not valid UTF-8", file=path, row=row, found=byte, hint=_UTF8_HINT) from error


def read_json(path: Path) -> Any:
    """A JSON file's value. Raises DataError also for what Python's parser accepts: NaN, infinities and duplicate
    keys."""
    own = encoding_of(path)
    text = decode(read_bytes(path), path, 1) if own == UTF8 else path.read_text(own)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) != len(items):
            keys = [k for k, _ in items]
            twice = next(k for k in keys if keys.count(k) > 1)
            raise DataError(f"key {twice!r} occurs twice in one object", file=path)
        return value

    def bare(word: str) -> NoReturn:
        at = next((m.start(1) for m in _BARE_NUMBER.finditer(text) if m.group(1)), 0)
        raise DataError("not a JSON number", file=path, row=text.count("\n", 0, at) + 1, found=word)

    return json_of(text, path, pairs=pairs, constant=bare, halves=True)


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(row number, value) for each line, with one in memory at a time; blank lines are skipped."""
    own = encoding_of(path)
    if own != UTF8:
        with opening(path), path.open(encoding=own, newline="\n") as lines:
            for row, line in enumerate(lines, start=1):
                if line.strip():
                    yield row, json_line(line, path, row)
        return
    with opening(path), path.open("rb") as stream:
        for row, raw in enumerate(stream, start=1):
            if raw.strip():
                yield row, json_line(decode(raw, path, row), path, row)


def json_line(text: str, path: Path, row: int) -> Any:
    """Value of one line of JSON. Raises DataError, naming the row, if the line is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        bare = next((m.group(1) for m in _BARE_NUMBER.finditer(text) if m.group(1)), None)
        if bare:
            raise DataError("not a JSON number", file=path, row=row, found=bare) from error
        message = f"is not JSON: {error.msg.split(':')[0]} (column {error.colno})"
        raise DataError(message, file=path, row=row) from error


@contextmanager
def text_of(path: Path) -> Iterator[TextIO]:
    """The file opened as text in its own encoding. Of invalid UTF-8, a byte 0xNN becomes U+DCNN. Raises DataError if it
    cannot be opened."""
    own = encoding_of(path)
    with opening(path), path.open(encoding=own, errors="surrogateescape", newline="") as stream:
        yield stream


def csv_rows(path: Path, required: Sequence[str] = (), *, separator: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
    """(row number, cells by column), with one row in memory at a time. A first line `sep=;`, which Excel understands,
    is skipped. Raises DataError for missing or duplicate columns, rows of another length, invalid quotation marks and
    an encoding that is not known."""
    # The standard limit of 131,072 characters is shorter than some stories and than the score file's lists.
    csv.field_size_limit(_LONGEST_CELL)
    with text_of(path) as stream:
        reader = csv.reader(stream, strict=True, delimiter=separator)
        header: list[str] = []
        row = 0
        try:
            for row, cells in enumerate(reader, start=1):
                if not cells or (row == 1 and separator.join(cells) == f"sep={separator}"):
                    continue
                if not header:
                    _check_utf8(cells, cells, path, row)
                    header = _header([name.strip() for name in cells], required, path)
                else:
                    if len(cells) != len(header):
                        raise DataError(
                            f"has {len(cells)} cells where the header has {len(header)}",
                            file=path,
                            row=row,
                            hint=f'a cell that holds the separator {separator!r} or a line break must be in "quotes"',
                        )
                    _check_utf8(cells, header, path, row)
                    yield row, dict(zip(header, cells, strict=True))
        except csv.Error as error:
            hint = 'a cell that begins with " ends with it too, and writes each " within it twice'
            raise DataError(f"is not CSV: {error}", file=path, row=row + 1, hint=hint) from error
        if not header:
            raise DataError("the file is empty: not even a header", file=path)


def _header(cells: list[str], required: Sequence[str], path: Path) -> list[str]:
    twice = sorted({c for c in cells if cells.count(c) > 1})
    if twice:
        message = "the header names a column twice" if twice[0] else "the header has columns without a name"
        merged = "" if twice[0] else "; of cells that are merged across columns only the first has the name"
        raise DataError(message, file=path, row=1, column=twice[0], hint=f"give each column a name of its own{merged}")
    missing = [c for c in required if c not in cells]
    if missing:
        raise DataError(
            f"column{'s' if len(missing) > 1 else ''} {', '.join(map(repr, missing))} missing",
            file=path,
            row=1,
            found=cells,
            hint="the columns are named as the study released them; other tables are read through a column map",
        )
    return cells


def _check_utf8(cells: list[str], header: list[str], path: Path, row: int) -> None:
    for index, cell in enumerate(cells):
        if cell.isascii():
            continue
        try:
            cell.encode("utf-8")
        except UnicodeEncodeError as error:
            # surrogateescape carries byte 0xNN as U+DCNN, so that the cell at fault can be named.
            byte = bytes([ord(cell[error.start]) & 0xFF])
            column = header[index] if header is not cells else None
            raise DataError(
                "is not valid UTF-8", file=path, row=row, column=column, found=byte, hint=_UTF8_HINT
            ) from error


def text_value(value: object, path: Path, row: int | str, column: str) -> str:
    """The value, a text that is not blank and can be encoded as UTF-8. Raises DataError otherwise."""
    if not isinstance(value, str):
        raise DataError("not a text", file=path, row=row, column=column, found=value)
    if not value.strip():
        raise DataError("the text is empty", file=path, row=row, column=column, found=value)
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            surrogate = value[error.start]
            raise DataError(
                "half a surrogate pair, which is no character", file=path, row=row, column=column, found=surrogate
            ) from error
    return value


def rating_value(
    value: object, scale: Scale | None, path: Path, row: int | str, column: str, *, step: bool = True
) -> float:
    """A rating as a finite number, also from a string. Raises DataError off `scale` or, with `step`, off its points."""
    number: float | None = None
    if isinstance(value, str):
        try:
            number = None if "_" in value else float(value)  # Python reads 4_5 as 45
        except ValueError:
            number = None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if number is None or not math.isfinite(number):
        raise DataError(
            "not a rating", file=path, row=row or None, column=column, found=value, allowed=_allowed(scale, step)
        )
    if scale is not None and (number not in scale or (step and not scale.on_step(number))):
        raise DataError(
            "rating off the scale", file=path, row=row, column=column, found=value, allowed=_allowed(scale, step)
        )
    return number


def _allowed(scale: Scale | None, step: bool) -> str:
    if scale is None:
        return "a finite number"
    if step:
        return ", ".join(f"{p:g}" for p in scale.points())
    return f"{scale.min:g} to {scale.max:g}"


def check_count(unit: str, count: int, promised: int, path: Path) -> None:
    """Raise DataError if a file does not have as many records (`unit`, such as stories) as its release promises."""
    if count != promised:
        raise DataError(f"{count} {unit} where the released file has {promised}", file=path)


# Reads the ratings in one cell: a number, a list of numbers, or numbers by rater.

# Reads a cell that may hold a label: its word (letter case is ignored) or its code.


def label_value(value: Any, scale: Scale, path: Path, row: int | str, column: str, *, only_codes: bool = True) -> float:
    """The code of a cell with a label's word or code; without `only_codes` any finite number (a mean of repeats).
    Raises DataError, naming the labels."""
    code = word_code(value, scale)
    if code is not None:
        return code
    try:
        return rating_value(value, scale if only_codes else None, path, row, column)
    except DataError as error:
        words = ", ".join(scale.labels)
        codes = f"0 to {scale.max:g}"
        message, allowed = "no label of this criterion", f"{words} (or their codes, {codes})"
        raise DataError(message, file=path, row=row or None, column=column, found=value, allowed=allowed) from error


def word_code(value: Any, scale: Scale) -> float | None:
    """The code of a cell whose whole text is a label. True and False in typed tables are words."""
    code = scale.code_of(str(value)) if isinstance(value, str | bool) else None
    return None if code is None else float(code)


_LIST = late(r"[;|]")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_COMMA_LIST = late(rf"\s*{_NUMBER}(?:\s*,\s*{_NUMBER}){{2,}}\s*")
_BLANK_LIST = late(rf"\[\s*{_NUMBER}\.?(?:\s+{_NUMBER}\.?)*\s*\]")  # numpy's arrays, written as text
_COMMA = late(r"(\d),(\d)")
_ONE_COMMA = late(r"\s*[+-]?\d+\s*,\s*\d+\s*")
OUT_OF = "out of "
# A number with what people write behind it: 85 %, 4/5, 4 - good, 4 (good), 4 = good, and stars, filled and empty.
_PERCENT = late(rf"({_NUMBER}) ?%")
_OUT_OF = late(rf"({_NUMBER}) ?(?:/|out of|von|sur|de) ?({_NUMBER})")
_WORDED = late(rf"({_NUMBER}) ?(?:[-–:=)] ?|\()([^\W\d].*)")
_STARS = late(r"([★⭐*]+)️?[☆✩]*")
# Words that files write for a missing rating; read so only where the column map says it.
MISSING_WORDS = frozenset(
    {
        *(
            "na",
            "n/a",
            "nan",
            "null",
            "none",
            "-",
            "--",
            "–",
            "—",
            ".",
            "..",
            "?",
            "missing",
            "#n/a",
            "#value!",
            "#ref!",
        ),
        *(
            "<na>",
            "nd",
            "n.d.",
            "n.a.",
            "na.",
            "k.a.",
            "k. a.",
            "keine angabe",
            "fehlt",
            "manquant",
            "无",
            "нет данных",
        ),
        *("missing value", "not available", "not rated", "unrated", "no answer", "skipped", "empty", "none given"),
        *("no response", "keine antwort", "sans réponse", "sin respuesta"),
    }
)


@dataclass(frozen=True, slots=True)
class RatingPlace:
    """A rating's cell, for messages, and the table's notation. `scale` is that of a criterion with labels;
    `only_codes`: a number must be a label's code; `out_of`: the second number where ratings are written 4/5."""

    path: Path
    row: int
    column: str
    missing: tuple[str, ...] = ()
    decimal_comma: bool = False
    scale: Scale | None = None
    only_codes: bool = True
    out_of: str | None = None


def ratings_in(value: Any, cell: RatingPlace) -> list[tuple[str | None, float | None]]:
    """(rater or None, rating) in one cell, in order; a missing rating is None. Raises DataError for no rating."""
    if cell.scale is not None and not is_missing(value, missing_in(cell.column, cell.missing)):
        whole = word_code(value, cell.scale)
        if whole is not None:
            return [(None, whole)]
    if isinstance(value, str):
        value = _parsed(value, cell)
    if isinstance(value, Mapping):
        return [(str(rater), _number(part, cell)) for rater, part in value.items()]
    if isinstance(value, list | tuple):
        return [(None, _number(_rated_part(part), cell)) for part in value]
    return [(None, _number(value, cell))]


def _rated_part(part: Any) -> Any:
    """The number of a part such as `{"rating": 4}`, as tools for annotation write it."""
    if isinstance(part, Mapping) and len(part) == 1:
        return next((part[key] for key in ("rating", "number") if key in part), part)
    return part


@lru_cache(maxsize=256)
def missing_in(column: str, missing: tuple[str, ...]) -> tuple[str, ...]:
    """The words for a missing rating in one column: all that are said, and those said of it alone as `COLUMN=WORD`."""
    return (*missing, *(word.removeprefix(f"{column}=") for word in missing if word.startswith(f"{column}=")))


def is_missing(value: Any, missing: tuple[str, ...]) -> bool:
    """Whether a cell is blank, null, or one of the words that the column map lists as `missing`."""
    if isinstance(value, str):
        return not value.strip() or value.strip() in missing
    return value is None or (bool(missing) and isinstance(value, int | float) and f"{value:g}" in missing)


def notation(value: Any) -> tuple[str, str] | None:
    """How a number is written that has more than digits: its kind (a sign for percent, what it is out of, words) and
    the number; None for a plain number or no number."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    if match := _PERCENT.fullmatch(text):
        return "%", match[1]
    if match := _OUT_OF.fullmatch(text):
        return f"{OUT_OF}{match[2]}", match[1]
    if match := _WORDED.fullmatch(text):
        return "words", match[1]
    if match := _STARS.fullmatch(text):
        return "stars", str(len(match[1].replace("\ufe0f", "")))
    return None


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
        return text
    if cell.scale is not None and all(word_code(part, cell.scale) is not None for part in bare.split(",")):
        return bare.split(",")
    return bare.split(",") if _COMMA_LIST.fullmatch(bare) else text


def _number(value: Any, cell: RatingPlace) -> float | None:
    if is_missing(value, missing_in(cell.column, cell.missing)):
        return None
    if isinstance(value, str) and cell.decimal_comma and value.count(",") == 1:
        value = _COMMA.sub(r"\1.\2", value)
    if cell.scale is None and isinstance(value, str) and (written := notation(value)) is not None:
        value = written[1] if not written[0].startswith(OUT_OF) or written[0] == f"{OUT_OF}{cell.out_of}" else value
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
