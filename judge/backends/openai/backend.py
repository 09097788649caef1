"""Back-end `openai/<model>`: client for OpenAI-compatible servers, and other HTTP APIs that a `Dialect` describes. A
failed call is repeated only if the server refused its form, e.g. several answers at once. Not by the openai SDK: it
costs 1 to 3 ms of CPU time per request, and aiohttp 0.1 ms."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import aiohttp
import orjson

from judge.backends.dialect import Dialect, joined, request_fields
from judge.backends.engine_keys import START, TOP_LOGPROBS
from judge.backends.openai.answers import CHAT, COMPLETIONS, RESPONSES, SEED_NOTE, Asker, seed_kept
from judge.backends.openai.credentials import Credentials, connect, endpoint, without_slash
from judge.backends.openai.errors import RefusalError, connection_error, read_body, timed_out
from judge.backends.openai.negotiation import Negotiation, Probed, probe_server, refusal_by, silence, with_model_names
from judge.backends.protocol import Capabilities, Patience, Settings
from judge.backends.refusal_body import RateLimits, tell_limits
from judge.backends.server_terms import RESPONSES_ALONE, load_terms, save_terms
from judge.base.credentials.providers import addresses_of
from judge.base.errors import BackendError
from judge.base.fingerprint import digest
from judge.base.records import Request, Response

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
        return max(living, key=lambda url: digest(f"{url}\0{group}", 8))

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


_BY_API = {"chat": CHAT, "completions": COMPLETIONS, "responses": RESPONSES}

# A refusal is waited for this many times as long as the list of models took; later it is learnt all the same.
_ROUND_TRIPS = 4

# Seconds that a refusal is waited for at least.
_SHORTEST = 0.02


def open(model: str, settings: Settings) -> OpenAIBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check that the keys may be sent to the servers. No connection is made yet."""
    backend = OpenAIBackend(model, settings)
    backend.credentials.check()
    return backend


