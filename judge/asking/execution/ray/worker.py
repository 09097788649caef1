"""Worker of a run on Ray with an HTTP judge: an actor that takes a block, sends its queries and writes the answers to
shards.

The client, rate limiter, retries, circuit breaker and order of queries are those of a run on one machine. Only the
answers go into Parquet shards instead of the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.asking.execution.ray import blocks
from judge.asking.execution.ray.shards import ShardWriter, settled_in
from judge.asking.execution.sending.form_watch import FormWatch
from judge.asking.execution.sending.runner import Outcomes, Run, split_calls
from judge.asking.execution.sending.schedule import Work
from judge.backends import Backend, Settings, open_backend
from judge.base.errors import BackendError
from judge.version import __version__

_LOOK = 1.0
"""Seconds between looks whether the driver wants everybody to end early."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a Ray worker needs to know about the run: the judge, its settings, the largest number of attempts per
    request (`max_attempts`), and the `folder` for shards (the files to which it writes answers). `judge_key` identifies
    the judge in the shards, and `version` is the program's version, which must be the same on every node.
    """

    judge: str
    judge_key: str
    settings: Settings
    max_attempts: int
    folder: Path
    version: str = __version__


class Asker:
    """Callable that sends queries in a Ray worker. Each worker has one such object and calls it for each batch of
    tickets; a ticket gives the right to one block of queries.

    `feed` is the handle of the `Feed` actor, which hands out the blocks.
    """

    def __init__(self, task: Task, feed: Any) -> None:
        self._task = task
        self._feed = feed
        self._loop = asyncio.new_event_loop()
        self._backend: Backend | None = None
        self._form = FormWatch(task.judge, task.settings.base_url)

    def __call__(self, tickets: dict[str, Any]) -> dict[str, list[Any]]:
        """Send the block of queries that belongs to each ticket; the answers are written to shards (Parquet files).
        Returns lists with one entry for each ticket: the ticket, the number of retries, why the worker stopped ("" = it
        did not), and the kind and hint of the error that stopped it.
        """
        rows = [self._loop.run_until_complete(self._ticket(int(ticket))) for ticket in tickets["ticket"]]
        return {key: [row[key] for row in rows] for key in rows[0]}

    async def _ticket(self, ticket: int) -> dict[str, Any]:
        wrong = self._wrong()
        if wrong is not None:
            await self._feed.stop.remote()
            return _row(ticket, Outcomes(stopped=wrong))
        data = await self._feed.get.remote(ticket)
        if not data:
            return _row(ticket, Outcomes())
        outcomes = await self._ask(ticket, blocks.decode(data))
        if outcomes.cause is not None:
            # What stops one worker would stop all: nobody is to go through the whole plan with it.
            await self._feed.stop.remote()
        await self._feed.done.remote(ticket)
        return _row(ticket, outcomes)

    def _wrong(self) -> str | None:
        if self._task.version != __version__:
            return f"a node has storyjudge {__version__} and the driver {self._task.version}: install the same on both"
        if not self._task.folder.is_dir():
            return f"a node does not see {self._task.folder}: the run must lie on storage that all nodes share"
        return None

    async def _ask(self, ticket: int, groups: list[blocks.Group]) -> Outcomes:
        task = self._task
        backend = await self._opened()
        name = f"{ticket:07d}"
        # A worker that had this block before and was killed may have written some of it.
        settled = settled_in(task.folder, name, task.judge_key)
        writer = ShardWriter(task.folder, name, task.judge_key)
        run = Run(
            backend,
            writer,
            concurrency=task.settings.concurrency,
            max_attempts=task.max_attempts,
            form=self._form,
        )
        watching = asyncio.create_task(self._watch(run))
        try:
            return await run.ask(split_calls(_works(groups, settled), backend))
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _opened(self) -> Backend:
        if self._backend is None:
            self._backend = open_backend(self._task.judge, self._task.settings)
            # The driver has probed already; here it tells which servers this node can reach and how they are spoken to.
            with contextlib.suppress(BackendError):
                await self._backend.probe()
        return self._backend

    async def _watch(self, run: Run) -> None:
        while not await self._feed.stopped.remote():  # noqa: ASYNC110  the event is in another process
            await asyncio.sleep(_LOOK)
        run.stop("the driver asked to end")


def _works(groups: list[blocks.Group], settled: set[tuple[str, int]]) -> Iterator[list[Work]]:
    for group in groups:
        left = ((query, tuple(r for r in repeats if (query.key, r) not in settled)) for query, repeats in group)
        yield [Work(query, repeats) for query, repeats in left if repeats]


def _row(ticket: int, outcomes: Outcomes) -> dict[str, Any]:
    cause = outcomes.cause
    return {
        "ticket": ticket,
        "retries": outcomes.retries,
        "stopped": outcomes.stopped or "",
        "kind": "" if cause is None else cause.kind,
        "hint": (cause.hint if cause is not None else None) or "",
    }
