"""`openai/<model>`: any OpenAI-compatible server, over aiohttp. Never changes what is asked, and of what failed asks
again only where the shape of the call was refused.

The openai SDK is not used here: it costs 1 to 3 ms of CPU for each request where aiohttp costs 0.1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from judge.backends.engine_keys import START, TOP_LOGPROBS
from judge.backends.joined_prompt import joined
from judge.backends.openai_abilities import seed_note
from judge.backends.openai_errors import RefusalError, connection_error, status_error
from judge.backends.openai_inside import choice_error, error_inside, finish_reason
from judge.backends.openai_negotiation import Negotiation
from judge.backends.openai_probe import Asker, Probed, of_model, probe_server, silence
from judge.backends.openai_servers import Servers
from judge.backends.openai_urls import endpoint, without_slash
from judge.backends.protocol import Capabilities, Patience, Settings
from judge.backends.server_terms import load_terms, save_terms
from judge.backends.structured import request_fields
from judge.errors import BackendError
from judge.records import Query, Response

DEFAULT_URL = "https://api.openai.com/v1"
STRUCTURED = ("choice", "json", "json-explanation-first")

_ROUND_TRIPS = 4
"""A refusal is waited for this many times as long as the list of models took; later it is learnt all the same."""

_SHORTEST = 0.02
"""Seconds that a refusal is waited for at least."""


def open(model: str, settings: Settings) -> OpenAIBackend:  # noqa: A001  the registry's name for a loader
    """Open the back-end; no connection is made yet."""
    return OpenAIBackend(model, settings)


class OpenAIBackend:
    """Asks servers that speak the OpenAI protocol (chat or plain completions)."""

    def __init__(self, model: str, settings: Settings) -> None:
        urls = settings.base_url or (os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL,)
        self.model = model
        self.servers = Servers([without_slash(url) for url in urls])
        self.key = os.environ.get("OPENAI_API_KEY", "")
        self.capabilities = Capabilities(structured=frozenset({"none", *STRUCTURED}))
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._proxy = proxy_of(self.servers.urls[0])
        self._extra = {k: v for k, v in settings.engine.items() if k not in {"headers", "top_logprobs"} | START}
        self._chat = settings.api == "chat"
        self._negotiations = {
            url: Negotiation(self._asker(url), load_terms(settings.terms_file, url, model)) for url in self.servers.urls
        }
        self._probed: dict[str, Probed] = {}
        self._kept = self._shapes()
        self._refusals = 0
        self._tell_capabilities()

    async def probe(self) -> Mapping[str, Any]:
        """Check every address and the key within the run's `probe_timeout` each; returns facts for the manifest."""
        if not self.key and any(url.startswith(DEFAULT_URL) for url in self.servers.urls):
            raise BackendError(
                f"{DEFAULT_URL} needs a key and OPENAI_API_KEY is not set",
                kind="auth",
                retryable=False,
                hint="export OPENAI_API_KEY=..., or give base_url for a server of your own",
            )
        for url in self.servers.urls:
            try:
                self._probed[url] = await probe_server(self._asker(url), self._settings.probe_timeout)
            except BackendError as error:
                # One of several servers may be down; a wrong key is wrong everywhere.
                if not self.servers.out_from_the_start(url, error):
                    raise
                self._probed[url] = Probed({"probe": str(error)})
        return self._told()

    def patience(self, query: Query) -> Patience:
        """How long the plan's first query goes alone.

        A refusal comes about as fast as the list of models did. Where a server lists the model there is nothing more
        to wait for; where it lists none, nothing but an answer shows that somebody is there.
        """
        url = self.servers.choose(query.story.story_prompt)
        probed = self._probed.get(url, Probed())
        seconds = self._settings.probe_timeout
        if probed.names is None:
            return Patience(seconds, silence(url, seconds))
        return Patience(min(seconds, max(_SHORTEST, _ROUND_TRIPS * probed.seconds)) if probed.listed else seconds)

    @property
    def settling(self) -> bool:
        """Whether a server has refused something."""
        return self._refusals > 0

    async def facts(self) -> Mapping[str, Any]:
        """What is known of the servers once the first query was asked: what they take, whether they keep to a seed."""
        notes = []
        for url, probed in self._probed.items():
            note = None if "probe" in probed.facts else await self._seed_note(url)
            if note is not None:
                notes.append(note)
        return {**self._told(), **({"notes": notes} if notes else {})}

    def _told(self) -> dict[str, Any]:
        """What the servers told of themselves, and what their refusals taught."""
        first = self._negotiations[self.servers.urls[0]].terms
        servers = []
        for url, probed in self._probed.items():
            terms = self._negotiations[url].terms
            learnt: dict[str, Any] = {"answers_per_call": terms.most} if terms.most is not None else {}
            if terms.limit != first.limit:
                learnt |= {"max_tokens_parameter": terms.limit}
            servers.append({"base_url": url, **probed.facts, **learnt})
        return {"max_tokens_parameter": first.limit, "servers": servers}

    async def _seed_note(self, url: str) -> str | None:
        """Where the run sets a seed: whether the server keeps to it."""
        if self._settings.seed is None:
            return None
        limit = self._negotiations[url].terms.limit if self._chat else "max_tokens"
        return await seed_note(self._client(), url, {"model": self.model, **self._extra, limit: 24}, chat=self._chat)

    async def complete(self, query: Query, repeats: Sequence[int]) -> list[Response]:
        """The answers to the given repeats, or to the first of them where the server takes no more in one call.

        What the server refuses about the call's shape is learnt and the call is made again; raises `BackendError`.
        """
        # Queries on one story-prompt share prefixes.
        url = self.servers.choose(query.story.story_prompt)
        negotiation = self._negotiations[url]
        while True:
            asked = negotiation.terms.shortened(repeats)
            try:
                responses, given = read_choices(await self._post(url, query, asked), url, query, self._scrub)
                break
            except RefusalError as error:
                self._refusals += 1
                if error.kind != "truncated":
                    await self._settle(error, url, query, repeats)
                elif len(asked) == 1:
                    return [Response("", "length")]
                else:
                    # Which of several ran into the limit is not told: they are asked for one by one.
                    repeats = asked[:1]
        if given < len(asked):
            # The server ignores n: from now on one call for each repeat.
            negotiation.terms.take_at_most(1, why="ignores")
            self._keep_terms()
        negotiation.answered(lambda: self.payload(query, asked, url), several=len(asked) > 1)
        return responses[: len(asked)]

    async def _settle(self, error: RefusalError, url: str, query: Query, repeats: Sequence[int]) -> None:
        """Return where a refused call is to be made again, in another shape; else raise what the refusal comes to."""
        negotiation = self._negotiations[url]

        def again() -> dict[str, Any]:
            return self.payload(query, negotiation.terms.shortened(repeats), url)

        named = of_model(error, negotiation.asker, self._probed.get(url, Probed()).names)
        try:
            await negotiation.settle(named, again() if error.sent is None else error.sent, again)
        finally:
            self._keep_terms()

    def _shapes(self) -> list[tuple[str, int | None]]:
        return [(one.terms.limit, one.terms.most) for one in self._negotiations.values()]

    def _keep_terms(self) -> None:
        """What was learnt holds for the calls that are cut after this, and for the next sitting."""
        if self._kept == self._shapes():
            return
        self._kept = self._shapes()
        save_terms(self._settings.terms_file, self.model, (one.terms for one in self._negotiations.values()))
        self._tell_capabilities()

    def _tell_capabilities(self) -> None:
        limits = [one.terms.most for one in self._negotiations.values()]
        most = None if None in limits else max(limit for limit in limits if limit is not None)
        self.capabilities = Capabilities(most, structured=self.capabilities.structured)

    @property
    def notices(self) -> list[str]:
        """What happened to servers and what they taught, in sentences."""
        return [*self.servers.notices, *(note for one in self._negotiations.values() for note in one.terms.notes)]

    async def _post(self, url: str, query: Query, repeats: Sequence[int]) -> bytes:
        try:
            body = await self._send(url, query, repeats)
        except BackendError as error:
            self.servers.failed(url, error)
            raise
        self.servers.answered(url)
        return body

    async def _send(self, url: str, query: Query, repeats: Sequence[int]) -> bytes:
        route = endpoint(url, "/chat/completions" if query.api == "chat" else "/completions")
        sent = self.payload(query, repeats, url)
        try:
            async with self._client().post(route, data=orjson.dumps(sent)) as reply:
                body = await reply.read()
                if reply.status != 200:
                    raise status_error(reply.status, reply.headers, body, url, self._scrub, sent)
                return body
        except TimeoutError:
            raise BackendError(
                f"{url}: no answer within {self._settings.attempt_timeout:g} s", kind="timeout", retryable=True
            ) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, url) from error

    def _asker(self, url: str) -> Asker:
        return Asker(self._client, url, self.model, self._scrub, self._chat)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def payload(self, query: Query, repeats: Sequence[int], url: str | None = None) -> dict[str, Any]:
        """The request's JSON body, exactly as sent to this server (the first, where none is named)."""
        terms = self._negotiations[url or self.servers.urls[0]].terms
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
            body[terms.limit if query.api == "chat" else "max_tokens"] = generation.max_tokens
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
        """Send the longest answer under this name on the chat route, where no server can be asked for the name."""
        for negotiation in self._negotiations.values():
            negotiation.terms.limit = name

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json", **self._settings.engine.get("headers", {})}
            if self.key:
                headers["Authorization"] = f"Bearer {self.key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
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
        return text.replace(self.key, "***") if self.key else text