class OpenAIBackend:
    """Back-end for servers with one of OpenAI's APIs, or with the API that `dialect` describes."""

    def __init__(self, model: str, settings: Settings, dialect: Dialect | None = None) -> None:
        self._dialect = dialect or _BY_API[settings.api]
        self.model = model
        self.servers = Servers([without_slash(url) for url in addresses_of(settings.base_url, self._dialect.provider)])
        self.credentials = Credentials(self.servers.urls, settings, self._dialect.protocol)
        self.capabilities = Capabilities(structured=self._dialect.structured)
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._extra = {k: v for k, v in settings.engine.items() if k not in {"headers", "top_logprobs"} | START}
        self._negotiations = {url: self._negotiation(url) for url in self.servers.urls}
        self._probed: dict[str, Probed] = {}
        self._kept = self._shapes()
        self._refusals = 0
        self._sent_on: dict[str, RefusalError] = {}
        self.on_limits: Callable[[RateLimits], None] | None = None
        self._tell_capabilities()

    async def probe(self) -> Mapping[str, Any]:
        """Facts for the manifest, after a check of every address and the key, within `probe_timeout` for each."""
        self.credentials.require()
        for url in self.servers.urls:
            try:
                self._probed[url] = await probe_server(self._negotiations[url].asker, self._settings.probe_timeout)
            except BackendError as error:
                # One of several servers may be down; a wrong key is wrong everywhere.
                if not self.servers.out_from_the_start(url, error):
                    raise
                self._probed[url] = Probed({"probe": str(error)})
        return self._server_record()

    def patience(self, query: Request) -> Patience:
        """How long the plan's first query runs alone. With the model in the server's list, a few times as long as the
        list took, because a refusal takes about as long; at most `probe_timeout`, as otherwise. Without a list, only an
        answer shows that the server works: none within this time is an error."""
        url = self.servers.choose(query.story_prompt)
        probed = self._probed.get(url, Probed())
        seconds = self._settings.probe_timeout
        if probed.names is None:
            return Patience(seconds, silence(url, seconds))
        return Patience(min(seconds, max(_SHORTEST, _ROUND_TRIPS * probed.seconds)) if probed.listed else seconds)

    @property
    def settling(self) -> bool:
        """Whether a server has refused at least one request."""
        return self._refusals > 0

    async def facts(self) -> Mapping[str, Any]:
        """Facts after the first query, for the manifest: accepted settings, and whether a seed is respected."""
        reported = self._server_record()
        notes = []
        for url, probed, server in zip(self._probed, self._probed.values(), reported["servers"], strict=True):
            if "probe" in probed.facts:
                continue
            kept = server["seed_kept"] = await self._seed_kept(url)
            if kept is False:
                notes.append(SEED_NOTE.format(url=url))
        return {**reported, **({"notes": notes} if notes else {})}

    def _server_record(self) -> dict[str, Any]:
        first = self._negotiations[self.servers.urls[0]].terms
        servers = []
        for url, probed in self._probed.items():
            terms = self._negotiations[url].terms
            learnt: dict[str, Any] = {"answers_per_call": terms.most} if terms.most is not None else {}
            if self._limit(url) != self._limit(first.url):
                learnt |= {"max_tokens_parameter": self._limit(url)}
            if terms.responses:
                learnt |= {"api": "responses"}
            servers.append({"base_url": url, **probed.facts, **learnt})
        return {"max_tokens_parameter": self._limit(first.url), "servers": servers}

    def _limit(self, url: str) -> str:
        return self.dialect(url).limit or self._negotiations[url].terms.limit

    async def _seed_kept(self, url: str) -> bool | None:
        if self._settings.seed is None:
            return None
        limit = self._negotiations[url].terms.limit if self._dialect.chat else "max_tokens"
        return await seed_kept(self._negotiations[url].asker, {"model": self.model, **self._extra, limit: 24})

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """The answers to the given repeats, or only to the first if the server gives fewer. A call whose form the
        server refuses is repeated in another. Raises `BackendError`."""
        # Queries on one story-prompt share prefixes.
        url = self.servers.choose(query.story_prompt)
        negotiation = self._negotiations[url]
        while True:
            asked, dialect = negotiation.terms.shortened(repeats), self.dialect(url)
            try:
                responses, given = dialect.read(await self._post(url, query, asked), url)
                require_logprobs(responses, query, url)
                break
            except RefusalError as error:
                self._refusals += 1
                if error.kind == "api" and dialect is CHAT and RESPONSES_ALONE in error.refusal.error_body.low:
                    self._take_responses(negotiation, error)
                elif error.kind == "address" and (why := self._sent_on.get(url)) is not None:
                    raise RefusalError(
                        f"{why}, and there is no /responses here",
                        refusal=why.refusal,
                        hint="take a model that answers at /chat/completions, or a server that has /responses",
                    ) from error
                elif error.kind != "truncated":
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
        negotiation.answered(lambda: self.request(query, asked, url), several=len(asked) > 1)
        return responses[: len(asked)]

    def _take_responses(self, negotiation: Negotiation, why: RefusalError) -> None:
        # `why` says that the server offers the model only there.
        self._sent_on.setdefault(negotiation.asker.url, why)
        negotiation.terms.take_responses()
        negotiation.asker = self._asker(negotiation.asker.url, RESPONSES)
        self._keep_terms()

    async def _settle(self, error: RefusalError, url: str, query: Request, repeats: Sequence[int]) -> None:
        # Returns if the call is to be repeated in another form, otherwise raises the final error.
        negotiation = self._negotiations[url]

        def again() -> dict[str, Any]:
            return self.request(query, negotiation.terms.shortened(repeats), url)

        named = with_model_names(error, negotiation.asker, self._probed.get(url, Probed()).names)
        try:
            await negotiation.settle(named, again() if error.sent is None else error.sent, again)
        finally:
            self._keep_terms()

    def _shapes(self) -> list[tuple[str, int | None, bool]]:
        return [
            (negotiation.terms.limit, negotiation.terms.most, negotiation.terms.responses)
            for negotiation in self._negotiations.values()
        ]

    def _keep_terms(self) -> None:
        if self._kept == self._shapes():
            return
        self._kept = self._shapes()
        save_terms(
            self._settings.terms_file, self.model, (negotiation.terms for negotiation in self._negotiations.values())
        )
        self._tell_capabilities()

    def _tell_capabilities(self) -> None:
        limits = [negotiation.terms.most for negotiation in self._negotiations.values()]
        most = None if None in limits else max(limit for limit in limits if limit is not None)
        self.capabilities = Capabilities(most, structured=self.capabilities.structured)

    @property
    def notices(self) -> list[str]:
        """Notes on servers that failed and on settings that they refused."""
        return [
            *self.servers.notices,
            *(note for negotiation in self._negotiations.values() for note in negotiation.terms.notes),
        ]

    async def _post(self, url: str, query: Request, repeats: Sequence[int]) -> bytes:
        try:
            body = await self._send(url, query, repeats)
        except BackendError as error:
            self.servers.failed(url, error)
            raise
        self.servers.answered(url)
        return body

    async def _send(self, url: str, query: Request, repeats: Sequence[int]) -> bytes:
        dialect = self.dialect(url)
        route = endpoint(url, dialect.route(self.model))
        sent = self.request(query, repeats, url)
        try:
            reply = await self.credentials.post(self._client(), url, route, orjson.dumps(dialect.wire(sent)))
            try:
                body = await read_body(reply)
            finally:
                reply.release()
        except TimeoutError:
            raise timed_out(url, self._settings.attempt_timeout) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, url) from error
        tell_limits(self.on_limits, reply.headers)
        if reply.status != 200:
            raise refusal_by(self._negotiations[url].asker, reply.status, reply.headers, body, sent)
        return self.credentials.clean(body)

    def _asker(self, url: str, dialect: Dialect) -> Asker:
        return Asker(self._client, url, self.model, dialect)

    def _negotiation(self, url: str) -> Negotiation:
        terms = load_terms(self._settings.terms_file, url, self.model)
        if self._dialect is not CHAT:
            terms.responses = False
        dialect = RESPONSES if terms.responses else self._dialect
        terms.one_limit = dialect.limit is not None
        if dialect.one_answer:
            terms.most = 1
        return Negotiation(self._asker(url, dialect), terms)

    def dialect(self, url: str | None = None) -> Dialect:
        """API format used for the server at `url`; without `url`, for the first server."""
        return self._negotiations[url or self.servers.urls[0]].asker.dialect

    @property
    def route(self) -> str:
        """The route below base_url to which requests to the first server go."""
        return self.dialect().route(self.model)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def payload(self, query: Request, repeats: Sequence[int]) -> dict[str, Any]:
        """JSON body of the request, exactly as sent to the first server."""
        return self.dialect().wire(self.request(query, repeats))

    def request(self, query: Request, repeats: Sequence[int], url: str | None = None) -> dict[str, Any]:
        """The request under OpenAI's names, whatever the server's format: refused settings are negotiated under
        these."""
        terms = self._negotiations[url or self.servers.urls[0]].terms
        chat = self.dialect(url).chat
        generation = query.generation
        body: dict[str, Any] = {"model": self.model, **self._extra}
        if chat:
            body["messages"] = [{"role": m.role, "content": m.content} for m in query.messages]
        else:
            body["prompt"] = joined(query.messages)
        if generation.temperature is not None:
            body["temperature"] = generation.temperature
        if generation.top_p is not None:
            body["top_p"] = generation.top_p
        if generation.max_tokens is not None:
            body[terms.limit if chat else "max_tokens"] = generation.max_tokens
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
            body |= {"logprobs": True, "top_logprobs": most} if chat else {"logprobs": most}
        return body

    def name_max_tokens(self, name: str) -> None:
        """Name the chat route's answer length setting where no server can be asked (e.g. batch files)."""
        for negotiation in self._negotiations.values():
            negotiation.terms.limit = name

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = connect(self.servers.urls[0], self.credentials, self._settings.attempt_timeout)
        return self._session


def require_logprobs(responses: Sequence[Response], query: Request, server: str) -> None:
    """Raise BackendError if ratings need log-probabilities and an answer with text has none."""
    if query.scoring == "logprobs" and any(response.text and not response.logprobs for response in responses):
        raise BackendError(
            f"{server}: the server gave no log-probabilities, and the run takes its ratings from them",
            kind="capability",
            retryable=False,
            hint="take a server that gives them (vLLM, OpenAI chat models), or scoring: text in a run of its own",
        )
