"""Follows the steering of one session: pauses its requests, lets them go on, changes how many are in flight and what
they may cost, ends it, and asks failed repeats again."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from judge.asking.execution.sending.runner import Run
from judge.asking.execution.sending.schedule import Work
from judge.asking.execution.sending.stopping import Account, Budget
from judge.asking.run_folder.steering import Steering, read_steering
from judge.base.errors import RunFolderError

# Seconds between two looks at the file.
EVERY = 0.25

# Why a session ended that was stopped by its steering.
STOPPED = "by judge status"


@dataclass(slots=True)
class Lookout:
    """What is wanted of a session, as last read from the file in `folder`."""

    folder: Path
    wanted: Steering = field(default_factory=Steering, init=False)
    _complaint: str = field(default="", init=False)

    def look(self) -> bool:
        """Read the file; whether it says something new. One that is none changes nothing: a run that is paid for goes
        on as it was."""
        try:
            found = read_steering(self.folder)
        except RunFolderError as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                sys.stderr.write(f"{self._complaint}; the run goes on as before\n")
            return False
        changed = found != self.wanted
        self.wanted = found
        return changed

    def tell(self) -> None:
        """Say what differs from the run's definition, if anything does."""
        if self.wanted.words:
            sys.stderr.write(f"{self.folder}: {self.wanted.words}, as was set by judge status\n")

    @property
    def paused(self) -> bool:
        return self.wanted.send == "pause"


@dataclass(slots=True)
class Helm(Lookout):
    """The steering of the session of one judge. `folder` holds the file. `budget_of` makes the run's own budget of so
    many dollars; None where answers cost nothing. `changed` is told after each change."""

    account: Account
    own: Budget | None
    budget_of: Callable[[float], Budget] | None
    changed: Callable[[], None]
    _again: int | None = None

    async def may_begin(self) -> bool:
        """Wait while the run is paused; False where it was stopped. Requests are sent only after that."""
        self.look()
        self._again = self.wanted.again
        self.tell()
        while self.paused:
            await asyncio.sleep(EVERY)
            self.look()
        await self._pay()
        return self.wanted.send != "stop"

    @contextlib.asynccontextmanager
    async def at(self, run: Run) -> AsyncIterator[None]:
        """Context manager inside which the run is steered."""
        self._turn(run)
        task = asyncio.create_task(self._follow(run))
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def asked_again(self, failed: Callable[[], Iterator[list[Work]]]) -> Iterator[list[Work]]:
        """Failed repeats, whenever they were asked for since the session began: to be drawn after the plan's end."""
        while self._again is not None and self._again < self.wanted.again:
            self._again = self.wanted.again
            yield from failed()

    async def _follow(self, run: Run) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if self.look():
                await self._pay()
                self._turn(run)
                self.changed()

    async def _pay(self) -> None:
        most = self.wanted.max_cost
        if most is None or self.budget_of is None:
            return
        wanted = self.budget_of(most)
        if self.own is None:
            self.own = wanted
            self.account.charge(wanted)
        else:
            await self.own.become(wanted)

    def _turn(self, run: Run) -> None:
        run.hold(paused=self.paused)
        run.narrow(self.wanted.connections)
        if self.wanted.send == "stop":
            run.stop(STOPPED)
