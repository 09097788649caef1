"""The first query of a plan is sent alone, so that a refusal by the server is known before other queries are sent.

It is not an additional query: its answer is the first one of the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from judge.asking.execution.sending.retry import FATAL
from judge.asking.execution.sending.schedule import Work
from judge.backends import Backend
from judge.backends.protocol import Rehearsing
from judge.base.errors import BackendError
from judge.base.records import Request, Response


@dataclass(slots=True)
class Early:
    """The call for the plan's first query, which is sent before all others; it is answered or still in flight.

    `repeats` are the query's repeats that the call requests, and `tokens` is its estimated number of tokens. The holder
    of this object must await or abandon the call. If the back-end is closed first, the call ends with an error.
    `started` and `clock` are the time of sending, in seconds since 1970 and by `time.perf_counter`.
    """

    query: Request
    repeats: tuple[int, ...]
    call: asyncio.Task[list[Response]]
    tokens: float = 0.0
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)

    def fits(self, work: Work) -> bool:
        """Whether the call that was sent before all others includes the query and all repeats of this work."""
        return work.query.key == self.query.key and work.repeats == self.repeats[: len(work.repeats)]

    async def abandon(self) -> None:
        """Cancel the call that was sent before all others, and ignore its error."""
        self.call.cancel()
        with contextlib.suppress(asyncio.CancelledError, BackendError):
            await self.call


async def rehearse(backend: Backend, work: Work | None) -> Early | None:
    """Send the plan's first call, and wait for its answer for the time that the back-end specifies. Returns the call,
    which may still be in flight.

    Raises the server's refusals that would affect every query and, for some back-ends, an error if no answer arrives in
    time. Returns None where there is nothing to send, or where the back-end uses no server.
    """
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
    """The plan's first work item (None for an empty plan), and an iterator over the complete plan."""
    for group in groups:
        if group:
            return group[0], chain([group], groups)
    return None, iter(())
