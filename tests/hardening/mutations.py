"""Mutations of a valid file: every field of it deleted, of another type, a number of 5,000 digits, or nested deeply."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

_MARK = "@raw:{}@"
_RAW = {"huge": "9" * 5000, "deep": "[" * 100_000 + "]" * 100_000, "far": "1e308", "nested": "[" * 400 + "]" * 400}
KINDS: dict[str, Any] = {
    "null": None,
    "number": 7,
    "float": 1.5,
    "text": "x",
    "empty": "",
    "bool": True,
    "list": [],
    "list of number": [1],
    "object": {},
    "object of list": {"a": [1]},
    "late": 999_999_999_999,
    **{name: _MARK.format(name) for name in _RAW},
}


def json_text(value: Any) -> str:
    """JSON text of a mutated value."""
    text = json.dumps(value, ensure_ascii=False)
    for name, raw in _RAW.items():
        text = text.replace(json.dumps(_MARK.format(name)), raw)
    return text


def mutated(value: Any, most: int = 0, seed: int = 0) -> Iterator[tuple[str, Any]]:
    """(name, mutated copy) for each field of a value and each kind of mutation; with `most`, a random choice of so
    many, each kind as often.
    """
    places = list(_places(value))
    every = [(place, kind) for place in places for kind in (*KINDS, "gone") if place or kind != "gone"]
    if most and len(every) > most:
        random.Random(seed).shuffle(every)
        turns: Counter[str] = Counter()
        ranked = []
        for place, kind in every:
            turns[kind] += 1
            ranked.append((turns[kind], place, kind))
        every = [(place, kind) for _, place, kind in sorted(ranked, key=lambda one: one[0])[:most]]
    for place, kind in every:
        yield f"{'.'.join(map(str, place)) or 'all'}: {kind}", _changed(value, place, kind)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*at, key))


def _changed(value: Any, place: tuple[Any, ...], kind: str) -> Any:
    if not place:
        return KINDS[kind]
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(place) == 1 and kind == "gone":
        del copy[place[0]]
    else:
        copy[place[0]] = _changed(value[place[0]], place[1:], kind)
    return copy
