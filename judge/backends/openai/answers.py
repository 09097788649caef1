"""Parses answers of OpenAI's chat and completions APIs, as all compatible servers send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from judge.backends.dialect import Dialect, Scrub, as_it_is, checked, no_answer
from judge.backends.openai.answer_errors import choice_error, error_inside, finish_reason
from judge.backends.openai.errors import status_error
from judge.backends.usage import with_usage
from judge.base.half_pairs import json_value
from judge.base.records import Response


def _read(body: bytes, url: str, scrub: Scrub, *, chat: bool) -> tuple[list[Response], int]:
    """The responses of one call, and the number of all choices (answers in the body), including failed ones. Token
    usage is stored with the first response. Raises a retryable `BackendError` for a body that does not follow the
    protocol.
    """
    try:
        data = json_value(body)
        problem = error_inside(data)
        if problem is not None:
            raise status_error(200, {}, orjson.dumps(problem), url, scrub)
        choices = sorted(data["choices"], key=lambda c: c.get("index", 0))
        model = data.get("model")
        responses = [checked(_response(choice, model, chat=chat)) for choice in choices if choice_error(choice) is None]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_answer(url, body, "an OpenAI-style") from error
    if not responses:
        raise no_answer(url, body, "an OpenAI-style")
    responses[0] = with_usage(responses[0], data.get("usage"))
    return responses, len(choices)


def _response(choice: Mapping[str, Any], model: str | None, *, chat: bool) -> Response:
    reason = finish_reason(choice.get("finish_reason"))
    if not chat:
        return Response(choice["text"], reason, logprobs=choice.get("logprobs"), model=model)
    message = choice["message"]
    if message is None and reason in ("content_filter", "length"):
        message = {}
    text = message.get("content")
    if isinstance(text, list):
        text = "".join(part.get("text", "") for part in text)
    # A structured refusal is what the model answered instead of content.
    text = text or message.get("refusal") or ""
    reasoning = message.get("reasoning_content") or message.get("reasoning") or None
    return Response(text, reason, reasoning, logprobs=choice.get("logprobs"), model=model)


def _read_chat(body: bytes, url: str, scrub: Scrub) -> tuple[list[Response], int]:
    return _read(body, url, scrub, chat=True)


def _read_completions(body: bytes, url: str, scrub: Scrub) -> tuple[list[Response], int]:
    return _read(body, url, scrub, chat=False)


CHAT = Dialect("openai", lambda _: "/chat/completions", as_it_is, _read_chat, tells=True)
"""OpenAI's chat API, and every server that is compatible with it."""

COMPLETIONS = Dialect("openai", lambda _: "/completions", as_it_is, _read_completions, chat=False, tells=True)
"""OpenAI's older API of plain texts, for base models."""
