"""`openai/<model>`: any OpenAI-compatible server, over aiohttp. Never retries, never changes what is asked.

The openai SDK is not used here: it costs 1 to 3 ms of CPU for each request where aiohttp costs 0.1.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from judge.backends.engine_keys import START, TOP_LOGPROBS
from judge.backends.joined_prompt import joined
from judge.backends.openai_abilities import seed_note
from judge.backends.openai_credentials import Credentials
from judge.backends.openai_errors import connection_error, status_error
from judge.backends.openai_probe import probe_server
from judge.backends.openai_servers import Servers
from judge.backends.protocol import Capabilities, Settings
from judge.backends.structured import request_fields
from judge.errors import BackendError
from judge.records import Query, Response
from judge.redaction import redact

DEFAULT_URL = "https://api.openai.com/v1"
STRUCTURED = ("choice", "json", "json-explanation-first")


def open(model: str, settings: Settings) -> OpenAIBackend:  # noqa: A001  the registry's name for a loader
    """Open the back-end; no connection is made yet, but where keys may go is settled."""
    backend = OpenAIBackend(model, settings)
    backend.credentials.check()
    return backend


class OpenAIBackend:
    """Asks a server that speaks the OpenAI protocol (chat or plain completions)."""

    def __init__(self, model: str, settings: Settings) -> None:
        urls = settings.base_url or (os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL,)
        self.model = model
        self.servers = Servers([url.rstrip("/") for url in urls])
        self.credentials = Credentials(self.servers.urls, settings)
        self.capabilities = Capabilities(structured=frozenset({"none", *STRUCTURED}))
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._proxy = proxy_of(self.servers.urls[0])
        self._extra = {k: v for k, v in settings.engine.items() if k not in {"headers", "top_logprobs"} | START}
        # Newer OpenAI models refuse max_tokens, other servers know nothing else: found out by the probe.
        self._max_tokens_name = "max_tokens"
        self._chat = settings.api == "chat"

    async def probe(self) -> Mapping[str, Any]:
        """Check every address, the key and the model within 3 seconds each; returns facts for the manifest."""
        self.credentials.require()
        facts: dict[str, Any] = {"max_tokens_parameter": self._max_tokens_name, "servers": []}
        for url in self.servers.urls:
            try:
                found = await probe_server(self._client(), url, self.model, self._scrub)
            except BackendError as error:
                # One of several servers may be down; a wrong key or model is wrong everywhere.
                if not self.servers.out_from_the_start(url, error):
                    raise
                found = {"probe": str(error)}
            else:
                note = await self._seed_note(url, found)
                if note is not None:
                    facts.setdefault("notes", []).append(note)
            self._max_tokens_name = found.pop("max_tokens_parameter", self._max_tokens_name)
            facts["servers"].append({"base_url": url, **found})
        facts["max_tokens_parameter"] = self._max_tokens_name
        return facts

    async def _seed_note(self, url: str, found: Mapping[str, Any]) -> str | None:
        """Where the run sets a seed: whether the server keeps to it."""
        if self._settings.seed is None:
            return None
        limit = found.get("max_tokens_parameter", self._max_tokens_name)
        return await seed_note(self._client(), url, {"model": self.model, **self._extra, limit: 24}, chat=self._chat)

    async def complete(self, query: Query, repeats: Sequence[int]) -> list[Response]:
        """One HTTP request for all given repeats; raises `BackendError`."""
        # Queries on one story-prompt share prefixes.
        url = self.servers.choose(query.story.story_prompt)
        try:
            body = await self._post(url, query, repeats)
        except BackendError as error:
            renamed = "max_completion_tokens" in str(error) and self._max_tokens_name == "max_tokens"
            if error.kind != "request" or not (renamed or len(repeats) > 1):
                raise
            if renamed:
                self._max_tokens_name = "max_completion_tokens"
            else:
                # Some servers refuse n outright: if one repeat alone is answered, n was the cause.
                repeats = repeats[:1]
            body = await self._post(url, query, repeats)
            if not renamed:
                self._one_by_one()
        responses = read_answers(body, url, query)
        if len(responses) < len(repeats):
            # The server ignores n: from now on one call for each repeat.
            self._one_by_one()
        return responses[: len(repeats)]

    def _one_by_one(self) -> None:
        self.capabilities = Capabilities(1, structured=self.capabilities.structured)

    @property
    def notices(self) -> list[str]:
        """What happened to servers, in sentences."""
        return self.servers.notices

    async def _post(self, url: str, query: Query, repeats: Sequence[int]) -> bytes:
        try:
            body = await self._send(url, query, repeats)
        except BackendError as error:
            self.servers.failed(url, error)
            raise
        self.servers.answered(url)
        return body

    async def _send(self, url: str, query: Query, repeats: Sequence[int]) -> bytes:
        route = "/chat/completions" if query.api == "chat" else "/completions"
        try:
            async with self._client().post(url + route, data=orjson.dumps(self.payload(query, repeats))) as reply:
                body = await reply.read()
                if reply.status != 200:
                    raise status_error(reply.status, reply.headers, body, url, self._scrub)
                return self.credentials.clean(body)
        except TimeoutError:
            raise BackendError(
                f"{url}: no answer within {self._settings.attempt_timeout:g} s", kind="timeout", retryable=True
            ) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, url) from error

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def payload(self, query: Query, repeats: Sequence[int]) -> dict[str, Any]:
        """The request's JSON body, exactly as sent."""
        generation = query.generation
        body: dict[str, Any] = {"model": self.model, **self._extra}
        if query.api == "chat":
            body["messages"] = [{"role": m.role, "content": m.content} for m in query.messages]
        else:
            body["prompt"] = joined(query.messages)
        if generation.temperature is not None:
            body["temperature"] = generation.temperature
        if generation.top_p is not None:
            body["top_p"] = generation.top_p
        if generation.max_tokens is not None:
            body[self._max_tokens_name if query.api == "chat" else "max_tokens"] = generation.max_tokens
        if generation.seed is not None:
            body["seed"] = generation.seed + repeats[0]
        if generation.stop:
            body["stop"] = list(generation.stop)
        if len(repeats) > 1:
            body["n"] = len(repeats)
        if query.structured != "none":
            body.update(request_fields(query))
        if query.scoring == "logprobs":
            most = int(self._settings.engine.get("top_logprobs", TOP_LOGPROBS))
            body |= {"logprobs": True, "top_logprobs": most} if query.api == "chat" else {"logprobs": most}
        return body

    def name_max_tokens(self, name: str) -> None:
        """Send the longest answer under this name on the chat route, where no probe can find the name out."""
        self._max_tokens_name = name

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Content-Type": "application/json"},
                middlewares=(self.credentials.attach,),
                # The limiter above decides how many requests are in flight.
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                timeout=aiohttp.ClientTimeout(total=self._settings.attempt_timeout, sock_connect=10),
                auto_decompress=True,
                cookie_jar=aiohttp.DummyCookieJar(),
                # aiohttp's own look at the environment (trust_env) costs two thread hops for each request.
                proxy=self._proxy,
            )
        return self._session

    def _scrub(self, text: str) -> str:
        return redact(text)


