"""Sends a plan's requests with concurrent workers, stores every attempt, and ends in good order at Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judge.asking.execution.sending.pace import FormWatch, Pace
from judge.asking.execution.sending.schedule import Early, Schedule, Work, led
from judge.asking.execution.sending.stopping import FATAL, PRESSURE, Account, Breaker, decide
from judge.asking.plan.prices import Price
from judge.backends import Backend
from judge.backends.protocol import Queueing
from judge.backends.refusal_body import TellsLimits
from judge.base.errors import BackendError
from judge.base.printing.text_layout import dollars
from judge.base.records import Request, Response

# Limit on the number of requests in flight: at most the configured number, fewer while the server is overloaded.

# Factor by which pressure (429, 503, timeouts) lowers the limit, at most once a second.
SHRINK = 0.7


class Limiter:
    """Limit on concurrent requests as in TCP: it grows by 1 after each `limit` answers, and is multiplied by 0.7 when
    the server is overloaded."""

    def __init__(self, declared: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.declared = declared
        self.limit = float(declared)
        self.in_flight = 0
        self._clock = clock
        self._last_shrink = float("-inf")
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        while self.in_flight >= max(1, int(self.limit)):
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()
                raise
        self.in_flight += 1

    def release(self) -> None:
        """Record that a request has finished, and let a waiting one start."""
        self.in_flight -= 1
        self._wake()

    def answered(self) -> None:
        """Record an answer: raise the limit slightly."""
        if self.limit < self.declared:
            self.limit = min(float(self.declared), self.limit + 1 / self.limit)
            self._wake()

    def declare(self, most: int) -> None:
        """Let at most so many requests be in flight from now on."""
        self.declared = most
        self.limit = float(most)
        for _ in range(most - self.in_flight):
            self._wake()

    def pressed(self) -> None:
        """Record that the server is overloaded: lower the limit, at most once a second."""
        now = self._clock()
        if now - self._last_shrink >= 1.0:
            self._last_shrink = now
            self.limit = max(1.0, self.limit * SHRINK)

    def _wake(self) -> None:
        while self._waiters and self.in_flight < max(1, int(self.limit)):
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


# Queries waiting for each place in flight, so that prefix groups fill the limit and memory stays flat.
_PENDING = 16

# Rendered requests hold whole stories in memory, so their number is bounded whatever `concurrency` says.
_PENDING_MOST = 4096

# The same where followers read a cache that their leader filled: it forgets after minutes, so few wait at a time.
_PENDING_LED = 4


@dataclass(slots=True)
class Outcomes:
    """Outcome of a session. `failed` repeats were given up; `stopped` says why it ended early, and `cause` is the
    error. `cost` is in dollars, of the `calls` answered. `unpriced` calls have a cost that neither server nor price
    table gives; `implausible` ones a reported cost above what one request can have."""

    answered: int = 0
    failed: int = 0
    retries: int = 0
    cost: float = 0.0
    calls: int = 0
    unpriced: int = 0
    implausible: int = 0
    stopped: str | None = None
    cause: BackendError | None = None

    def spend(self, responses: Sequence[Response], price: Price | None) -> float:
        """Add one call's cost to the total; the cost in dollars, 0 where it is unknown."""
        cost = 0.0
        for response in responses:
            if (reported := response.known_cost) is not None:
                cost += reported
            elif price is not None and response.prompt_tokens is not None:
                cost += price.of(response)
        self.calls, self.cost = self.calls + 1, self.cost + cost
        first = responses[0]
        self.unpriced += first.known_cost is None and (price is None or first.prompt_tokens is None)
        self.implausible += first.cost is not None and first.known_cost is None
        return cost

    @property
    def known_cost(self) -> float | None:
        """The session's cost in dollars; None before the first call, or where any call's is unknown."""
        return self.cost if self.calls and not self.unpriced else None


# Called with each answer as it comes, for display only.
Watcher = Callable[[Request, Response], None]


class Keeper(Protocol):
    """Store of attempts: the journal's writer or, where the journal is on another machine, a writer of shards."""

    def start(self) -> None:
        """Start writing to disk in the background; call inside the event loop."""
        ...

    async def room(self) -> None:
        """Wait while too many attempts are not on disk; raises the error that stopped the background writer."""
        ...

    def answered(self, query: Request, repeat: int, response: Response, *, started: float, seconds: float) -> None:
        """Store an accepted answer. `started` is in seconds since 1970, `seconds` the duration."""
        ...

    def failed(
        self, query: Request, repeat: int, error: BackendError, *, started: float, seconds: float, final: bool
    ) -> None:
        """Store an attempt without an answer. `final`: the repeat was given up."""
        ...

    async def finish(self, ended: str) -> None:
        """Write the remaining attempts to disk. `ended` is the session's outcome."""
        ...


