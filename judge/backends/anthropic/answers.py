"""Responses from answers of Anthropic's Messages API, live or batch.

Thinking is apart from the text. `input_tokens` excludes tokens read from or written to the cache; here the prompt's
tokens are the sum of all three. Sources, read in November 2026: platform.claude.com/docs/en/api/messages/create,
.../build-with-claude/handling-stop-reasons, .../build-with-claude/prompt-caching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from judge.backends.dialect import checked, with_usage
from judge.backends.openai.errors import RefusalError
from judge.backends.server_refusals.kinds import Refusal, read_refusal
from judge.backends.server_refusals.server_terms import remedy
from judge.base.errors import BackendError, ErrorKind
from judge.base.half_pairs import json_value
from judge.base.records import Response
from judge.base.redaction import redact
from judge.base.wording import Advice

# Converts errors of Anthropic's API into `BackendError`s with hints for the user.

# Type of an error -> the status that it has where it is no part of a batch or of an answer already begun.
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

_HINTS: dict[ErrorKind, str] = {
    "auth": "check ANTHROPIC_API_KEY, or the variables that the run names; it must be allowed to use this model",
    "quota": "what the account may use is used up; add credit or raise its limit, then run the same command again",
    "context": "shorten the stories or the Eval-Prompt, or take a model with a longer context",
    "model": Advice(
        "`judge doctor {provider} {model}` tells whether a model is listed", provider="anthropic", model="NAME"
    ),
    "api": "take a model that answers at /v1/messages",
    "address": "base_url must lead to the Messages API: /v1/messages is put behind it",
}


def refused(
    status: int, headers: Mapping[str, str], body: bytes, url: str, sent: Mapping[str, Any] | None = None
) -> RefusalError:
    """Error for a refused request, or for an error result of a batch. `sent` is the body of the request."""
    refusal = read_refusal(status, headers, body, sent)
    words = redact(refusal.error_body.shown())
    message = f"{url}: HTTP {refusal.status}" + (f": {words}" if words else "")
    return RefusalError(message, refusal=refusal, sent=sent, hint=_hint(refusal, sent))


def _hint(refusal: Refusal, sent: Mapping[str, Any] | None) -> str | None:
    if refusal.kind == "capability" and refusal.settings:
        return remedy([_key(name, sent) for name in refusal.settings], refusal)
    return _HINTS.get(refusal.kind)


def _key(name: str, sent: Mapping[str, Any] | None) -> str:
    # `remedy` finds the key of run.yaml that the user should change by OpenAI's names.
    output = (sent or {}).get("output_config")
    if name == "output_config" and isinstance(output, Mapping) and "format" in output:
        return "response_format"
    return {"stop_sequences": "stop"}.get(name, name)


# The provider's word for how an answer ended -> OpenAI's; other words stand as they are.
_STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def read_message(body: bytes, url: str) -> Response:
    """The response in a body. Raises `BackendError` for an error or anything but a message."""
    try:
        data = json_value(body)
        if data.get("type") == "error":
            raise refused(STATUSES.get(data["error"]["type"], 500), {}, body, url)
        blocks = data["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        thinking = "\n\n".join(block["thinking"] for block in blocks if block["type"] == "thinking")
        reason = data.get("stop_reason")
        response = checked(Response(text, _STOPPED.get(reason, reason), thinking or None, model=data.get("model")))
        return with_usage(response, _usual_names(data.get("usage")))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        start = body[:80].decode("utf-8", "replace")
        raise BackendError(
            f"{url}: the answer is no message of the Messages API: {start!r}", kind="garbage", retryable=True
        ) from error


def _usual_names(usage: object) -> dict[str, Any] | None:
    # In OpenAI's, cached tokens are part of the prompt's.
    if not isinstance(usage, Mapping) or not isinstance(usage.get("input_tokens"), int):
        return None
    read, written = (usage.get(f"cache_{name}_input_tokens") or 0 for name in ("read", "creation"))
    details = usage.get("output_tokens_details")
    thought = details.get("thinking_tokens") if isinstance(details, Mapping) else None
    return {
        "prompt_tokens": usage["input_tokens"] + read + written,
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
