"""Readers for JSON as evaluation tools write it: lines one at a time, whole files under a limit.

Unlike files of studies, logs may hold NaN, which tools write for "no score".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from judge.datasets.files.source_file import decode, read_bytes
from judge.errors import DataError
from judge.half_pairs import json_value, whole_escapes

LARGEST = 1 << 30
"""Bytes of a file that is read whole."""


def lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, object) of each line, one in memory at a time; blank lines hold nothing."""
    try:
        stream = file.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    with stream:
        for number, raw in enumerate(stream, start=1):
            if raw.strip():
                yield number, as_object(parse(raw, file, number), file, number)


def whole(file: Path) -> Any:
    """A file that is one JSON value."""
    try:
        size = file.stat().st_size
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    if size > LARGEST:
        raise DataError(f"is longer than {LARGEST >> 20:,} MiB and not in lines: it is not read whole", file=file)
    return parse(read_bytes(file), file, 1)


def starts_lines(file: Path) -> bool:
    """Whether the file is JSON Lines: its first line is a complete object and more lines follow, or its name says
    so.
    """
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    try:
        with file.open("rb") as stream:
            first = stream.readline(1 << 20).strip()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    return len(first) > 2 and first.startswith(b"{") and first.endswith(b"}") and file.suffix.lower() != ".json"


def parse(raw: bytes, file: Path, row: int) -> Any:
    """A JSON value; NaN and infinities, which orjson refuses, as Python reads them."""
    try:
        return json_value(raw)
    except orjson.JSONDecodeError:
        pass
    text = decode(raw, file, row)
    try:
        return json.loads(whole_escapes(text))
    except json.JSONDecodeError as error:
        line = row + error.lineno - 1
        raise DataError(f"is not JSON: {error.msg} (column {error.colno})", file=file, row=line) from error
    except RecursionError as error:
        raise DataError("is nested too deeply to be a log", file=file) from error


def as_object(value: Any, file: Path, number: int | str) -> dict[str, Any]:
    """The value, if it is an object; DataError otherwise."""
    if not isinstance(value, dict):
        raise DataError("not an object", file=file, row=number, found=value)
    return value


def as_list(value: Any, key: str, file: Path) -> list[Any]:
    """The value, if it is a list; DataError otherwise."""
    if not isinstance(value, list):
        raise DataError(f"has no list of {key}", file=file)
    return value