class Run:
    """One session of requests to a judge."""

    def __init__(
        self,
        backend: Backend,
        journal: Keeper,
        *,
        concurrency: int,
        max_attempts: int,
        price: Price | None = None,
        account: Account | None = None,
        pace: Pace | None = None,
        watch: Watcher | None = None,
        form: FormWatch | None = None,
        rng: random.Random | None = None,
        early: Early | None = None,
    ) -> None:
        self.outcomes = Outcomes()
        most = backend.capabilities.max_concurrency
        self._workers = min(concurrency, most) if most else concurrency
        self._limiter = Limiter(self._workers)
        self._breaker = Breaker()
        self._backend = backend
        self._journal = journal
        self._max_attempts = max_attempts
        self._price = price
        self._account = account or Account()
        self._pace = pace or Pace()
        self._watch = watch
        self._form = form
        self._rng = rng or random.Random()
        self._early = early
        self._schedule: Schedule | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._going = asyncio.Event()
        self._going.set()
        if isinstance(backend, TellsLimits):
            backend.on_limits = self._pace.adopt_limits

    @property
    def trouble(self) -> str | None:
        """Why no answers arrive at present; None while answers arrive."""
        return self._breaker.trouble

    @property
    def limit(self) -> int:
        """Number of the run's requests that may currently be in flight."""
        return int(self._limiter.limit)

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def hold(self, *, paused: bool) -> None:
        """Send no requests while `paused`; those in flight are awaited and stored."""
        if paused and self.outcomes.stopped is None:
            self._going.clear()
        else:
            self._going.set()

    def narrow(self, most: int | None) -> None:
        """Keep at most so many requests in flight, and never more than the run was begun with (None)."""
        wanted = min(most or self._workers, self._workers)
        if wanted != self._limiter.declared:
            self._limiter.declare(wanted)

    async def ask(self, groups: Iterator[list[Work]]) -> Outcomes:
        """Send the requests until every repeat is answered or given up, or the run was stopped."""
        lead = led if self._backend.capabilities.cache_points else None
        pending = min(max((_PENDING_LED if lead else _PENDING) * self._workers, 64), _PENDING_MOST)
        self._schedule = schedule = Schedule(groups, pending=pending, sleeping=max(2 * self._workers, 8), lead=lead)
        if self.outcomes.stopped is not None:
            schedule.stop()
        self._journal.start()
        self._tasks = [asyncio.create_task(self._work(schedule)) for _ in range(self._workers)]
        ended = "crashed"
        try:
            await asyncio.gather(*self._tasks)
            ended = "done"
        except asyncio.CancelledError:
            if self.outcomes.stopped is None:
                raise
        finally:
            self.abandon()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._early is not None:
                await self._early.abandon()
                await self._account.settle()
            if self.outcomes.stopped is not None:
                ended = f"stopped: {self.outcomes.stopped}"
            await self._journal.finish(ended)
        return self.outcomes

    def stop(self, why: str) -> None:
        """Send no new requests. Those in flight are awaited and stored, except in a queue of the back-end. `why` is
        reported."""
        if self.outcomes.stopped is None:
            self.outcomes.stopped = why
        if self._schedule is not None:
            self._schedule.stop()
        self._pace.stop()
        self._going.set()
        if isinstance(self._backend, Queueing):
            self._backend.leave_waiting()

    def abandon(self) -> None:
        """Stop without waiting for requests in flight."""
        for task in self._tasks:
            task.cancel()

    async def _work(self, schedule: Schedule) -> None:
        while (work := await schedule.next()) is not None:
            await self._journal.room()
            await self._limiter.acquire()
            try:
                # Whoever waited for a place while the run was stopped sends nothing more.
                waited = self.outcomes.stopped is not None and self._early is None
                if waited or not await self._in_turn(schedule, work):
                    return
            finally:
                self._limiter.release()

    async def _in_turn(self, schedule: Schedule, work: Work) -> bool:
        # False where the run was stopped before, or a budget is spent.
        early = self._early if self._early is not None and self._early.fits(work) else None
        if early is not None:
            self._early = None
        responses: list[Response] = []
        tokens: float | None = None
        # What was sent ahead was admitted and counted then.
        if early is None and not await self._account.admit():
            self.stop(str(self._account.refused))
            return False
        try:
            if early is not None:
                tokens = self._pace.on_its_way(early.tokens)
            elif self.outcomes.stopped is None or not self._account.budgets:
                tokens = await self._pace.turn(work)
            if early is None and tokens is not None and self.paused:
                await self._going.wait()
                if self.outcomes.stopped is not None:
                    return False
            if tokens is None:
                return False
            responses = await self._attempt(schedule, work, early)
        except asyncio.CancelledError:
            # The back-end left the call in its queue, as the run stops. Otherwise this task itself is cancelled.
            if self.outcomes.stopped is None or _is_cancelled():
                raise
            return False
        finally:
            if tokens is not None:
                self._pace.back(tokens, work, responses)
            await self._account.settle()
        return True

    async def _attempt(self, schedule: Schedule, work: Work, early: Early | None) -> list[Response]:
        started, clock = time.time(), time.perf_counter()
        try:
            if early is not None:
                started, clock = early.started, early.clock
                responses = await early.call
            else:
                responses = await self._backend.complete(work.query, work.repeats)
        except BackendError as error:
            self._failed(schedule, work, error, started, time.perf_counter() - clock)
            return []
        seconds = time.perf_counter() - clock
        for repeat, response in zip(work.repeats, responses, strict=False):
            self._journal.answered(work.query, repeat, response, started=started, seconds=seconds)
            self.outcomes.answered += 1
            if self._watch is not None:
                self._watch(work.query, response)
            self._check_form(work.query, response)
        self._breaker.answered()
        self._limiter.answered()
        if len(responses) < len(work.repeats):
            schedule.add(Work(work.query, (repeat,)) for repeat in work.repeats[len(responses) :])
        schedule.done(work)
        self._account.called(self.outcomes.spend(responses, self._price))
        if self._account.budgets and self.outcomes.unpriced:
            self.stop(
                f"max_cost {dollars(self._account.budgets[0].most)} cannot be kept: the server named neither the cost "
                f"of an answer nor tokens that have a price"
            )
        return responses

    def _failed(self, schedule: Schedule, work: Work, error: BackendError, started: float, seconds: float) -> None:
        work.attempts += 1
        delay = decide(error, work.attempts, self._max_attempts, self._rng)
        for repeat in work.repeats:
            self._journal.failed(
                work.query,
                repeat,
                error,
                started=started,
                seconds=seconds,
                final=delay is None and error.kind not in FATAL,
            )
        if error.kind in PRESSURE:
            self._limiter.pressed()
        if error.kind in ("rate", "overload") and error.retry_after is not None:
            self._pace.hold_requests(error.retry_after)
        self._breaker.failed(error)
        if self._breaker.tripped is not None:
            self.outcomes.cause = self._breaker.tripped
            self.stop(str(self._breaker.tripped))
        if delay is None:
            self.outcomes.failed += len(work.repeats)
            schedule.done(work, answered=False)
        else:
            self.outcomes.retries += 1
            schedule.later(work, delay)

    def _check_form(self, query: Request, response: Response) -> None:
        # A server that ignores `structured` gives no answer that could be parsed.
        error = self._form.saw(query, response) if self._form is not None else None
        if error is not None and self.outcomes.stopped is None:
            self.outcomes.cause = error
            self.stop(str(error))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def works(
    groups: Iterator[Sequence[Request]],
    repeats: int,
    settled: Callable[[Request], set[int]] | None,
    skipped: Callable[[int], None] | None = None,
) -> Iterator[list[Work]]:
    """Each group's queries with their repeats to request. `settled` gives a query's repeats to leave out (None: none),
    `skipped` takes their number. With a seed, each repeat has its own seed and so its own call."""
    for group in groups:
        works_due: list[Work] = []
        for query in group:
            done = settled(query) if settled is not None else set()
            left = tuple(repeat for repeat in range(repeats) if repeat not in done)
            if skipped is not None and len(left) < repeats:
                skipped(repeats - len(left))
            if left and query.generation.seed is not None:
                works_due.extend(Work(query, (repeat,)) for repeat in left)
            elif left:
                works_due.append(Work(query, left))
        yield works_due


