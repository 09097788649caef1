"""Limit on the number of requests in flight: at most the configured number, fewer while the server is overloaded."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

SHRINK = 0.7
"""Factor by which pressure (429, 503, timeouts) lowers the limit, at most once a second."""


class Limiter:
    """Limit on concurrent requests by additive increase and multiplicative decrease, as in TCP. It grows by 1 after
    each `limit` answers, and is multiplied by 0.7 when the server is overloaded.
    """

    def __init__(self, declared: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.declared = declared
        self.limit = float(declared)
        self.in_flight = 0
        self._clock = clock
        self._last_shrink = float("-inf")
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait until another request may be in flight."""
        while self.in_flight >= max(1, int(self.limit)):
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()
                raise
        self.in_flight += 1

    def release(self) -> None:
        """Record that a request has finished, and let a waiting one start."""
        self.in_flight -= 1
        self._wake()

    def answered(self) -> None:
        """Record an answer: raise the limit slightly."""
        if self.limit < self.declared:
            self.limit = min(float(self.declared), self.limit + 1 / self.limit)
            self._wake()

    def pressed(self) -> None:
        """Record that the server is overloaded: lower the limit, at most once a second."""
        now = self._clock()
        if now - self._last_shrink >= 1.0:
            self._last_shrink = now
            self.limit = max(1.0, self.limit * SHRINK)

    def _wake(self) -> None:
        while self._waiters and self.in_flight < max(1, int(self.limit)):
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
