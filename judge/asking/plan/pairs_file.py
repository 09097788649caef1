"""Reads a file of pairs to compare: JSON Lines with `first`, `second` and optionally `id`."""

from __future__ import annotations

from pathlib import Path

import orjson

from judge.base.errors import DataError
from judge.base.records import Pair

_ALLOWED = "an object with first and second, the ids of two stories, and perhaps id"


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a file, in its order. Raises DataError with file and row."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file, hint="pairs: {file: FILE}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"not valid JSON ({error})", file=file, row=number) from error
        if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in ("first", "second")):
            raise DataError(
                "not a pair", file=file, row=number, found=line[:60].decode("utf-8", "replace"), allowed=_ALLOWED
            )
        first, second = data["first"], data["second"]
        pairs.append(Pair(str(data.get("id", f"{first}|{second}")), "", first, second))
    return pairs
