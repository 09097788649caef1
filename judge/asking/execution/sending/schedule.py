"""Order of requests: each prefix group's leader, then its other queries, and retries when they are due."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby, pairwise
from typing import Any

from judge.asking.execution.sending.stopping import FATAL
from judge.backends import Backend
from judge.backends.protocol import Rehearsing
from judge.base.errors import BackendError
from judge.base.records import Message, Request, Response


@dataclass(slots=True, eq=False)
class Work:
    """Repeats of one query to request, the attempts so far, and the `followers`, which wait until it is answered."""

    query: Request
    repeats: tuple[int, ...]
    attempts: int = 0
    followers: list[Work] | None = None


class Schedule:
    """Scheduler of requests.

    A group's first query is sent alone, so that the server's prefix cache holds the common prefix for the others. At
    most `pending` queries wait. While `sleeping` retries wait, no new query is sent, to spare an overloaded server.
    `lead` gives a group's leaders; followers wait for the answer, also during retries, and the first replaces a leader
    that is given up."""

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
        """The next work to send, after waiting; None when nothing is left or the schedule was stopped."""
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
        """Mark work as answered or given up, and release its followers; with `lead`, a given-up leader's first follower
        leads the others."""
        self._out -= 1
        if not answered and self._lead is not None and work.followers:
            self._follow_the_next(work.followers)
        else:
            self._release(work)
        if not self._ready and self._exhausted and not (self._out or self._sleeping or self._held):
            self._wake_all()

    def later(self, work: Work, delay: float) -> None:
        """Retry the work after `delay` seconds while other work goes on; with `lead`, its followers still wait."""
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
        # In addition to that follower's own followers.
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


# The first query of a plan is sent alone, so that a refusal by the server is known before other queries are sent.


@dataclass(slots=True)
class Early:
    """The call for the plan's first query, before all others. `tokens` is an estimate; `started` (since 1970) and
    `clock` (`time.perf_counter`) are in seconds. Its holder must await or abandon the call; it fails if the back-end is
    closed first."""

    query: Request
    repeats: tuple[int, ...]
    call: asyncio.Task[list[Response]]
    tokens: float = 0.0
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)

    def fits(self, work: Work) -> bool:
        """Whether the call includes the query and all repeats of this work."""
        return work.query.key == self.query.key and work.repeats == self.repeats[: len(work.repeats)]

    async def abandon(self) -> None:
        """Cancel the call, and ignore its error."""
        self.call.cancel()
        with contextlib.suppress(asyncio.CancelledError, BackendError):
            await self.call


async def rehearse(backend: Backend, work: Work | None) -> Early | None:
    """Send the plan's first call and wait as long as the back-end says; the call may still be in flight. Raises
    refusals that would affect every query and, for some back-ends, if no answer comes in time. None with nothing to
    send or no server."""
    if work is None or not isinstance(backend, Rehearsing):
        return None
    patience = backend.patience(work.query)
    early = Early(work.query, work.repeats, asyncio.create_task(backend.complete(work.query, work.repeats)))
    # Where the sitting fails before anybody awaits the call, its error is of no interest.
    early.call.add_done_callback(lambda call: call.cancelled() or call.exception())
    try:
        done, _ = await asyncio.wait({early.call}, timeout=patience.seconds)
        if not done and backend.settling:
            # Something was refused: until it is settled what, nobody follows.
            done, _ = await asyncio.wait({early.call})
    except asyncio.CancelledError:
        await early.abandon()
        raise
    if not done and patience.silence is not None:
        await early.abandon()
        raise patience.silence
    error = early.call.exception() if done else None
    # An answer that lacks what the run needs is no refusal: one may lack it by accident, the run counts three.
    if isinstance(error, BackendError) and error.kind in FATAL and error.status is not None:
        raise error
    return early


def first_of(groups: Iterator[list[Work]]) -> tuple[Work | None, Iterator[list[Work]]]:
    """The plan's first work (None for an empty plan), and an iterator over the complete plan."""
    for group in groups:
        if group:
            return group[0], chain([group], groups)
    return None, iter(())


