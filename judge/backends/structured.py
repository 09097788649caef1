"""How an answer is constrained: points or labels as a choice, or a JSON schema. The same for every executor."""

from __future__ import annotations

from typing import Any

from judge.records import Query

STRUCTURED = ("choice", "json", "json-explanation-first")
"""Forms that an answer can be asked to have."""


def choices(query: Query) -> list[str]:
    """The words of a verdict, the points of the scale as they would be written, or its labels."""
    if query.choices:
        return list(query.choices)
    if query.criterion.scale.labels:
        return list(query.criterion.scale.labels)
    return [f"{point:g}" for point in query.criterion.scale.points()]


def schema(query: Query) -> dict[str, Any]:
    """JSON schema of a rating on the scale, with an explanation before or after it where one is asked for.

    A label stands under `rating` too, as a text; of a comparison the verdict stands under `verdict`.
    """
    name, answer = "rating", _rating(query)
    if query.choices:
        name, answer = "verdict", {"type": "string", "enum": choices(query)}
    fields: dict[str, Any] = {name: answer}
    if query.asks_explanation:
        said = {"explanation": {"type": "string"}}
        fields = said | fields if query.structured == "json-explanation-first" else fields | said
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _rating(query: Query) -> dict[str, Any]:
    points = query.criterion.scale.points()
    rating: dict[str, Any] = {"type": "number", "enum": points}
    if all(float(point).is_integer() for point in points):
        rating = {"type": "integer", "enum": [int(point) for point in points]}
    if query.criterion.scale.labels:
        rating = {"type": "string", "enum": choices(query)}
    return rating


def request_fields(query: Query) -> dict[str, Any]:
    """Fields of a request: OpenAI's `response_format` (json) or vLLM's `structured_outputs` (choice)."""
    if query.structured == "none":
        return {}
    if query.structured == "choice":
        return {"structured_outputs": {"choice": choices(query)}}
    named = {"name": "judgment", "strict": True, "schema": schema(query)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
