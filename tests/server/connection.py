"""HTTP/1.1 over one socket: cuts requests out of the stream and writes replies. Never looks into a body."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Protocol

_STATUS_LINES = {int(each): f"HTTP/1.1 {int(each)} {each.phrase}\r\n".encode() for each in HTTPStatus}
_JSON = b"content-type: application/json\r\ncontent-length: "


class Handler(Protocol):
    """What answers requests. Every request is followed by exactly one reply or close on its connection."""

    def handle(self, connection: Connection, head: bytes, body: bytes) -> None:
        """Answer now, or later by the connection's methods."""
        ...

    def gone(self, connection: Connection) -> None:
        """The client went away while its request was waiting."""
        ...


class Connection(asyncio.Protocol):
    """One client connection. Requests that arrive ahead of an answer wait, so pipelined answers keep their order."""

    __slots__ = ("_buffer", "_handler", "_running", "_transport", "_wants_close", "busy", "used")

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._buffer = b""
        self._running = False
        self._wants_close = False
        self.busy = False
        self.used = False  # set by the handler once a request that counts has come this way

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Called by asyncio."""
        self._buffer = b""
        if self.busy:
            self.busy = False
            self._handler.gone(self)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        self._buffer = self._buffer + data if self._buffer else data
        self._advance()

    def reply(self, status: int, body: bytes, extra: bytes = b"", *, declared: int | None = None) -> None:
        """Send a JSON reply. `declared` is the content length to claim where it is not the body's."""
        size = str(len(body) if declared is None else declared).encode()
        self._transport.write(b"".join((_STATUS_LINES[status], extra, _JSON, size, b"\r\n\r\n", body)))
        self.busy = False
        if self._wants_close or declared is not None:
            self.close()
        elif self._buffer:
            self._advance()

    def close(self) -> None:
        """Close after what is written has gone out."""
        self.busy = False
        self._buffer = b""
        self._transport.close()

    def _advance(self) -> None:
        """Hand over requests one at a time until one has to wait or the stream runs dry."""
        if self._running:  # a reply given inside handle(): the loop below goes on by itself
            return
        self._running = True
        try:
            while self._buffer and not self.busy:
                taken = self._take()
                if taken is None:
                    return
                self.busy = True
                self._handler.handle(self, *taken)
        finally:
            self._running = False

    def _take(self) -> tuple[bytes, bytes] | None:
        """Cut one whole request (head, body) off the buffer, or None while it is not complete."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self._buffer[:end]
        fields = head.lower()
        start = end + 4
        body: bytes | None = b""
        place = fields.find(b"\r\ncontent-length:")
        if place >= 0:
            size = int(fields[place + 17 :].split(b"\r\n", 1)[0])
            body, stop = self._buffer[start : start + size], start + size
            if len(body) < size:
                body = None
        elif b"\r\ntransfer-encoding: chunked" in fields:
            body, stop = _unchunk(self._buffer, start)
        else:
            stop = start
        if body is None:
            if b"\r\nexpect: 100-continue" in fields and len(self._buffer) == start:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        self._buffer = self._buffer[stop:]
        self._wants_close = b"\r\nconnection: close" in fields
        return head, body


def _unchunk(buffer: bytes, place: int) -> tuple[bytes | None, int]:
    """Decode a chunked body from `place` on: (body, end), or (None, place) while it is not complete."""
    parts = []
    while True:
        line_end = buffer.find(b"\r\n", place)
        if line_end < 0:
            return None, place
        size = int(buffer[place:line_end].split(b";")[0], 16)
        place = line_end + 2
        if len(buffer) < place + size + 2:
            return None, place
        parts.append(buffer[place : place + size])
        place += size + 2
        if size == 0:
            return b"".join(parts), place