def split_calls(groups: Iterator[list[Work]], backend: Backend) -> Iterator[list[Work]]:
    """The groups, in calls of as many repeats as the back-end returns at once: read per group, since it may change."""
    for group in groups:
        most = backend.capabilities.repeats_per_call
        if most is None:
            yield group
        else:
            yield [
                Work(work.query, work.repeats[i : i + most])
                for work in group
                for i in range(0, len(work.repeats), most)
            ]


# Ctrl-C for the runs of one command: the first ends them in good order, the second at once.

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruption:
    """Handler of Ctrl-C and other signals, for runs that send requests and tasks that still prepare one."""

    def __init__(self) -> None:
        self._pressed = 0
        self._caught = False
        self._runs: list[Run] = []
        self._preparing: set[asyncio.Task[Any]] = set()

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Context manager inside which signals are handled. Entering it again inside changes nothing."""
        if self._caught:
            yield
            return
        loop = asyncio.get_running_loop()
        try:
            heard = [number for number in _SIGNALS if not _kept_from(number)]
            for number in heard:
                loop.add_signal_handler(number, self._press)
        except (ValueError, NotImplementedError, RuntimeError):  # no signals off the main thread, or on Windows
            yield
            return
        self._caught = True
        try:
            yield
        finally:
            self._caught = False
            for number in heard:
                loop.remove_signal_handler(number)

    def prepares(self, task: asyncio.Task[Any]) -> None:
        """Register a task, which the first signal cancels unless its run has begun to send requests."""
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    def asks(self, run: Run) -> None:
        """Register a run that begins to send requests. At the first signal it finishes those in flight."""
        self._preparing.discard(asyncio.current_task())
        self._runs.append(run)
        if self._pressed:
            run.stop("interrupted")

    def _press(self) -> None:
        self._pressed += 1
        if self._pressed == 1:
            sys.stderr.write("\nstopping: waiting for what is in flight (Ctrl-C again: leave it)\n")
            for run in self._runs:
                run.stop("interrupted")
            for task in list(self._preparing):
                task.cancel()
        else:
            for run in self._runs:
                run.abandon()


def _kept_from(number: signal.Signals) -> bool:
    # As under nohup, which keeps a program on when the terminal closes.
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
