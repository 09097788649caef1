"""Chooses a server for each query of a run that names several. A server that failed is tried again later.

Queries that share a prefix (a group) go to the same server, so that its prefix cache can be used. The server is chosen
by rendezvous hashing (Thaler & Ravishankar 1998) of the group's name, so that when a server fails, only the groups of
this server move to others. A server that fails several times in a row is not used for a while and then tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from judge.base.errors import BackendError
from judge.base.fingerprint import digest

DEAD_AFTER = 3
"""Failures in a row after which a server counts as dead."""

REST = 30.0
"""Seconds until a dead server is tried again."""

_SERVER_KINDS = frozenset({"connection", "address", "timeout", "server", "overload"})
"""Errors that speak of the server, not of the query."""


class Servers:
    """The servers of one run. `notices` holds sentences on which servers are not used any more, and which are used
    again.
    """

    def __init__(self, urls: Sequence[str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.urls = tuple(urls)
        self.notices: list[str] = []
        self._clock = clock
        self._failures = dict.fromkeys(self.urls, 0)
        self._dead_until: dict[str, float] = {}

    def choose(self, group: str) -> str:
        """The server for a group of queries that share a prefix, chosen among the servers that work. If none works, the
        choice is made among all.
        """
        if len(self.urls) == 1:
            return self.urls[0]
        now = self._clock()
        living = [url for url in self.urls if self._dead_until.get(url, 0.0) <= now] or list(self.urls)
        return max(living, key=lambda url: _rank(url, group))

    def answered(self, url: str) -> None:
        """Record that the server answered, so that it counts as working."""
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
        """Exclude a server that does not answer before the first query, and return True. Returns False, and keeps the
        server, if the error was not caused by the server or if no other server is left.
        """
        others = [other for other in self.urls if other != url and other not in self._dead_until]
        if error.kind not in _SERVER_KINDS or not others:
            return False
        self.notices.append(f"{url} does not answer ({error}): {len(others)} servers go on without it")
        self._failures[url] = DEAD_AFTER
        self._dead_until[url] = self._clock() + REST
        return True


def _rank(url: str, group: str) -> bytes:
    return digest(f"{url}\0{group}", 8)
