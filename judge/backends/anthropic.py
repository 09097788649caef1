"""Back-end `anthropic/<model>`: client for Anthropic's Messages API over aiohttp.

Anthropic's OpenAI-compatible endpoint lacks two of its features: a prompt cache, and answers that follow a schema.
Cache points are set where prompts diverge. A cache entry exists only after the first answer has begun. Therefore, of
the queries that share a prefix, one is answered before the others are sent (`Capabilities.cache_points`). Sources: see
`answers`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import orjson

from judge.backends.dialect import checked, schema, with_usage
from judge.backends.engine_keys import START
from judge.backends.openai.credentials import Credentials, connect, endpoint, without_slash
from judge.backends.openai.errors import RefusalError, connection_error, read_body, timed_out
from judge.backends.protocol import Capabilities, Patience, Settings
from judge.backends.refusal_body import RateLimits, tell_limits
from judge.backends.refusal_kinds import Refusal, read_refusal
from judge.backends.server_terms import remedy
from judge.base.credentials.providers import ANTHROPIC, addresses_of
from judge.base.errors import BackendError, ErrorKind, SpecError, nearest
from judge.base.foreign import json_value
from judge.base.records import Message, Request, Response
from judge.base.redaction import redact
from judge.base.wording import Advice

# Responses from answers of Anthropic's Messages API, live or batch.

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


# Converts a query into the body of a request to Anthropic's Messages API. The text of the prompt is not changed.

# Cache points in one request at most.
CACHE_POINTS = 4

_EPHEMERAL = {"type": "ephemeral"}


def body_of(query: Request, model: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """JSON body of the request, with `engine` keys in `extra`. Raises `BackendError` for an unsupported request."""
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
    # A block that ends at a cut carries a cache point. The API refuses blank blocks, so no cut leaves one.
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


# The protocol's version, a header of every request.
VERSION = "2023-06-01"

_TOLD = ("id", "display_name", "created_at", "lifecycle", "retires_at", "max_input_tokens", "max_tokens")
_OWN = frozenset({"model", "messages", "system", "max_tokens", "stream", "stop_sequences", "cache_control"})
_INSTEAD = {
    "cache_control": "cache points are put where the prompts of a run part from each other",
    "stream": "answers are read whole",
}
# Answers after which it is said that none of them met the cache.
_FEW = 8


def open(model: str, settings: Settings) -> AnthropicBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check that the key may be sent to the server. No connection is made yet."""
    backend = AnthropicBackend(model, settings)
    backend.credentials.check()
    return backend


class AnthropicBackend:
    """Back-end for one server with Anthropic's Messages API."""

    route = "/messages"

    def __init__(self, model: str, settings: Settings) -> None:
        self.model = model
        self.url = url_of(settings)
        self.credentials = Credentials((self.url,), settings, ANTHROPIC)
        self.capabilities = Capabilities(
            repeats_per_call=1,
            structured=frozenset({"none", "json", "json-explanation-first"}),
            cache_points=CACHE_POINTS,
        )
        self._settings = settings
        self._extra = _extra(settings.engine)
        self._session: aiohttp.ClientSession | None = None
        self._told: dict[str, Any] = {}
        self._probe_seconds = 0.0
        self._refusals = 0
        self._cache = _CacheUse()
        self.on_limits: Callable[[RateLimits], None] | None = None

    async def probe(self) -> Mapping[str, Any]:
        """Facts for the manifest, after a check of address, key and model within the run's `probe_timeout`."""
        self.credentials.require()
        patience = self._settings.probe_timeout
        began = time.perf_counter()
        try:
            status, headers, body = await self._get(f"/models/{quote(self.model, safe='')}", patience)
            if status == 404:
                await self._lacks_the_model(patience)
                self._told = {"models_route": False}
            elif status == 200:
                self._told = {"models_route": True, **_facts(body)}
            else:
                raise refused(status, headers, body, self.url)
        except TimeoutError:
            raise _silence(self.url, patience) from None
        except aiohttp.ClientError as error:
            address_error = connection_error(error, self.url)
            raise BackendError(str(address_error), kind="address", retryable=False, hint="check base_url") from error
        self._probe_seconds = time.perf_counter() - began
        return await self.facts()

    async def _lacks_the_model(self, patience: float) -> None:
        # A server without a list of models passes.
        status, headers, body = await self._get("/models?limit=1000", patience)
        names = _names(body) if status == 200 else None
        if names is None:
            return
        near = nearest(self.model, names)
        error = refused(404, headers, body, self.url)
        raise RefusalError(
            f"{self.url}: the server does not have the model {self.model!r}; it has: {', '.join(names[:8])}",
            refusal=error.refusal,
            kind="model",
            hint=f"did you mean anthropic/{near}?" if near else None,
        )

    def patience(self, query: Request) -> Patience:
        """How long the plan's first query runs alone. Raises BackendError for a query that the API cannot express."""
        check(query)
        # A refusal comes about as fast as the answer about the model did.
        return Patience(min(self._settings.probe_timeout, max(0.02, 4 * self._probe_seconds)))

    @property
    def settling(self) -> bool:
        """Whether the server has refused at least one request."""
        return self._refusals > 0

    async def facts(self) -> Mapping[str, Any]:
        return {"servers": [{"base_url": self.url, "answers_per_call": 1, **self._told}]}

    @property
    def notices(self) -> list[str]:
        """One sentence if no prompt was cached although cache points were set."""
        return self._cache.notices(self.model)

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:  # noqa: ARG002  one at a time
        """One answer, whatever the number of repeats: the API gives one per call. Raises `BackendError`."""
        sent = self.payload(query)
        try:
            async with self._client().post(self._route(self.route), data=orjson.dumps(sent)) as reply:
                body = self.credentials.clean(await read_body(reply))
                tell_limits(self.on_limits, reply.headers)
                if reply.status != 200:
                    self._refusals += 1
                    raise refused(reply.status, reply.headers, body, self.url, sent)
        except TimeoutError:
            raise timed_out(self.url, self._settings.attempt_timeout) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, self.url) from error
        response = read_message(body, self.url)
        self._cache.count(query, response)
        return [response]

    def payload(self, query: Request, repeats: Sequence[int] = ()) -> dict[str, Any]:  # noqa: ARG002  there is no seed
        """JSON body exactly as sent, the same for every repeat."""
        return body_of(query, self.model, self._extra)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _get(self, route: str, patience: float) -> tuple[int, Mapping[str, str], bytes]:
        timeout = aiohttp.ClientTimeout(total=patience)
        async with self._client().get(self._route(route), timeout=timeout) as reply:
            return reply.status, reply.headers, self.credentials.clean(await read_body(reply))

    def _route(self, route: str) -> str:
        return route_of(self.url, route)

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = session(self.url, self.credentials, self._settings.attempt_timeout)
        return self._session


