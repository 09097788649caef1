"""A connection of uvicorn that is closed where the headers of a request do not come in time."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

# In which the headers of a request must have come, from the connection's start or its last answer's next byte.
HEAD_SECONDS = 30.0


class Punctual(H11Protocol):
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on; the timeout keeps running unless they complete a request's headers."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._waiting is not None:
            self._waiting.cancel()

    def _asks_nothing(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _wait(self) -> None:
        if not self._asks_nothing():
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
        elif self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._let_go)

    def _let_go(self) -> None:
        self._waiting = None
        if self._asks_nothing():
            self.transport.close()
