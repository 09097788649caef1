"""Reacts to a server's refusals: the call is repeated in another form, or the run ends with the key of run.yaml to
change. A decision uses only the refusal and the refused body, not the current state: several requests in flight may be
refused for a reason that is already known."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
import orjson

from judge.backends.openai.answers import Asker, reported_facts
from judge.backends.openai.credentials import endpoint
from judge.backends.openai.errors import RefusalError, connection_error, read_body, status_error
from judge.backends.refusal_kinds import LIMITS, refused_settings
from judge.backends.server_terms import Terms, remedy
from judge.base.credentials.providers import OPENAI
from judge.base.errors import BackendError, nearest
from judge.base.wording import enumerated

# Checks before the first query that a server responds and lists the judge's model.

# Seconds for all questions to one server together, unless run.yaml's `probe_timeout` says otherwise.
PATIENCE = 3.0

_ENTRY = ("version", "inputTokenLimit", "owned_by", "max_model_len", "root", "parent", "revision", "created")


@dataclass(frozen=True, slots=True)
class Probed:
    """What a server reports about itself: the models it lists (None: no list), whether the judge's is `listed`, and the
    `seconds` the list took."""

    facts: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    listed: bool = False
    seconds: float = 0.0


async def probe_server(asker: Asker, patience: float = PATIENCE) -> Probed:
    """Facts about the server within `patience` seconds. Raises `BackendError` with URL and cause."""
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
    """A server's refusal of a question without any setting; None if it answers."""
    chat = {"messages": [{"role": "user", "content": "Say 1."}]}
    prompt: dict[str, Any] = chat if asker.dialect.chat else {"prompt": "1, 2,"}
    return await try_body(asker, {"model": asker.model, **prompt})


async def try_body(asker: Asker, body: dict[str, Any]) -> RefusalError | None:
    """A server's refusal of a request with this body; None if it answers."""
    dialect = asker.dialect
    route = endpoint(asker.url, dialect.route(asker.model))
    async with asker.client().post(route, data=orjson.dumps(dialect.wire(body))) as reply:
        content = await read_body(reply)
        if reply.status == 200:
            return None
        return refusal_by(asker, reply.status, reply.headers, content, body)


def with_model_names(error: RefusalError, asker: Asker, names: Sequence[str] | None) -> RefusalError:
    """The error, with the models that the server has if it lacks the judge's."""
    if error.kind != "model" or not names or "deployment" in error.refusal.error_body.low:
        return error
    return RefusalError(
        f"{asker.url}: the server does not have the model {asker.model!r}; it has: {', '.join(names[:8])}",
        refusal=error.refusal,
        sent=error.sent,
        hint=f"did you mean {asker.dialect.provider}/{nearest(asker.model, names) or names[0]}?",
    )


async def _probed(asker: Asker) -> tuple[Probed, RefusalError | None]:
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
    # Some servers require another kind of key for the list of models than for answers.
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
    return status_error(status, headers, body, asker.url, sent, dialect.route("MODEL"), dialect.protocol)


def models_in(body: bytes) -> list[dict[str, Any]] | None:
    """The models in a server's list, each with its `id`, in any server's format; None for another body."""
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


# Finds the cause of a refusal that gives no reason: the request is simplified step by step until the server answers.

Blame = Literal["everything", "content", "settings"]