def proxy_of(url: str) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, NO_PROXY...) names for this address, or None."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def read_answers(body: bytes, url: str, query: Query) -> list[Response]:
    """The responses in the body of an answer to `query`, live or from a batch file; raises `BackendError`."""
    responses = _read(body, url, chat=query.api == "chat")
    if query.scoring == "logprobs" and any(not response.logprobs for response in responses):
        raise BackendError(
            f"{url}: the server gave no log-probabilities, and the run takes its ratings from them",
            kind="capability",
            retryable=False,
            hint="take a server that gives them (vLLM, OpenAI chat models), or scoring: text in a run of its own",
        )
    return responses


def _read(body: bytes, url: str, *, chat: bool) -> list[Response]:
    """Responses of one call; usage stands on the first. What is not the protocol is a retryable `BackendError`."""
    try:
        data = orjson.loads(body)
        choices = data["choices"]
        usage = data.get("usage") or {}
        model = data.get("model")
        responses = [_response(choice, model, chat=chat) for choice in sorted(choices, key=lambda c: c.get("index", 0))]
        details = usage.get("prompt_tokens_details") or {}
        tokens = (usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("cached_tokens"))
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise _garbage(url, body) from error
    if not responses:
        raise _garbage(url, body)
    first = responses[0]
    responses[0] = Response(first.text, first.finish_reason, first.reasoning, *tokens, first.logprobs, first.model)
    return responses


def _response(choice: Mapping[str, Any], model: str | None, *, chat: bool) -> Response:
    if not chat:
        return Response(choice["text"], choice.get("finish_reason"), logprobs=choice.get("logprobs"), model=model)
    message = choice["message"]
    text = message.get("content")
    if isinstance(text, list):
        text = "".join(part.get("text", "") for part in text)
    # A structured refusal is what the model answered instead of content.
    text = text or message.get("refusal") or ""
    reasoning = message.get("reasoning_content") or message.get("reasoning") or None
    return Response(text, choice.get("finish_reason"), reasoning, logprobs=choice.get("logprobs"), model=model)


def _garbage(url: str, body: bytes) -> BackendError:
    start = body[:80].decode("utf-8", "replace")
    return BackendError(f"{url}: the answer is not an OpenAI-style answer: {start!r}", kind="garbage", retryable=True)
