"""Converts answers of Anthropic's Messages API, from live calls or batches, into responses.

Thinking is stored separately from the text. Anthropic's `input_tokens` excludes tokens that were read from or written
to the cache; here the prompt's tokens are the sum of all three. Sources, read in November 2026:
platform.claude.com/docs/en/api/messages/create, .../build-with-claude/handling-stop-reasons,
.../build-with-claude/prompt-caching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from judge.backends.anthropic.errors import STATUSES, refused
from judge.backends.dialect import checked
from judge.backends.usage import with_usage
from judge.base.errors import BackendError
from judge.base.half_pairs import json_value
from judge.base.records import Response

_STOPPED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""The provider's word for how an answer ended -> OpenAI's; other words stand as they are."""


def read_message(body: bytes, url: str) -> Response:
    """The response in the body of an answer. Raises `BackendError` if the body holds an error or is not a message."""
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
    """Token counts of an answer under OpenAI's names, in which cached tokens are part of the prompt's tokens; None
    without counts.
    """
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
