"""Answers of judges that compute numbers, as text in the format that a query requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from judge.base.records import Query

# A label or a word, or a number.
Value = str | float


def value_text(query: Query, name: str, value: Value, explanation: str | None) -> str:
    """Text of an answer with one value. `name` says what it is: rating, answer or verdict."""
    word = value if isinstance(value, str) else f"{value:g}"
    if query.structured == "choice":
        return word
    if query.structured == "none":
        return f"{name.capitalize()}: {word}" + ("" if explanation is None else f"\n\nExplanation: {explanation}")
    reason = {} if explanation is None else {"explanation": explanation}
    return orjson.dumps({name: value, **reason}).decode()


def several(query: Query, answers: Sequence[tuple[str, Value, str | None]]) -> str:
    """Text of an answer with (criterion, value, explanation) for several criteria, in lines or one JSON object."""
    if query.structured != "none":
        values: dict[str, Any] = {}
        for name, value, why in answers:
            values[name] = value if why is None else {"rating": value, "explanation": why}
        return orjson.dumps(values).decode()
    lines = []
    for name, value, why in answers:
        word = value if isinstance(value, str) else f"{value:g}"
        lines.append(f"{name}: {word}" + ("" if why is None else f"\n{why}\n"))
    return "\n".join(lines)
