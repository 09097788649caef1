"""Reads files of other people and programs, the one place where their content is not believed: `json_of` parses JSON,
`reading` is around the code that walks through it. Both raise `DataError`, so that a wrong type, a number of 5,000
digits, a nesting thousands deep or a year after 9999 ends in a sentence, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from judge.base.errors import DataError, JudgeError
from judge.base.late_pattern import late

if TYPE_CHECKING:
    from pydantic import ValidationError

# Escaped backslashes and whole pairs, which stay as they are (group 1), or else one half.
_ESCAPE = late(r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each lone surrogate; two that form a pair become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_escapes(json_text: str) -> str:
    r"""JSON text with `\ufffd` for each lone surrogate's escape; positions stay."""
    if "\\u" not in json_text:
        return json_text
    return _ESCAPE.sub(lambda match: match[1] or "\\ufffd", json_text)


def json_value(raw: bytes) -> Any:
    """Value of a JSON text in UTF-8, with lone surrogates repaired; NaN and infinities, which some servers write,
    become floats. Raises `orjson.JSONDecodeError`."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        try:
            # Stricter readers refuse a whole answer for one number that nobody needs.
            return json.loads(whole_escapes(raw.decode()))
        except (ValueError, RecursionError):
            raise error from None


_HINT = "write the file again with the program that made it, or ask for it again where you got it"
_DEEP = "is nested too deeply"
_LONG = "holds a number with more digits than can be read"


def json_of(
    text: str,
    file: object,
    *,
    row: int | None = None,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
    constant: Callable[[str], Any] | None = None,
    halves: bool = False,
    hint: str | None = None,
) -> Any:
    """Value of a JSON text, or of line `row`. NaN and infinities become floats; halves of surrogate pairs are replaced
    unless `halves`. `pairs` and `constant` go to `json.loads`. Raises DataError for other text, too deep nesting or too
    long a number."""
    try:
        return json.loads(text if halves else whole_escapes(text), object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        line = (row or 1) + error.lineno - 1
        raise DataError(f"is not JSON: {error.msg} (column {error.colno})", file=file, row=line, hint=hint) from error
    except RecursionError as error:
        raise DataError(f"{_DEEP} to be read", file=file, row=row, hint=hint) from error
    except ValueError as error:
        raise DataError(_LONG, file=file, row=row, hint=hint) from error


@contextmanager
def opening(file: object, hint: str | None = None) -> Iterator[None]:
    """Context manager for code that opens and reads a file: DataError where the system refuses it."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file, hint=hint) from error


def json_file(path: Path, *, what: str, hint: str | None = None) -> dict[str, Any]:
    """The object in a JSON file in UTF-8. Raises DataError where it cannot be read or is no `what`."""
    try:
        with opening(path, hint):
            text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is no {what}: it is not UTF-8", file=path, found=f"byte {error.start}", hint=hint) from error
    value = json_of(text, path, hint=hint)
    if not isinstance(value, dict):
        raise DataError(f"is no {what}: it holds no JSON object", file=path, found=value, hint=hint)
    return value


@contextmanager
def reading(file: object, what: str) -> Iterator[None]:
    """Context manager for code that walks through a file's content: a value of a wrong type, missing or too large
    raises DataError, which says that the file is not `what`."""
    try:
        yield
    except JudgeError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        sentence = f"is not {what} as this program reads it: {_words(problem)}"
        raise DataError(sentence, file=file, hint=_HINT) from problem


def invalid(error: ValidationError) -> str:
    """The first mistake that pydantic found, as the end of a sentence: `has no 'name'`."""
    mistake = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in mistake["loc"])[:100]
    if mistake["type"] == "missing":
        return f"has no {field!r}"
    found = " ".join(repr(mistake["input"])[:60].split()) if not isinstance(mistake["input"], dict | list) else ""
    words = mistake["msg"][:1].lower() + mistake["msg"][1:]
    return f"has a wrong {field!r}: {words}" + (f"; found {found}" if found else "")


def _words(problem: Exception) -> str:
    if isinstance(problem, RecursionError | orjson.JSONEncodeError):
        return f"it {_DEEP}, or holds what no file can hold"
    if isinstance(problem, KeyError):
        return f"{str(problem.args[0])[:60]!r} is missing or unknown"
    if isinstance(problem, IndexError):
        return "a list is shorter than it must be"
    if isinstance(problem, UnicodeError):
        return "a text is not UTF-8"
    if isinstance(problem, AttributeError | TypeError):
        return f"a value has another type than it must have ({_short(problem)})"
    return f"a value cannot be used ({_short(problem)})"


def _short(problem: Exception) -> str:
    return " ".join(str(problem).split())[:160]
