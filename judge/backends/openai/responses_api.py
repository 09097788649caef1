"""OpenAI's Responses API (`/v1/responses`), which some models (-pro, codex) require.

Format: developers.openai.com/api/reference/resources/responses, and the types of the openai package 3.52.0 that are
generated from it (both read in November 2026). It has no `n`, so repeats are separate requests, nor `seed` or `stop`:
if a run sets these, they are sent, and the server's refusal is reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from judge.backends.dialect import Dialect, Scrub, checked, no_answer, with_usage
from judge.backends.openai.errors import status_error
from judge.base.errors import BackendError
from judge.base.fingerprint import digest
from judge.base.half_pairs import json_value
from judge.base.records import Response

# Chooses a server for each query of a run that names several. A server that failed is tried again later.

# Failures in a row after which a server counts as dead.
DEAD_AFTER = 3

# Seconds until a dead server is tried again.
REST = 30.0

# Errors that speak of the server, not of the query.
_SERVER_KINDS = frozenset({"connection", "address", "timeout", "server", "overload"})


class Servers:
    """A run's servers. `notices` say which are not used any more, and which are used again."""

    def __init__(self, urls: Sequence[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.urls = tuple(urls)
        self.notices: list[str] = []
        self._clock = clock
        self._failures = dict.fromkeys(self.urls, 0)
        self._dead_until: dict[str, float] = {}

    def choose(self, group: str) -> str:
        """The server for queries that share a prefix, among those that work or, if none does, all."""
        if len(self.urls) == 1:
            return self.urls[0]
        now = self._clock()
        living = [url for url in self.urls if self._dead_until.get(url, 0.0) <= now] or list(self.urls)
        return max(living, key=lambda url: _rank(url, group))

    def answered(self, url: str) -> None:
        self._failures[url] = 0
        if self._dead_until.pop(url, None) is not None:
            self.notices.append(f"{url} answers again and is used again")

    def failed(self, url: str, error: BackendError) -> None:
        """Record a failure of the server. Errors caused by the query are ignored."""
        if error.kind not in _SERVER_KINDS or len(self.urls) == 1:
            return
        self._failures[url] += 1
        if self._failures[url] < DEAD_AFTER:
            return
        if url not in self._dead_until:
            left = sum(other not in self._dead_until for other in self.urls) - 1
            self.notices.append(f"{url} failed {DEAD_AFTER} times in a row ({error}): {left} servers go on without it")
        self._dead_until[url] = self._clock() + REST

    def out_from_the_start(self, url: str, error: BackendError) -> bool:
        """Exclude a server that does not answer before the first query; False, and kept, if the error is not the
        server's or no other is left."""
        others = [other for other in self.urls if other != url and other not in self._dead_until]
        if error.kind not in _SERVER_KINDS or not others:
            return False
        self.notices.append(f"{url} does not answer ({error}): {len(others)} servers go on without it")
        self._failures[url] = DEAD_AFTER
        self._dead_until[url] = self._clock() + REST
        return True


def _rank(url: str, group: str) -> bytes:
    return digest(f"{url}\0{group}", 8)


_FORM = "a Responses-style"
_RENAMED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
_CUT = frozenset({"max_output_tokens", "max_messages"})


def _wire(asked: Mapping[str, Any]) -> dict[str, Any]:
    # `store: false` unless the run sets it: otherwise OpenAI stores story and answer.
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
    # Thinking is in items of its own, and the finish reason in `status` and `incomplete_details`.
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
    # The provider's own word if OpenAI's chat has no equivalent.
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


# OpenAI's Responses API: `api: responses`, or learnt from the refusal of a model that has no other.
RESPONSES = Dialect("openai", lambda _: "/responses", _wire, _read, limit="max_output_tokens", one_answer=True)
