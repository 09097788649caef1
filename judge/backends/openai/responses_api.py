"""Request and response format of OpenAI's Responses API (`/v1/responses`), which some models (-pro, codex) require.

Format: developers.openai.com/api/reference/resources/responses, and the types of the openai package 3.52.0 that are
generated from it (both read in November 2026). The API has no `n`, `seed` or `stop`. Repeats are therefore separate
requests. If a run sets `seed` or `stop`, they are sent nevertheless, and the server's refusal is reported as for any
other setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from judge.backends.dialect import Dialect, Scrub, checked, no_answer
from judge.backends.openai.errors import status_error
from judge.backends.usage import with_usage
from judge.base.errors import BackendError
from judge.base.half_pairs import json_value
from judge.base.records import Response

_FORM = "a Responses-style"
_RENAMED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
_CUT = frozenset({"max_output_tokens", "max_messages"})


def _wire(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Body of a request to the Responses API. It has `store: false` unless the run sets `store`, because otherwise
    OpenAI stores story and answer.
    """
    body: dict[str, Any] = {"store": False}
    for name, value in asked.items():
        if name == "response_format":
            form = {"type": "json_schema", **value["json_schema"]}
            body["text"] = {**body.get("text", {}), "format": form}
        elif name == "text" and isinstance(value, Mapping):
            body["text"] = {**body.get("text", {}), **value}
        elif name == "reasoning_effort":
            body["reasoning"] = {"effort": value, **body.get("reasoning", {})}
        elif name == "logprobs":
            body["include"] = [*body.get("include", []), "message.output_text.logprobs"]
        elif name == "reasoning" and isinstance(value, Mapping):
            body["reasoning"] = {**body.get("reasoning", {}), **value}
        else:
            body[_RENAMED.get(name, name)] = value
    return body


def _read(body: bytes, url: str, scrub: Scrub) -> tuple[list[Response], int]:
    """The one answer in the body of a response, in a list, and the number of answers, 1. Thinking is in separate items
    of the body, and the finish reason in `status` and `incomplete_details`.
    """
    try:
        data = json_value(body)
        status = data["status"]
        if status == "failed" or data.get("error"):
            failure = {"error": data.get("error") or {"message": "the response failed, and the server gives no cause"}}
            raise status_error(200, {}, orjson.dumps(failure), url, scrub)
        if status not in ("completed", "incomplete"):
            raise BackendError(f"{url}: the response ended as {status!r}", kind="server", retryable=True)
        reason = "stop" if status == "completed" else _incomplete(data.get("incomplete_details"))
        response = checked(_response(data["output"], reason, data.get("model")))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_answer(url, body, _FORM) from error
    if reason not in ("stop", "length", "content_filter"):
        raise BackendError(f"{url}: the response is incomplete: {reason}", kind="server", retryable=True)
    if reason == "content_filter" and not response.text:
        raise BackendError(f"{url}: the content filter stopped the answer", kind="filtered", retryable=False)
    return [with_usage(response, data.get("usage"))], 1


def _incomplete(details: Any) -> str:
    """Finish reason of an incomplete response in OpenAI's chat words; the provider's own word if there is no
    equivalent.
    """
    word = str((details or {}).get("reason") or "the server gives no cause")
    return "length" if word in _CUT else word


def _response(items: Any, reason: str, model: str | None) -> Response:
    texts: list[str] = []
    thoughts: list[str] = []
    logprobs: list[Any] = []
    for item in items:
        if item["type"] == "reasoning":
            parts = [*(item.get("content") or ()), *(item.get("summary") or ())]
            thoughts += [part["text"] for part in parts if part.get("text")]
        elif item["type"] == "message":
            for part in item["content"]:
                # A refusal is what the model answered instead of text.
                texts.append(part.get("text") or part.get("refusal") or "")
                logprobs += part.get("logprobs") or ()
    return Response(
        "".join(texts),
        reason,
        "\n\n".join(thoughts) or None,
        logprobs={"content": logprobs} if logprobs else None,
        model=model,
    )


RESPONSES = Dialect("openai", lambda _: "/responses", _wire, _read, limit="max_output_tokens", one_answer=True)
"""OpenAI's Responses API: `api: responses`, or learnt from the refusal of a model that has no other."""