def proxy_of(url: str) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, NO_PROXY...) names for this address, or None."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def read_answers(body: bytes, url: str, query: Query, scrub: Callable[[str], str] = str) -> list[Response]:
    """The responses in the body of an answer to `query`, live or from a batch file; raises `BackendError`."""
    return read_choices(body, url, query, scrub)[0]


def read_choices(body: bytes, url: str, query: Query, scrub: Callable[[str], str] = str) -> tuple[list[Response], int]:
    """The responses in a body, and how many the server gave, those that failed on their way included."""
    responses, given = _read(body, url, scrub, chat=query.api == "chat")
    if query.scoring == "logprobs" and any(r.text and not r.logprobs for r in responses):
        raise BackendError(
            f"{url}: the server gave no log-probabilities, and the run takes its ratings from them",
            kind="capability",
            retryable=False,
            hint="take a server that gives them (vLLM, OpenAI chat models), or scoring: text in a run of its own",
        )
    return responses, given


def _read(body: bytes, url: str, scrub: Callable[[str], str], *, chat: bool) -> tuple[list[Response], int]:
    """Responses of one call; usage stands on the first. What is not the protocol is a retryable `BackendError`."""
    try:
        data = orjson.loads(body)
        problem = error_inside(data)
        if problem is not None:
            raise status_error(200, {}, orjson.dumps(problem), url, scrub)
        choices = sorted(data["choices"], key=lambda c: c.get("index", 0))
        usage = data.get("usage") or {}
        model = data.get("model")
        responses = [_response(choice, model, chat=chat) for choice in choices if choice_error(choice) is None]
        details = usage.get("prompt_tokens_details") or {}
        tokens = (usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("cached_tokens"))
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise _garbage(url, body) from error
    if not responses:
        raise _garbage(url, body)
    first = responses[0]
    responses[0] = Response(first.text, first.finish_reason, first.reasoning, *tokens, first.logprobs, first.model)
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


def _garbage(url: str, body: bytes) -> BackendError:
    start = body[:80].decode("utf-8", "replace")
    return BackendError(f"{url}: the answer is not an OpenAI-style answer: {start!r}", kind="garbage", retryable=True)