class _CacheUse:
    def __init__(self) -> None:
        self.answers = self.met = self.tokens = 0

    def count(self, query: Request, response: Response) -> None:
        if query.shared and response.prompt_tokens is not None:
            self.answers += 1
            self.met += bool(response.cached_tokens or response.cache_write_tokens)
            self.tokens += response.prompt_tokens

    def notices(self, model: str) -> list[str]:
        if self.met or self.answers < _FEW:
            return []
        mean = self.tokens / self.answers
        opening = (
            f"{model} cached none of {self.answers} prompts (of {mean:.0f} tokens on average): a model caches what "
        )
        return [opening + "is shared only from a least length on, which is 512 to 4096 tokens by model"]


def _extra(engine: Mapping[str, Any]) -> dict[str, Any]:
    if own := sorted(_OWN & set(engine)):
        raise SpecError(
            f"engine.{own[0]} cannot be set for an anthropic/ judge: the program sets it itself",
            hint=f"remove it; {_INSTEAD.get(own[0], 'run.yaml has keys of its own for prompts and generation')}",
        )
    return {key: value for key, value in engine.items() if key not in {"headers"} | START}


def session(url: str, credentials: Credentials, timeout: float) -> aiohttp.ClientSession:
    """HTTP session that sends requests only to the server at `url`, with key and headers; `timeout` is in seconds per
    request."""
    return connect(url, credentials, timeout, **{"anthropic-version": VERSION})


def url_of(settings: Settings) -> str:
    """The server's address: base_url, or the environment variable of Anthropic's own programs. Raises SpecError for
    several."""
    given = addresses_of(settings.base_url, "anthropic")
    if len(given) > 1:
        raise SpecError("an anthropic/ judge has one server, and base_url names several", hint="name one")
    return without_slash(given[0])


def route_of(url: str, route: str) -> str:
    """Address of a route such as `/messages`. `url` may end with or without the version `/v1`."""
    return endpoint(url, route if urlsplit(url).path.endswith("/v1") else f"/v1{route}")


def _facts(body: bytes) -> dict[str, Any]:
    # For an alias, with the name of the model that it refers to.
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return {key: data[key] for key in _TOLD if data.get(key) is not None} if isinstance(data, dict) else {}


def _names(body: bytes) -> list[str] | None:
    try:
        return [str(entry["id"]) for entry in orjson.loads(body)["data"]]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _silence(url: str, seconds: float) -> BackendError:
    return BackendError(
        f"{url}: no answer within {seconds:g} s",
        kind="address",
        retryable=False,
        hint="check base_url and the network; `probe_timeout: 30` in run.yaml waits longer",
    )