_KEPT = frozenset({"model", "messages", "prompt"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the server refuses: every request (`error` is its refusal of a plain question), this content, or
    `settings`."""

    blame: Blame
    settings: tuple[str, ...] = ()
    error: RefusalError | None = None


async def diagnose(asker: Asker, sent: dict[str, Any]) -> Diagnosis:
    """The cause of a refusal of `sent`, by a plain question, then without any settings, then without each in turn."""
    refused = await ask_plainly(asker)
    if refused is not None:
        return Diagnosis("everything", error=refused)
    settings = [name for name in sent if name not in _KEPT]
    if not settings or await try_body(asker, {key: sent[key] for key in sent if key in _KEPT}) is not None:
        return Diagnosis("content")
    for name in _likeliest_first(settings):
        if await try_body(asker, without(sent, (name,))) is None:
            return Diagnosis("settings", (name,))
    return Diagnosis("settings", await _each_refused(asker, sent, settings))


async def _each_refused(asker: Asker, sent: Mapping[str, Any], settings: list[str]) -> tuple[str, ...]:
    # Where leaving out a single one is not enough, settings are added one by one to a request that is accepted.
    refused: list[str] = []
    for name in _likeliest_first(settings):
        later = [other for other in _likeliest_first(settings) if other not in refused]
        later = later[later.index(name) + 1 :]
        if name != "top_logprobs" and await try_body(asker, without(sent, [*refused, *later])) is not None:
            refused.append(name)
    return tuple(refused)


def _likeliest_first(settings: list[str]) -> list[str]:
    order = ("n", *LIMITS, "response_format", "structured_outputs", "logprobs", "seed", "stop", "temperature", "top_p")
    return sorted(settings, key=lambda name: order.index(name) if name in order else len(order))


def without(sent: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The request without the named settings, and without settings that require them."""
    left_out = set(names) | ({"top_logprobs"} if "logprobs" in names else set())
    return {key: value for key, value in sent.items() if key not in left_out}


# Unexplained refusals that are taken apart before anything is answered; then they count as the request's.
_DIAGNOSES = 3

# Seconds for which a key that was shown to work is not tried again.
_KEY_HOLDS = 60.0


# Tries to name all refused settings of a definition at once.
_MOST_SETTINGS = 16

# The request as it would be sent now.
Again = Callable[[], dict[str, Any]]


class Negotiation:
    """What one server accepts and refuses, and whether a refused call is repeated."""

    def __init__(self, asker: Asker, terms: Terms) -> None:
        self.asker = asker
        self.terms = terms
        self._one_at_a_time = asyncio.Lock()
        self._shapes: set[tuple[str, bool]] = set()
        self._guilty: tuple[str, ...] = ()
        self._refused: tuple[str, ...] = ()
        self._diagnoses = 0
        self._key_shown = float("-inf")

    def answered(self, sent: Callable[[], dict[str, Any]], *, several: bool) -> None:
        """Record that the server accepts the request that `sent` gives. `several`: it was for several answers."""
        shape = (self.terms.limit, several)
        if shape not in self._shapes:
            self._shapes.add(shape)
            self.terms.answered.update(sent())

    async def settle(self, error: RefusalError, sent: Any, again: Again) -> None:
        """Decide what follows from the refusal of the request `sent`. Returns if the call is to be repeated with the
        body that `again` gives; otherwise raises the final error."""
        names = error.refusal.settings
        if error.sent is None and names:
            names = refused_settings(error.refusal.error_body, sent)
        try:
            if error.kind == "capability" and names:
                await self._learn(error, names, sent, again)
            elif error.kind == "capability" or (error.kind == "request" and not error.refusal.explicit):
                await self._take_apart(error, sent, again)
            elif error.kind == "auth" and error.status == 403 and not error.refusal.explicit:
                await self._try_key(error)
            else:
                raise error
        except (TimeoutError, aiohttp.ClientError):
            # What was to explain the refusal got no answer: nothing is decided yet.
            raise RefusalError(str(error), refusal=error.refusal, sent=sent, retryable=True) from None
        if again() == sent:
            raise error

    async def _learn(self, error: RefusalError, names: tuple[str, ...], sent: Any, again: Again) -> None:
        # RefusalError where run.yaml must be changed.
        left = self.terms.learn(error.refusal, names, sent)
        if not left:
            return
        async with self._one_at_a_time:
            if not self.terms.answered and not set(left) <= set(self._refused):
                self._refused = await self._all_refused(left, again)
        answered = {"system": "messages"}
        if all(answered.get(name, name) in self.terms.answered for name in left):
            # It has taken the same before: another machine behind the same address, or something in this request.
            raise RefusalError(str(error), refusal=error.refusal, sent=sent, kind="request", retryable=True)
        named = self._refused if set(left) <= set(self._refused) else left
        listed, pronoun = enumerated([f"`{name}`" for name in named]), "them" if named[1:] else "it"
        raise RefusalError(
            f"{self.asker.model} does not take {listed} as this run sets {pronoun}: {error}",
            refusal=error.refusal,
            sent=sent,
            kind="capability",
            retryable=False,
            hint=remedy(named, error.refusal),
        )

    async def _all_refused(self, first: tuple[str, ...], again: Again) -> tuple[str, ...]:
        # All refused settings, so that the user can change them at once.
        names = list(first)
        for _ in range(_MOST_SETTINGS):
            body = without(again(), names)
            error = None if "system" in names else await try_body(self.asker, body)
            if error is None or not error.refusal.settings:
                break
            names += self.terms.learn(error.refusal, error.refusal.settings, body)
        return tuple(names)

    async def _take_apart(self, error: RefusalError, sent: Any, again: Again) -> None:
        # Only as long as the server has not answered any request.
        async with self._one_at_a_time:
            if again() != sent:
                return
            if not self._guilty and (self.terms.answered or self._diagnoses >= _DIAGNOSES):
                raise error
            self._diagnoses += 1
            diagnosis = Diagnosis("settings", self._guilty) if self._guilty else await diagnose(self.asker, sent)
        if diagnosis.blame == "everything" and diagnosis.error is not None:
            kind = "api" if diagnosis.error.kind == "request" else diagnosis.error.kind
            raise RefusalError(
                f"{error} (and a plain question without any setting is refused too)",
                refusal=diagnosis.error.refusal,
                kind=kind,
                hint=diagnosis.error.hint or "check base_url, the model and `api` in run.yaml",
            )
        if diagnosis.blame != "settings":
            raise error
        self._guilty = diagnosis.settings
        await self._learn(error, diagnosis.settings, sent, again)

    async def _try_key(self, error: RefusalError) -> None:
        # A plain question without a story shows whether it is the key or the content that is refused.
        async with self._one_at_a_time:
            if time.monotonic() - self._key_shown > _KEY_HOLDS:
                if await ask_plainly(self.asker) is not None:
                    raise error
                self._key_shown = time.monotonic()
        raise RefusalError(
            f"{error} (a plain question is answered: it is this request's content that is refused)",
            refusal=error.refusal,
            kind="filtered",
            retryable=False,
        )
