"""Checks before the first query that a server responds and lists the judge's model.

Which settings a server accepts is learnt from the first query of the run, see
`judge.asking.execution.sending.rehearsal`. A plain question without settings is sent here only to distinguish a wrong
key from a list of models that requires another kind of key.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from judge.backends.bodies import read_body
from judge.backends.openai.asker import Asker
from judge.backends.openai.errors import RefusalError, connection_error, status_error
from judge.backends.openai.server_facts import reported_facts
from judge.backends.openai.urls import endpoint
from judge.base.credentials.providers import OPENAI
from judge.base.errors import BackendError, nearest

PATIENCE = 3.0
"""Seconds for all questions to one server together, unless run.yaml's `probe_timeout` says otherwise."""

_ENTRY = ("version", "inputTokenLimit", "owned_by", "max_model_len", "root", "parent", "revision", "created")


@dataclass(frozen=True, slots=True)
class Probed:
    """Facts that a server reports about itself.

    `names` are the models that it lists; None if it has no list. `listed` says whether the judge's model is among them.
    `seconds` is the time that the list took.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    listed: bool = False
    seconds: float = 0.0


async def probe_server(asker: Asker, patience: float = PATIENCE) -> Probed:
    """Facts about the server, such as its list of models and its version, found within `patience` seconds. Raises
    `BackendError` with URL and cause.
    """
    url = asker.url
    try:
        async with asyncio.timeout(patience):
            probed, refused = await _probed(asker)
    except TimeoutError:
        raise silence(url, patience) from None
    except aiohttp.ClientError as error:
        address_error = connection_error(error, url)
        raise BackendError(str(address_error), kind="address", retryable=False, hint=_hint(asker)) from error
    if refused is not None and refused.kind == "auth":
        await _check_key(asker, patience)
    if not asker.dialect.tells:
        return probed
    # What a server tells beside the protocol is welcome, and its silence stops nothing.
    return Probed(probed.facts | await reported_facts(asker.client(), url), probed.names, probed.listed, probed.seconds)


def silence(url: str, seconds: float) -> BackendError:
    """Error for a server that does not answer within `seconds`."""
    return BackendError(
        f"{url}: no answer within {seconds:g} s",
        kind="address",
        retryable=False,
        hint=f"is the server up? {_hint()}; a server that loads its model at the first request needs longer: "
        "`probe_timeout: 120` in run.yaml",
    )


async def ask_plainly(asker: Asker) -> RefusalError | None:
    """Send a question without any setting. Returns None if the server answers, otherwise its refusal."""
    chat = {"messages": [{"role": "user", "content": "Say 1."}]}
    prompt: dict[str, Any] = chat if asker.dialect.chat else {"prompt": "1, 2,"}
    return await try_body(asker, {"model": asker.model, **prompt})


async def try_body(asker: Asker, body: dict[str, Any]) -> RefusalError | None:
    """Send a request with this body. Returns None if the server answers, otherwise its refusal."""
    dialect = asker.dialect
    route = endpoint(asker.url, dialect.route(asker.model))
    async with asker.client().post(route, data=orjson.dumps(dialect.wire(body))) as reply:
        content = await read_body(reply)
        if reply.status == 200:
            return None
        return refusal_by(asker, reply.status, reply.headers, content, body)


def with_model_names(error: RefusalError, asker: Asker, names: Sequence[str] | None) -> RefusalError:
    """The error `error` unchanged or, if it says that the server does not have the model, an error that names the
    models it has.
    """
    if error.kind != "model" or not names or "deployment" in error.refusal.error_body.low:
        return error
    return RefusalError(
        f"{asker.url}: the server does not have the model {asker.model!r}; it has: {', '.join(names[:8])}",
        refusal=error.refusal,
        sent=error.sent,
        hint=f"did you mean {asker.dialect.provider}/{nearest(asker.model, names) or names[0]}?",
    )


async def _probed(asker: Asker) -> tuple[Probed, RefusalError | None]:
    """Facts from the server's list of models, and the server's refusal to list them (None if it did not refuse)."""
    facts: dict[str, Any] = {}
    began = time.perf_counter()
    async with asker.client().get(endpoint(asker.url, asker.dialect.models)) as reply:
        body = await read_body(reply)
        seconds = time.perf_counter() - began
        if server := reply.headers.get("Server"):
            facts["server"] = server
        status, headers = reply.status, reply.headers
    entries = models_in(body) if status == 200 else None
    refused = None if status == 200 else refusal_by(asker, status, headers, body)
    facts["models_route"] = entries is not None
    names = None if entries is None else tuple(str(entry["id"]) for entry in entries)
    # Gemini lists its models as `models/NAME`.
    entry = next((e for e in entries or () if e["id"] in (asker.model, f"models/{asker.model}")), None)
    if entry is not None:
        facts |= {key: entry[key] for key in _ENTRY if key in entry}
    return Probed(facts, names, entry is not None, seconds), refused


async def _check_key(asker: Asker, patience: float) -> None:
    """Raise RefusalError if the server refuses a plain question because of the key. Some servers require another kind
    of key for the list of models than for answers.
    """
    with contextlib.suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(patience):
            error = await ask_plainly(asker)
        if error is not None and error.kind == "auth":
            raise error


def refusal_by(
    asker: Asker, status: int, headers: Mapping[str, str], body: bytes, sent: dict[str, Any] | None = None
) -> RefusalError:
    """Error for an answer whose status is not 200, worded for the server's API."""
    dialect = asker.dialect
    return status_error(status, headers, body, asker.url, asker.scrub, sent, dialect.route("MODEL"), dialect.protocol)


def models_in(body: bytes) -> list[dict[str, Any]] | None:
    """The models in the body of a server's list of models, each with its `id`, in any of the formats that servers use.
    None if the body is not such a list.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    entries = data.get("data") if isinstance(data, dict) else data
    if isinstance(data, dict) and "data" not in data and isinstance(data.get("models"), list):
        # Gemini's own list has `name` in the place of `id`.
        named = [listed for listed in data["models"] if isinstance(listed, dict) and "name" in listed]
        entries = [{**listed, "id": str(listed["name"]).removeprefix("models/")} for listed in named]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and "id" in entry for entry in entries):
        return None
    return entries


def _hint(asker: Asker | None = None) -> str:
    if asker is not None and asker.dialect.protocol is not OPENAI:
        return f"check the network, and base_url where the run names one; it begins as {asker.dialect.protocol.address}"
    return "check base_url (or OPENAI_BASE_URL); it ends in /v1 on most servers"
