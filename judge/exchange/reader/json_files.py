"""Readers for the JSON files of evaluation tools: JSON Lines line by line, other files whole up to a size limit.

Unlike the files of studies, logs may contain NaN, which tools write for "no score".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.base.foreign import json_of
from judge.base.half_pairs import json_value
from judge.inputs.datasets.files.source_file import decode, read_bytes

LARGEST = 1 << 30
"""Bytes of a file that is read whole."""


def lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for each line of a JSON Lines file that is not blank; only one line is in memory at a
    time.
    """
    try:
        stream = file.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    with stream:
        for number, raw in enumerate(stream, start=1):
            if raw.strip():
                yield number, as_object(parse(raw, file, number), file, number)


def whole(file: Path) -> Any:
    """Value of a file that is a single JSON value; DataError where the file is larger than the limit."""
    try:
        size = file.stat().st_size
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    if size > LARGEST:
        raise DataError(f"is longer than {LARGEST >> 20:,} MiB and not in lines: it is not read whole", file=file)
    return parse(read_bytes(file), file, 1)


def starts_lines(file: Path) -> bool:
    """Whether the file is JSON Lines: by its suffix (.jsonl, .ndjson) or, unless the suffix is .json, because its first
    line looks like a complete object.
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
    """Value of a JSON text. NaN and infinities, which orjson refuses, are parsed with Python's `json`."""
    try:
        return json_value(raw)
    except orjson.JSONDecodeError:
        pass
    return json_of(decode(raw, file, row), file, row=row)


def as_object(value: Any, file: Path, number: int | str) -> dict[str, Any]:
    """The value, if it is a JSON object; DataError otherwise. `number` is its line or position in the file, for the
    message.
    """
    if not isinstance(value, dict):
        raise DataError("not an object", file=file, row=number, found=value)
    return value


def as_list(value: Any, key: str, file: Path) -> list[Any]:
    """The value, if it is a JSON list; DataError otherwise. `key` names the value in the message."""
    if not isinstance(value, list):
        raise DataError(f"has no list of {key}", file=file)
    return value