# Cache points: positions up to which several prompts are equal, so that a provider can cache this prefix, and the
# order of requests that makes use of the cache.

# Characters that a cache point must add to the one before it: for less, no query waits for another.
LEAST = 40


def with_cache_points(groups: Iterator[list[Work]], most: int) -> Iterator[list[Work]]:
    """The groups with up to `most` cache points per query (`Request.shared`): positions up to which its prompt equals
    another's, so that the provider can cache it. Calls with a common prefix stay adjacent."""
    return (marked(group, most) for group in groups) if most else groups


def marked(group: Sequence[Work], most: int) -> list[Work]:
    """The calls of one group, whose prompts begin alike, with up to `most` cache points per query."""
    marked_works: list[Work] = []
    for alike in _groups_alike(group):
        for work, points in zip(alike, _points(alike, most), strict=True):
            query = replace(work.query, shared=points) if points else work.query
            marked_works.append(Work(query, work.repeats, work.attempts))
    return marked_works


def led(works: Sequence[Work]) -> list[Work]:
    """The calls that may be sent immediately, each with its followers. Among calls that share a cache point, the first
    leads; the same holds among its followers for their next cache point."""
    roots: list[Work] = []
    for alike in _groups_alike(works):
        roots += _led(alike, 0)
    return roots


def _led(works: Sequence[Work], depth: int) -> list[Work]:
    alone = count()

    def prefix(work: Work) -> Any:
        points = work.query.shared
        return _text(work.query)[: points[depth]] if depth < len(points) else next(alone)

    leaders = []
    for _, members in groupby(works, prefix):
        leader, *rest = members
        leader.followers = _led(rest, depth + 1) if rest else None
        leaders.append(leader)
    return leaders


def _groups_alike(group: Sequence[Work]) -> list[list[Work]]:
    # The provider caches the schema as part of the prefix, because it inserts the schema before the prompt.
    shapes: dict[Any, list[Work]] = {}
    for work in group:
        query = work.query
        form: Any = None
        if query.structured != "none":
            scales = tuple((criterion.name, criterion.scale) for criterion in query.criteria) or query.criterion.scale
            form = (query.asks_explanation, scales, query.choices)
        shapes.setdefault((query.api, query.structured, form), []).append(work)
    return list(shapes.values())


def _points(works: Sequence[Work], most: int) -> list[tuple[int, ...]]:
    # `works` are sorted by prompt; cache points are in characters.
    queries = [work.query for work in works]
    shared = [_in_common(query, other) for query, other in pairwise(queries)]
    points_of: list[tuple[int, ...]] = [()] * len(works)
    open_: list[tuple[int, int, tuple[int, ...]]] = [(0, len(works), ())]
    while open_:
        low, high, points = open_.pop()
        alone = high - low == 1
        depth = len(_text(queries[low])) if alone else min(shared[low : high - 1])
        point = depth if alone else _word_end(_text(queries[low]), depth)
        calls = len(works[low].repeats) if alone else 2
        if calls > 1 and point - (points[-1] if points else 0) >= LEAST and len(points) < most:
            points = (*points, point)
        if alone:
            points_of[low] = points
            continue
        start = low
        for end in range(low + 1, high + 1):
            if end == high or shared[end - 1] == depth:
                open_.append((start, end, points))
                start = end
    return points_of


def _in_common(first: Request, other: Request) -> int:
    # In characters, over all their messages.
    total = 0
    for mine, others in zip(first.messages, other.messages, strict=False):
        if mine.role != others.role:
            break
        common = _common(mine, others)
        total += common
        if common < max(len(mine.content), len(others.content)):
            break
    return total


def _common(first: Message, other: Message) -> int:
    low, high = 0, min(len(first.content), len(other.content))
    while low < high:
        middle = (low + high + 1) // 2
        # From what is known to be equal on: each character is compared a few times, not each time.
        if first.content[low:middle] == other.content[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _word_end(text: str, position: int) -> int:
    # Directly after white space, or 0.
    if position == 0 or text[position - 1].isspace():
        return position
    return max(text.rfind(blank, 0, position) + 1 for blank in " \n\t")


def _text(query: Request) -> str:
    return "".join(message.content for message in query.messages)
