"""Order of requests: first the leader of each prefix group (prompts with the same beginning), then the group's other
queries, and retries when they are due.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from judge.base.records import Request


@dataclass(slots=True, eq=False)
class Work:
    """Repeats of one query that are to be requested, with the number of attempts so far. `followers` is the work that
    waits until this query is answered.
    """

    query: Request
    repeats: tuple[int, ...]
    attempts: int = 0
    followers: list[Work] | None = None


class Schedule:
    """Scheduler of requests.

    A group's first query is sent alone, so that the server's prefix cache holds the common prefix when the others
    follow. Groups are taken from the plan only when needed; at most `pending` queries wait at a time. While `sleeping`
    retries are waiting, no new query is sent, so that an overloaded server does not receive the whole plan.

    `lead` is a function that returns the leaders of a group, each with its followers. Followers wait until their leader
    has an answer, also during the leader's retries. If the leader is given up, its first follower becomes the leader.
    """

    def __init__(
        self,
        groups: Iterator[list[Work]],
        *,
        pending: int,
        sleeping: int,
        lead: Callable[[list[Work]], list[Work]] | None = None,
    ) -> None:
        self._groups = groups
        self._lead = lead
        self._pending = pending
        self._most_sleeping = sleeping
        self._ready: deque[Work] = deque()
        self._held = 0
        self._out = 0
        self._sleeping = 0
        self._exhausted = False
        self._stopped = False
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def next(self) -> Work | None:
        """The next work to send, waiting if necessary; None when nothing is left or the schedule was stopped."""
        while True:
            if self._stopped:
                return None
            work = None
            if self._sleeping < self._most_sleeping:
                work = self._ready.popleft() if self._ready else self._pull()
            if work is not None:
                self._out += 1
                return work
            if self._exhausted and not (self._out or self._sleeping or self._held):
                self._wake_all()
                return None
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def done(self, work: Work, *, answered: bool = True) -> None:
        """Mark the work as answered or given up, and release its followers (the work that waits for it).

        If it was given up and the schedule has leaders (`lead`), the first follower becomes the leader of the others.
        """
        self._out -= 1
        if not answered and self._lead is not None and work.followers:
            self._follow_the_next(work.followers)
        else:
            self._release(work)
        if not self._ready and self._exhausted and not (self._out or self._sleeping or self._held):
            self._wake_all()

    def later(self, work: Work, delay: float) -> None:
        """Retry the work after `delay` seconds. Other work goes on. If the schedule has leaders (`lead`), the followers
        of this work still wait for its answer; otherwise they are released.
        """
        self._out -= 1
        if self._lead is None:
            self._release(work)
        self._sleeping += 1
        asyncio.get_running_loop().call_later(delay, self._due, work)

    def add(self, works: Iterable[Work]) -> None:
        """Put work at the front of the queue."""
        for work in works:
            self._ready.appendleft(work)
            self._wake()

    def stop(self) -> None:
        """Hand out no more work."""
        self._stopped = True
        self._wake_all()

    def _pull(self) -> Work | None:
        while not self._exhausted and len(self._ready) + self._held < self._pending:
            group = next(self._groups, None)
            if group is None:
                self._exhausted = True
            elif group and self._lead is not None:
                first, *others = self._lead(group)
                self._held += len(group) - 1 - len(others)
                self._ready.extend(others)
                for _ in others:
                    self._wake()
                return first
            elif group:
                leader, *followers = group
                if followers:
                    leader.followers = followers
                    self._held += len(followers)
                return leader
        return None

    def _follow_the_next(self, followers: list[Work]) -> None:
        """After a leader (a query for whose answer others wait) was given up, let the first of its followers lead the
        others, in addition to that follower's own followers.
        """
        leader, *others = followers
        leader.followers = [*(leader.followers or ()), *others]
        self._held -= 1
        self._ready.append(leader)
        self._wake()

    def _release(self, work: Work) -> None:
        if work.followers:
            self._held -= len(work.followers)
            self._ready.extend(work.followers)
            for _ in work.followers:
                self._wake()
        work.followers = None

    def _due(self, work: Work) -> None:
        self._sleeping -= 1
        # What was asked before goes before what was not.
        self._ready.appendleft(work)
        if self._sleeping == self._most_sleeping - 1:
            self._wake_all()
        else:
            self._wake()

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._waiters:
            self._wake()
