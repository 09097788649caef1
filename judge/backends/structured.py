"""Constraints on the format of an answer: the points or labels as a choice, or a JSON schema. They are the same for
every back-end.
"""

from __future__ import annotations

from typing import Any, assert_never

from judge.base.records import Criterion, Query

STRUCTURED = ("choice", "json", "json-explanation-first")
"""Forms that an answer can be asked to have."""


def choices(query: Query) -> list[str]:
    """Allowed answers to a query: the words for the outcome of a comparison, the labels of the scale, or the points of
    the scale as written numbers.
    """
    if query.choices:
        return list(query.choices)
    scale = query.criterion.scale
    return list(scale.labels) or [f"{point:g}" for point in scale.points()]


def schema(query: Query) -> dict[str, Any]:
    """JSON schema of a rating on the scale, with an explanation before or after it if one is requested.

    The field with the answer is named `rating`, also for labels, or `verdict` for a comparison. If the query has
    several criteria, the schema has a field for each criterion, which contains such an object or only the rating.
    """
    if query.criteria:
        return _object({criterion.name: _several_schema(query, criterion) for criterion in query.criteria})
    if query.choices:
        return _explained(query, "verdict", {"type": "string", "enum": choices(query)})
    return _explained(query, "rating", _rating(query.criterion))


def _several_schema(query: Query, criterion: Criterion) -> dict[str, Any]:
    rating = _rating(criterion)
    return _explained(query, "rating", rating) if query.asks_explanation else rating


def _explained(query: Query, name: str, answer: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: answer}
    if query.asks_explanation:
        explanation = {"explanation": {"type": "string"}}
        fields = explanation | fields if query.structured == "json-explanation-first" else fields | explanation
    return _object(fields)


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _rating(criterion: Criterion) -> dict[str, Any]:
    if criterion.scale.labels:
        return {"type": "string", "enum": list(criterion.scale.labels)}
    points = criterion.scale.points()
    if all(float(point).is_integer() for point in points):
        return {"type": "integer", "enum": [int(point) for point in points]}
    return {"type": "number", "enum": points}


def request_fields(query: Query) -> dict[str, Any]:
    """Fields of a request that constrain the format of the answer: OpenAI's `response_format` (for JSON) or vLLM's
    `structured_outputs` (for a choice). Empty without a constraint.
    """
    match query.structured:
        case "none":
            return {}
        case "choice":
            return {"structured_outputs": {"choice": choices(query)}}
        case "json" | "json-explanation-first":
            named = {"name": "judgment", "strict": True, "schema": schema(query)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case _:
            assert_never(query.structured)
