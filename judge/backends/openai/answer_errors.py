"""Finds errors inside answers of status 200, and maps finish reasons to OpenAI's words.

OpenRouter has already sent status 200 when a provider behind it fails. It then puts the error into the body or into the
choice.
"""

from __future__ import annotations

from typing import Any

_ERRORS = ("error", "errors", "detail", "message", "msg", "base_resp")
_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "token_limit"}
)
_FILTERED = frozenset({"safety", "prohibited_content", "blocklist", "spii", "recitation", "sensitive", "guardrail"})


def error_inside(data: Any) -> Any:
    """The error in the body of a response, if it has an error where the answers should be. None if there is no error or
    the body is not that of an answer.
    """
    if isinstance(data, list):
        return data if data and isinstance(data[0], dict) and data[0].get("error") else None
    if not isinstance(data, dict):
        return None
    choices = data.get("choices")
    if not choices:
        return data if any(data.get(key) for key in _ERRORS) else None
    failed = [choice_error(choice) for choice in choices]
    if None not in failed:
        return failed[0]
    if not data.get("error") or any(_text(choice) for choice in choices):
        return None
    return {"error": data["error"]}


def choice_error(choice: Any) -> dict[str, Any] | None:
    """The error in a choice (one of the answers in a body) that holds an error instead of an answer; None without an
    error.
    """
    if not isinstance(choice, dict):
        return None
    if choice.get("error"):
        return {"error": choice["error"]}
    if choice.get("finish_reason") in ("error", "ERROR"):
        return {"error": {"code": 502, "message": "the provider ended this answer with an error"}}
    return None


def finish_reason(word: Any) -> str | None:
    """Finish reason of an answer in OpenAI's words. Other servers' words for an answer that was cut or filtered are
    translated.
    """
    if not isinstance(word, str):
        return None
    low = word.lower()
    if low in _LENGTH:
        return "length"
    if low.startswith("content_filter") or low in _FILTERED:
        return "content_filter"
    return word


def _text(choice: Any) -> Any:
    message = choice.get("message") or {}
    return choice.get("text") or message.get("content") or message.get("refusal") or message.get("reasoning")
