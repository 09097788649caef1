"""Access control of local pages: allowed hosts, a key for readers on other machines, a token for writes. Another site's
page can make a browser send requests to this machine. They are refused: their Host header names another host (one whose
DNS entry was pointed here) or, for a write, they lack the token of this server's pages."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_HEADER = "x-judge-token"  # noqa: S105  a header's name
# A refused body is read up to here, so that its sender sees the refusal; a longer one is cut off.
_READ_OFF = 1 << 20
# In which a request's body must have come: an answer is small, and a sender who drips it holds up the others.
BODY_SECONDS = 60.0
_READS = frozenset({"GET", "HEAD"})
_HEADERS = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        b"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Access rules of a server; every page contains `token`, and every write must send it. On loopback `key` is None,
    and the Host header must be a loopback name. Elsewhere readers need the key once in the address (`?key=`); a cookie
    then stores it."""

    key: str | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the key's cookie. Browsers share cookies among the ports of a host, so each key has its own."""
        return f"judge_key_{hashlib.sha256((self.key or '').encode()).hexdigest()[:16]}"


def access_for(host: str, key: str | None = None) -> Access:
    """Rules for `host`: no key on loopback, otherwise `key` or a new one."""
    return Access(None if host in LOOPBACK else key or new_key())


def new_key() -> str:
    """A new random access key for readers on other machines."""
    return secrets.token_urlsafe(16)


class Guard:
    """Middleware that enforces `Access`, and adds headers that isolate a page from other sites."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        timely = _Timely(receive)
        refusal = self._refusal(scope["method"], headers, query)
        if refusal is not None:
            with suppress(TimeoutError):
                await _read_off(timely)
            await _plain(send, *refusal)
            return
        fresh = self.access.key is not None and "key" in query and self._has_key(headers, query)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(name, value) for name, value in _HEADERS.items() if name not in present]
                if fresh:
                    cookie = f"{self.access.cookie}={self.access.key}; Path=/; HttpOnly; SameSite=Strict"
                    extra.append((b"set-cookie", cookie.encode("ascii")))
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await self.app(scope, timely, with_headers)

    def _refusal(self, method: str, headers: dict[str, str], query: dict[str, list[str]]) -> tuple[int, str] | None:
        """HTTP status and sentence; None for an allowed request."""
        if self.access.key is None and _name(headers.get("host", "")) not in LOOPBACK:
            return 421, "This server answers to 127.0.0.1 and localhost only.\n"
        if self.access.key is not None and not self._has_key(headers, query):
            return 403, "This page needs its key: open the address that the server printed when it started.\n"
        if method in _READS:
            return None
        given = headers.get(TOKEN_HEADER) or (query.get("token") or [""])[0]
        if not secrets.compare_digest(given.encode(), self.access.token.encode()):
            return 403, "This write did not come from a page of this server. Load the page again.\n"
        return None

    def _has_key(self, headers: dict[str, str], query: dict[str, list[str]]) -> bool:
        cookie = _cookies(headers.get("cookie", "")).get(self.access.cookie)
        given = (query.get("key") or [cookie or ""])[0]
        return secrets.compare_digest(given.encode(), (self.access.key or "").encode())


class _Timely:
    """Raises TimeoutError where the body takes longer than `BODY_SECONDS`."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._until = time.monotonic() + BODY_SECONDS
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes after the body is that the reader has gone, which has no time
            return await self._receive()
        message = await asyncio.wait_for(self._receive(), max(0.0, self._until - time.monotonic()))
        self._whole = message["type"] != "http.request" or not message.get("more_body")
        return message


def _cookies(header: str) -> dict[str, str]:
    # `http.cookies` discards all cookies if it cannot parse one.
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs}


def _name(host: str) -> str:
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name.casefold() if port.startswith(":") or not port else ""
    return host.partition(":")[0].casefold()


async def _read_off(receive: Receive) -> None:
    # If the connection were closed with unread bytes, the client might not receive the answer.
    left = _READ_OFF
    while left > 0:
        message = await receive()
        if message["type"] != "http.request" or not message.get("more_body"):
            return
        left -= len(message.get("body", b""))


async def _plain(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
