"""What is taken out of printed tables before they are kept or compared: volatile values, long texts, long tables.

Each rule is narrow and has a name; everything else must stay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LONG_TABLE = 50
"""Rows of a table that are kept; the others are kept as counts and means by column."""

TEXTS = frozenset({"text", "story_prompt", "explanation", "reference"})
"""Keys of rows that hold somebody's text."""

LONG_TEXT = 100
"""Characters of such a text above which its ends, and how much lies between, are kept."""

_ENDS = 40
_VERSION = re.compile(r"^v\d+\.\d+\.\d+\w*(?= )|\bv\d+\.\d+\.\d+\w*$")
"""The program's version, last in a signature, or first in that of made stories."""

_AUDIT = re.compile(r"^audit:[0-9a-f]{12}\b")
"""An audit's random name, first in a signature."""


def normal(printed: Any, *, folder: str, data: str | None) -> Any:
    """Printed JSON with volatile values named, long texts cut and long tables shortened."""
    steady = _steady(printed, [(folder, "FOLDER"), *([(data, "DATA")] if data else [])])
    return _short(steady)


def _steady(value: Any, paths: Sequence[tuple[str, str]], key: str = "") -> Any:
    """The value without what differs by machine, hour or version."""
    if isinstance(value, Mapping):
        return {name: _steady(item, paths, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_steady(item, paths, key) for item in value]
    if key in VOLATILE and value is not None:
        return VOLATILE[key]
    if isinstance(value, str):
        for path, name in paths:
            value = value.replace(path, name)
        return _AUDIT.sub("audit:NAME", _VERSION.sub("VERSION", value)) if key == "signature" else value
    return value


VOLATILE = {"first_request": "a time", "last_commit": "a time", "hours": "a duration", "time": "a duration"}
"""Keys of rows (judge status, a run's forecast) whose values are clocks'."""


def _short(value: Any) -> Any:
    """Tables of many rows shortened, long texts cut."""
    if isinstance(value, Mapping):
        return {name: _short(item) for name, item in value.items()} | {
            f"{name}_in_all": _summary(item) for name, item in value.items() if _is_long(item)
        }
    if isinstance(value, list):
        return [_short(_cut(item)) for item in (value[:LONG_TABLE] if _is_long(value) else value)]
    return value


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > LONG_TABLE and all(isinstance(row, Mapping) for row in value)


def _cut(row: Any) -> Any:
    """A row whose long texts are their ends and their length."""
    if not isinstance(row, Mapping):
        return row
    return {key: _ends(item) if key in TEXTS and isinstance(item, str) else item for key, item in row.items()}


def _ends(text: str) -> str:
    if len(text) <= LONG_TEXT:
        return text
    return f"{text[:_ENDS]} [... {len(text)} characters, {len(text.split())} words ...] {text[-_ENDS:]}"


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and means of every column of a long table; a mean weighted by place too, which order changes."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return {"rows": len(rows)} | {key: dict(_column([row.get(key) for row in rows])) for key in keys}


def _column(values: Sequence[Any]) -> Iterator[tuple[str, float | int]]:
    numbers = [(i, float(v)) for i, v in enumerate(values, 1) if isinstance(v, int | float)]
    texts = [(i, v) for i, v in enumerate(values, 1) if isinstance(v, str)]
    yield "missing", sum(value is None for value in values)
    if numbers:
        yield "numbers", len(numbers)
        yield "least", min(number for _, number in numbers)
        yield "most", max(number for _, number in numbers)
        yield "mean", sum(number for _, number in numbers) / len(numbers)
        yield "mean_by_place", sum(i * number for i, number in numbers) / sum(i for i, _ in numbers)
    if texts:
        yield "texts", len(texts)
        yield "different_texts", len({text for _, text in texts})
        yield "characters", sum(len(text) for _, text in texts)
        yield "characters_by_place", sum(i * sum(map(ord, text)) for i, text in texts)
