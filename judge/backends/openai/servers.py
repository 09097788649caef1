"""Choice of the server for each query where a run names several. A server that failed is tried again later.

Queries that share a prefix go to one server, so that its prefix cache is warm: rendezvous hashing (Thaler & Ravishankar
1998) of the group's name, which moves only a lost server's groups. A server that fails to answer several times in a row
is left out for a while, then tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from judge.errors import BackendError
from judge.fingerprint import digest

DEAD_AFTER = 3
"""Failures in a row after which a server counts as dead."""

REST = 30.0
"""Seconds until a dead server is tried again."""

_SERVER_KINDS = frozenset({"connection", "address", "timeout", "server", "overload"})
"""Errors that speak of the server, not of the query."""


class Servers:
    """The servers of one run; `notices` says, in sentences, which were left out and which are used again."""

    def __init__(self, urls: Sequence[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.urls = tuple(urls)
        self.notices: list[str] = []
        self._clock = clock
        self._failures = dict.fromkeys(self.urls, 0)
        self._dead_until: dict[str, float] = {}

    def choose(self, group: str) -> str:
        """The living server that this prefix group is pinned to; when all are dead, the one it would be pinned to."""
        if len(self.urls) == 1:
            return self.urls[0]
        now = self._clock()
        living = [url for url in self.urls if self._dead_until.get(url, 0.0) <= now] or list(self.urls)
        return max(living, key=lambda url: _rank(url, group))

    def answered(self, url: str) -> None:
        """Record that the server answered."""
        self._failures[url] = 0
        if self._dead_until.pop(url, None) is not None:
            self.notices.append(f"{url} answers again and is used again")

    def failed(self, url: str, error: BackendError) -> None:
        """Record a failure of the server; errors caused by the query change nothing."""
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
        """Leave out a server that does not answer before the first query; False where none would be left."""
        others = [other for other in self.urls if other != url and other not in self._dead_until]
        if error.kind not in _SERVER_KINDS or not others:
            return False
        self.notices.append(f"{url} does not answer ({error}): {len(others)} servers go on without it")
        self._failures[url] = DEAD_AFTER
        self._dead_until[url] = self._clock() + REST
        return True


def _rank(url: str, group: str) -> bytes:
    return digest(f"{url}\0{group}", 8)
