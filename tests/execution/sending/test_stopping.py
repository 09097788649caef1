"""Stopping a run whose back-end has a queue of its own: what is being answered is kept, what waits is left."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from judge.asking.execution.sending.runner import Outcomes, Run
from judge.asking.execution.sending.schedule import Work
from judge.backends import Capabilities
from judge.base.errors import BackendError
from judge.base.records import Request, Response
from tests.execution.sending.test_parts import work


class Queue:
    """A back-end that answers its first call when `may_end` is set. The others wait; at three, `full` is set."""

    capabilities = Capabilities()

    def __init__(self) -> None:
        self.begun = False
        self.waiting: list[asyncio.Future[list[Response]]] = []
        self.full, self.may_end = asyncio.Event(), asyncio.Event()

    async def probe(self) -> Mapping[str, Any]:
        return {}

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:  # noqa: ARG002
        if self.begun:
            self.waiting.append(asyncio.get_running_loop().create_future())
            if len(self.waiting) == 3:
                self.full.set()
            return await self.waiting[-1]
        self.begun = True
        await self.may_end.wait()
        return [Response("Rating: 4") for _ in repeats]

    def leave_waiting(self) -> None:
        for place in self.waiting:
            place.cancel()

    async def close(self) -> None: ...


class Kept:
    """What the run keeps of its attempts."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.failures: list[str] = []
        self.ended: str | None = None

    def start(self) -> None: ...

    async def room(self) -> None: ...

    def answered(self, query: Request, *_: object, **__: object) -> None:
        self.answers.append(query.key)

    def failed(self, query: Request, *_: object, **__: object) -> None:
        self.failures.append(query.key)

    async def finish(self, ended: str) -> None:
        self.ended = ended


async def stopped_run(times: int) -> tuple[Outcomes, Kept]:
    """A run of ten queries that is stopped while the first is being answered; twice: it is abandoned."""
    backend, kept = Queue(), Kept()
    run = Run(backend, kept, concurrency=4, max_attempts=3)
    groups: list[list[Work]] = [[work(f"q{n}")] for n in range(10)]
    asking = asyncio.create_task(run.ask(iter(groups)))
    await asyncio.wait_for(backend.full.wait(), 30)
    run.stop("interrupted")
    if times == 2:
        run.abandon()
    else:
        backend.may_end.set()
    return await asyncio.wait_for(asking, 30), kept


def test_a_stopped_run_keeps_what_is_being_answered_and_leaves_what_waits() -> None:
    outcomes, kept = asyncio.run(stopped_run(1))
    assert kept.answers == ["q0"]
    assert (outcomes.answered, outcomes.failed, kept.failures) == (1, 0, [])
    assert (outcomes.stopped, kept.ended) == ("interrupted", "stopped: interrupted")


def test_an_abandoned_run_waits_for_nothing() -> None:
    outcomes, kept = asyncio.run(stopped_run(2))
    assert (kept.answers, kept.failures, outcomes.answered) == ([], [], 0)
    assert kept.ended == "stopped: interrupted"


def test_a_call_that_is_cancelled_without_a_stop_is_no_silent_loss() -> None:
    """A back-end that cancels a call of its own accord ends the run with an error, and not as if it were done."""

    class Cancelling(Queue):
        async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:  # noqa: ARG002
            raise asyncio.CancelledError

    async def once() -> Outcomes:
        run = Run(Cancelling(), Kept(), concurrency=1, max_attempts=1)
        return await asyncio.wait_for(run.ask(iter([[work("q0")]])), 30)

    with pytest.raises((asyncio.CancelledError, BackendError)):
        asyncio.run(once())
