"""Finds out within 3 seconds, before the first query, whether a server, key and model work. Never asks a query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import orjson

from judge.backends.openai_abilities import told
from judge.backends.openai_errors import connection_error, status_error
from judge.errors import BackendError, nearest

PATIENCE = 3.0
"""Seconds for all questions to one server together."""


async def probe_server(
    client: aiohttp.ClientSession, url: str, model: str, scrub: Callable[[str], str]
) -> dict[str, Any]:
    """Facts about the server (models route, version); raises `BackendError` naming URL and cause."""
    try:
        async with asyncio.timeout(PATIENCE):
            facts = await _ask(client, url, model, scrub)
    except TimeoutError:
        raise BackendError(
            f"{url}: no answer within {PATIENCE:g} s",
            kind="address",
            retryable=False,
            hint="is the server up? " + _hint(),
        ) from None
    except aiohttp.ClientError as error:
        found = connection_error(error, url)
        raise BackendError(str(found), kind="address", retryable=False, hint=_hint()) from error
    # What a server tells beside the protocol is welcome, and its silence stops nothing.
    return facts | await told(client, url)


async def _ask(client: aiohttp.ClientSession, url: str, model: str, scrub: Callable[[str], str]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    names: list[str] | None = None
    async with client.get(url + "/models") as reply:
        body = await reply.read()
        if reply.status in (401, 403):
            raise status_error(reply.status, reply.headers, body, url, scrub)
        if reply.status == 200:
            names = _names(body)
            facts["models_route"] = names is not None
        server = reply.headers.get("Server")
        if server:
            facts["server"] = server
    entry = _entry(body, model) if names else None
    if entry is not None:
        facts |= {
            k: entry[k] for k in ("owned_by", "max_model_len", "root", "parent", "revision", "created") if k in entry
        }
    else:
        # Aliases and servers without a models route: only a question can tell. One token.
        facts |= await _one_token(client, url, model, names, scrub)
    return facts


def _names(body: bytes) -> list[str] | None:
    try:
        return [str(entry["id"]) for entry in orjson.loads(body)["data"]]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _entry(body: bytes, model: str) -> dict[str, Any] | None:
    return next((entry for entry in orjson.loads(body)["data"] if entry["id"] == model), None)


async def _one_token(
    client: aiohttp.ClientSession, url: str, model: str, names: list[str] | None, scrub: Callable[[str], str]
) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Say 1."}]
    for limit in ("max_tokens", "max_completion_tokens"):
        payload = {"model": model, "messages": messages, limit: 1}
        async with client.post(url + "/chat/completions", data=orjson.dumps(payload)) as reply:
            body = await reply.read()
            if reply.status == 200:
                return {"max_tokens_parameter": limit}
            if reply.status == 400 and b"max_completion_tokens" in body and limit == "max_tokens":
                continue
            error = status_error(reply.status, reply.headers, body, url, scrub)
            if error.kind == "model" and names:
                raise BackendError(
                    f"{url}: the server does not have the model {model!r}; it has: {', '.join(names[:8])}",
                    kind="model",
                    retryable=False,
                    status=reply.status,
                    hint=f"did you mean openai/{nearest(model, names) or names[0]}?",
                )
            if error.retryable:
                return {"probe": f"inconclusive: HTTP {reply.status}"}
            if error.kind in ("request", "context", "filtered"):
                # The server knows the model and only dislikes this question (a base model without chat, say).
                return {"probe": f"HTTP {reply.status}"}
            raise error
    return {}


def _hint() -> str:
    return "check base_url (or OPENAI_BASE_URL); it ends in /v1 on most servers"
