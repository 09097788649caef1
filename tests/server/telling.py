"""An imitation of a provider that keeps a token bucket of requests, refuses what goes beyond it, and may tell of it.

Headers as OpenAI's documentation names them (`x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests`:
"the time until the rate limit resets to its initial state"); a refusal names no delay. Every story is rated 4.
"""

from __future__ import annotations

import asyncio
import threading
import time
from types import TracebackType
from typing import Self

from aiohttp import web


class Telling:
    """One server: at most `most` requests at once, and `per_second` more in each second."""

    def __init__(self, *, most: int, per_second: float, tells: bool) -> None:
        self.answered = 0
        self.refused = 0
        self._most = most
        self._rate = per_second
        self._tells = tells
        self._level = float(most)
        self._at = time.monotonic()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        """As it stands in run.yaml."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _listen(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        entries = [{"id": name, "object": "model"} for name in ("mock", "mock-judge")]
        return web.json_response({"object": "list", "data": entries})

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        now = time.monotonic()
        self._level = min(self._most, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            self.refused += 1
            error = {"message": "Rate limit reached for requests per min (RPM).", "code": "rate_limit_exceeded"}
            return web.json_response({"error": error}, status=429, headers=self._headers())
        self._level -= 1
        headers = self._headers()
        self.answered += 1
        await asyncio.sleep(0.03)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rating: 4"}}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        reply = {"id": "x", "model": body["model"], "choices": [choice], "usage": usage}
        return web.json_response(reply, headers=headers)

    def _headers(self) -> dict[str, str]:
        if not self._tells:
            return {}
        return {
            "x-ratelimit-limit-requests": str(self._most),
            "x-ratelimit-remaining-requests": str(int(self._level)),
            "x-ratelimit-reset-requests": f"{1000 * (self._most - self._level) / self._rate:.0f}ms",
        }
