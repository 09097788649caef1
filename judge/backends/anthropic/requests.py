"""Converts a query into the body of a request to Anthropic's Messages API. The text of the prompt is not changed.

The text is cut into blocks at the query's shared places (ends of prefixes that other queries share), and each block
that ends there carries a cache point (`cache_control`). Sources, read in November 2026:
platform.claude.com/docs/en/api/messages/create, .../build-with-claude/prompt-caching,
.../build-with-claude/structured-outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.backends.structured import schema
from judge.base.errors import BackendError
from judge.base.records import Message, Request

CACHE_POINTS = 4
"""Cache points in one request at most."""

_EPHEMERAL = {"type": "ephemeral"}


def body_of(query: Request, model: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """JSON body of the request. `extra` holds keys of the run's `engine`. Raises `BackendError` for an unsupported
    request.
    """
    check(query)
    generation = query.generation
    body: dict[str, Any] = {"model": model, **extra, "max_tokens": generation.max_tokens}
    instructions, turns = _in_blocks(query)
    if instructions:
        body["system"] = instructions
    body["messages"] = turns
    if generation.temperature is not None:
        body["temperature"] = generation.temperature
    if generation.top_p is not None:
        body["top_p"] = generation.top_p
    if generation.stop:
        body["stop_sequences"] = list(generation.stop)
    if query.structured != "none":
        wanted = {"format": {"type": "json_schema", "schema": schema(query)}}
        body["output_config"] = {**body.get("output_config", {}), **wanted}
    return body


def check(query: Request) -> None:
    """Raise `BackendError` (of kind `capability`) if the API cannot express what the query requests."""
    generation = query.generation
    if generation.max_tokens is None:
        raise _unsayable("it needs generation.max_tokens: it has no default", "set `generation.max_tokens`, say 1024")
    if generation.seed is not None:
        raise _unsayable("it has no seed", "remove `generation.seed`")
    if query.scoring == "logprobs":
        raise _unsayable("it gives no log-probabilities", "set `scoring: text`")
    if query.structured == "choice":
        raise _unsayable("it constrains answers by a JSON schema alone", "set `structured: json` (or none)")
    if query.api != "chat":
        raise _unsayable("it has one route, for chats", "remove `api: completions`")
    if not any(message.role == "user" for message in query.messages):
        raise _unsayable("it needs a user's message", "let the Eval-Prompt give one")


def _unsayable(why: str, mend: str) -> BackendError:
    return BackendError(
        f"Anthropic's Messages API does not support this run's settings: {why}",
        kind="capability",
        retryable=False,
        hint=f"in run.yaml {mend}",
    )


def _in_blocks(query: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Text blocks of the system message, and the other messages with their text blocks."""
    points = query.shared[:CACHE_POINTS]
    instructions: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    begin = 0
    for message in query.messages:
        end = begin + len(message.content)
        blocks = _cut(message, [point - begin for point in points if begin < point <= end])
        if message.role == "system":
            instructions += blocks
        else:
            turns.append({"role": message.role, "content": blocks})
        begin = end
    return instructions, turns


def _cut(message: Message, places: Sequence[int]) -> list[dict[str, Any]]:
    """Text blocks that together are the message's content, cut at the character positions `places`. A block that ends
    at one of them carries a cache point.

    A cut that would leave a block of only white space is not made, because the API refuses blank blocks.
    """
    blocks: list[dict[str, Any]] = []
    start = 0
    for cut in places:
        text = message.content[start:cut]
        if text.strip() and (cut == len(message.content) or message.content[cut:].strip()):
            blocks.append({"type": "text", "text": text, "cache_control": _EPHEMERAL})
            start = cut
    if start < len(message.content):
        blocks.append({"type": "text", "text": message.content[start:]})
    return blocks
