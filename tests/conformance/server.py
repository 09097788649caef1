"""Serves imitations over a loopback socket, in a thread of the test's process. Every story is rated 4."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.conformance.providers import FLAGGED, Imitation, Reply

KEY = "sk-conformance"


class Listening:
    """A server on loopback, in a thread of the test's process. What is served are the routes of a subclass."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.run(self._listen())

    def _routes(self, app: web.Application) -> None:
        """Add what is served."""
        raise NotImplementedError

    async def _listen(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**26)
        self._routes(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()


class Imitated(Listening):
    """One imitation, listening. What decides about faults may be changed while it runs.

    `out_of_credit_after` so many answers the account is used up; `lenient` lets no moderation flag a story; the
    `failing_requests` are answered with an error of the server.
    """

    def __init__(self, imitation: Imitation) -> None:
        super().__init__()
        self.imitation = imitation
        self.out_of_credit_after = math.inf
        self.lenient = False
        self.failing_requests: frozenset[int] = frozenset()
        self._requests = itertools.count(1)

    @property
    def base_url(self) -> str:
        """As it stands in run.yaml."""
        query = f"?{self.imitation.query}" if self.imitation.query else ""
        return f"http://127.0.0.1:{self.port}{self.imitation.path}{query}"

    def _routes(self, app: web.Application) -> None:
        app.router.add_get(f"{self.imitation.path}/models", self._models)
        app.router.add_post(f"{self.imitation.path}/chat/completions", self._chat)

    def _stranger(self, request: web.Request) -> web.Response | None:
        """The refusal of a request without the key, or without the query."""
        if self.imitation.query and request.query_string != self.imitation.query:
            return _sent((404, {}, {"error": {"code": "404", "message": "Resource not found"}}))
        given = (request.headers.get("Authorization"), request.headers.get("api-key"))
        if self.imitation.needs_key and f"Bearer {KEY}" not in given and KEY not in given:
            return _sent((401, {}, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}))
        return None

    async def _models(self, request: web.Request) -> web.Response:
        self.counts["models"] += 1
        told = self.imitation
        if (stranger := self._stranger(request)) is not None:
            return stranger
        if told.models_refusal is not None or told.listed is None:
            return _sent(told.models_refusal or (404, {}, {"error": {"code": "404", "message": "Resource not found"}}))
        entries = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in told.listed]
        return web.json_response(entries if told.bare_list else {"object": "list", "data": entries})

    async def _chat(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        if (stranger := self._stranger(request)) is not None:
            return stranger
        refusal = self._refusal(body)
        if refusal is not None:
            self.counts["refused"] += 1
            return _sent(refusal)
        number = next(self._requests)
        failed = await self._fault(number, json.dumps(body["messages"]))
        return failed if failed is not None else self._answer(body)

    def _refusal(self, body: dict[str, Any]) -> Reply | None:
        for refused in self.imitation.refuses:
            if refused.name in body and refused.when(body[refused.name]):
                return refused.reply(refused.name, body[refused.name])
        return None

    async def _fault(self, number: int, story: str) -> web.Response | None:
        told = self.imitation
        if number in self.failing_requests:
            return _sent((500, {}, {"error": {"message": "The server had an error", "type": "server_error"}}))
        first, seconds, loading = told.loading
        if number <= first:
            await asyncio.sleep(seconds)
            if loading is not None:
                return _sent(loading)
        if told.broke is not None and self.counts["answered"] >= self.out_of_credit_after:
            return _sent(told.broke)
        if told.limit is not None and number % told.limit[0] == 0:
            return _sent(told.limit[1])
        if told.moderation is not None and FLAGGED in story and not self.lenient:
            return _sent(told.moderation)
        if told.inside is not None and number % told.inside[0] == 0:
            return web.json_response(told.inside[1])
        return None

    def _answer(self, body: dict[str, Any]) -> web.Response:
        told = self.imitation
        self.counts["answered"] += 1
        count = 1 if "n" in told.ignores else body.get("n", 1)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": "Rating: 4", **told.message}}
        if body.get("logprobs") and "logprobs" not in told.ignores:
            top = [{"token": str(rating), "logprob": -0.1 - rating, "bytes": None} for rating in range(1, 6)]
            tokens = [{"token": "4", "logprob": -0.1, "bytes": None, "top_logprobs": top}]
            choice |= {"logprobs": {"content": tokens}}
            choice["message"]["content"] = "4"
        choices = [choice | {"index": place, "finish_reason": "stop"} for place in range(count)]
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return web.json_response({"id": "x", "model": body["model"], "choices": choices, "usage": usage})


def _sent(reply: Reply) -> web.Response:
    status, headers, body = reply
    return web.json_response(body, status=status, headers=headers)
