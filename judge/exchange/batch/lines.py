"""Formats of the lines of batch files for each provider: writes requests, and converts results to OpenAI's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judge.backends.anthropic.errors import STATUSES

_CODES = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}
"""Codes of google.rpc.Status, which Gemini's lines carry -> statuses of HTTP (google/rpc/code.proto)."""


@dataclass(frozen=True, slots=True)
class LineForm:
    """One provider's format for the lines of request and result files.

    Attributes
    ----------
    request : callable
        (custom_id, route, body) -> the line of a request.
    asks : frozenset of str
        Keys that every request line has and no result line has.
    result : callable
        A line -> the result in OpenAI's format; None if the line is not a result in this provider's format.
    """

    request: Callable[[str, str, Mapping[str, Any]], dict[str, Any]]
    asks: frozenset[str]
    result: Callable[[dict[str, Any]], dict[str, Any] | None]


def as_openai(data: Any) -> Any:
    """A batch result in the format of any provider, converted to OpenAI's (custom_id with response or error). Other
    data is returned unchanged.
    """
    if not isinstance(data, dict):
        return data
    return next((converted for form in _FORMS if (converted := form.result(data)) is not None), data)


def is_request(data: Any) -> bool:
    """Whether the object in a line of a batch file is a request in the format of any provider."""
    return isinstance(data, dict) and "response" not in data and any(data.keys() >= form.asks for form in _FORMS)


def _openai_request(name: str, route: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"custom_id": name, "method": "POST", "url": f"/v1{route}", "body": body}


def _openai_result(data: dict[str, Any]) -> dict[str, Any] | None:
    return data if "custom_id" in data and "response" in data else None


def _message_request(name: str, _route: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"custom_id": name, "params": body}


def _message_result(data: dict[str, Any]) -> dict[str, Any] | None:
    """Result in OpenAI's format from a line with `custom_id` and `result`, as Anthropic writes it: a message, an error,
    or the reason why neither exists. None for other lines.
    """
    result = data.get("result")
    if not isinstance(result, dict):
        return None
    named = {"custom_id": data.get("custom_id")}
    if result.get("type") == "succeeded":
        return named | {"response": {"status_code": 200, "body": result.get("message")}}
    if result.get("type") == "errored" and isinstance(result.get("error"), dict):
        error = result["error"]
        inner = error.get("error") if isinstance(error.get("error"), dict) else error
        status = STATUSES.get(str(inner.get("type")), 500)
        return named | {"response": {"status_code": status, "body": {"error": inner}}}
    ended = {"expired": "batch_expired", "canceled": "batch_cancelled"}.get(str(result.get("type")), "")
    failure = {"code": ended, "message": f"the batch ended before this request was made ({result.get('type')})"}
    return named | {"response": None, "error": failure}


def _gemini_request(name: str, _route: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": name, "request": body}


def _gemini_result(data: dict[str, Any]) -> dict[str, Any] | None:
    """Result in OpenAI's format from a line with `key` and `response`, `error` or `status`, as Gemini writes it; None
    for other lines.
    """
    if "key" not in data or "custom_id" in data or "request" in data:
        return None
    named = {"custom_id": data["key"]}
    error = data.get("error") or data.get("status")
    if isinstance(error, dict):
        code = error.get("code")
        status = code if isinstance(code, int) and code >= 400 else _CODES.get(code or 0, 500)
        return named | {"response": {"status_code": status, "body": {"error": error}}}
    return named | {"response": {"status_code": 200, "body": data.get("response")}}


OPENAI_LINES = LineForm(_openai_request, frozenset({"custom_id", "body"}), _openai_result)
"""OpenAI's batches, and `vllm run-batch`."""

MESSAGE_LINES = LineForm(_message_request, frozenset({"custom_id", "params"}), _message_result)
"""Anthropic's Message Batches."""

GEMINI_LINES = LineForm(_gemini_request, frozenset({"request"}), _gemini_result)
"""Gemini's batches of a file."""

_FORMS = (OPENAI_LINES, MESSAGE_LINES, GEMINI_LINES)
