"""Whether a failed request is repeated, and what stops a session: the same failure of every request (`Breaker`), or a
budget without room (`Budget`)."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from judge.base.errors import BackendError
from judge.base.printing.text_layout import dollars

# Decides whether and when to repeat a failed request, depending on the kind of error.

# Kinds of error that say: fewer requests at a time.
PRESSURE = frozenset({"rate", "overload", "timeout"})

# Kinds that would hit every query alike: the run stops, and no repeat counts as failed.
FATAL = frozenset({"auth", "model", "api", "capability", "address", "quota"})

_FIRST_DELAY = {"rate": 1.0, "overload": 1.0, "server": 0.5, "connection": 0.5, "timeout": 0.1, "garbage": 0.1}
# Seconds of a pause at most where the server names none: a server that is back must not stay idle for minutes.
_LONGEST = 30.0

# Seconds that a server may ask to be left alone; what it asks beyond is not kept.
LONGEST_WAIT = 600.0


def decide(error: BackendError, attempts: int, max_attempts: int, rng: random.Random) -> float | None:
    """Seconds until the retry after the `attempts`-th failure of a repeat; None to give it up.

    There is no retry if it cannot help, or after `max_attempts` failures; a rate limit (429) has no such maximum. An
    error that would affect every query is retried after one second, and the breaker ends a run that gets only such
    errors. Otherwise the delay is what the server requested, at most 10 minutes. If it requested none, it is random
    between half and all of a maximum, which depends on the kind of error, doubles with each failure and is at most 30
    seconds, so that retries spread out."""
    if error.kind in FATAL:
        return 1.0
    if not error.retryable or (attempts >= max_attempts and error.kind != "rate"):
        return None
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_WAIT) + rng.uniform(0, 0.1)
    longest = min(_LONGEST, _FIRST_DELAY.get(error.kind, 1.0) * 2 ** min(attempts - 1, 10))
    return rng.uniform(longest / 2, longest)


_FATAL_IN_A_ROW = 3
# Failures without an answer between them that end a run: three of a kind that no waiting mends (keys, accounts), else
# twenty, since single requests may be at fault.
_IN_A_ROW = 20

# Seconds without an answer before the same failure, over and over, ends the run: a restarted server comes back.
_PATIENCE = {"rate": 300.0, "overload": 60.0, "server": 30.0, "connection": 30.0, "timeout": 0.0, "garbage": 10.0}

# Failures in a row, without an answer between them.
_WORTH_SAYING = 3


class Breaker:
    """Counts answers and failures. `tripped` is the error because of which the run must stop."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.tripped: BackendError | None = None
        self._clock = clock
        self._kind: str | None = None
        self._in_a_row = 0
        self._since = clock()
        self._told_to_wait = 0.0
        self._answers = 0
        self._last = ""

    @property
    def trouble(self) -> str | None:
        """Message of the last error, if several requests failed in a row."""
        return self._last if self._in_a_row >= _WORTH_SAYING else None

    def answered(self) -> None:
        self._answers += 1
        self._kind = None
        self._in_a_row = 0

    def failed(self, error: BackendError) -> None:
        if error.kind != self._kind:
            self._kind = error.kind
            self._in_a_row = 0
            self._since = self._clock()
            self._told_to_wait = 0.0
        self._in_a_row += 1
        self._last = str(error)
        self._told_to_wait = max(self._told_to_wait, error.retry_after or 0.0)
        if self.tripped is None and self._must_stop(error):
            self.tripped = error

    def _must_stop(self, error: BackendError) -> bool:
        if error.kind in FATAL:
            return self._in_a_row >= _FATAL_IN_A_ROW
        if self._in_a_row < _IN_A_ROW:
            return False
        if error.kind in _PATIENCE:
            # A server that said when to come back is given that long, and then its usual time.
            return self._clock() - self._since >= _PATIENCE[error.kind] + min(self._told_to_wait, LONGEST_WAIT)
        # Refused requests (400, too long, filtered) say nothing about others once some were answered.
        return self._answers == 0


# Budget in dollars for one session of a run, or for several in parallel.


class Account:
    """A session's spending in dollars, and the budgets that pay. `dearest` is the most expensive call's cost, None
    before the first answer; `refused` says which budget has no room; `in_flight` counts calls that were admitted."""

    def __init__(self, budgets: Sequence[Budget] = ()) -> None:
        self.spent = 0.0
        self.in_flight = 0
        self.dearest: float | None = None
        self.refused: str | None = None
        self.budgets: list[Budget] = []
        for budget in budgets:
            self.charge(budget)

    def charge(self, budget: Budget) -> None:
        """Let another budget pay too, from now on; calls in flight count."""
        budget.join(self)
        self.budgets.append(budget)

    async def admit(self) -> bool:
        """Wait until every budget has room for a call; False where one never will."""
        # A budget that comes while another is waited for is asked as well.
        for number, budget in enumerate(self.budgets):
            if not await budget.admit(self):
                self.refused = budget.refusal
                for before in self.budgets[:number]:
                    await before.settle(self)
                return False
        self.in_flight += 1
        return True

    def called(self, cost: float) -> None:
        self.spent += cost
        self.dearest = max(self.dearest or 0.0, cost)

    async def settle(self) -> None:
        """Record that an admitted call has returned, after its cost was recorded by `called`."""
        self.in_flight -= 1
        for budget in tuple(self.budgets):
            await budget.settle(self)


class Budget:
    """An amount in dollars and the accounts that spend from it. A call is sent only if the rest covers it and all in
    flight, each at its account's dearest cost so far. An account's first call is sent alone: only its answer shows a
    cost. So only first calls and calls dearer than all before can exceed the amount. `before` was spent earlier."""

    def __init__(self, most: float, owner: str = "this run", before: float = 0.0) -> None:
        self.most = most
        self.whose = owner
        self.before = before
        self._in_flight: dict[Account, int] = {}
        self._changed = asyncio.Condition()

    @property
    def refusal(self) -> str:
        earlier = f": {dollars(self.before)} were spent before this sitting" if self.before else ""
        return f"max_cost {dollars(self.most)} for {self.whose} is reached{earlier}"

    def join(self, account: Account) -> None:
        self._in_flight[account] = account.in_flight

    async def become(self, other: Budget) -> None:
        """Take another budget's amount and name; who waits for room looks again."""
        async with self._changed:
            self.most, self.whose = other.most, other.whose
            self._changed.notify_all()

    async def admit(self, account: Account) -> bool:
        """Wait until there is room for a call; False where there is none and no call is in flight."""
        async with self._changed:
            while not self._fits(account):
                if not any(self._in_flight.values()):
                    return False
                await self._changed.wait()
            self._in_flight[account] += 1
        return True

    async def settle(self, account: Account) -> None:
        """Mark a call of the account as returned."""
        async with self._changed:
            self._in_flight[account] -= 1
            self._changed.notify_all()

    def _fits(self, account: Account) -> bool:
        if account.dearest is None and self._in_flight[account]:
            return False
        # Until an account's first call tells, what its calls cost is taken from the others.
        usual = max((in_flight.dearest or 0.0 for in_flight in self._in_flight), default=0.0)
        soon = [count * _cost_or(in_flight.dearest, usual) for in_flight, count in self._in_flight.items()]
        spent = self.before + sum(in_flight.spent for in_flight in self._in_flight)
        return spent < self.most and spent + sum(soon) + _cost_or(account.dearest, usual) <= self.most


def _cost_or(cost: float | None, usual: float) -> float:
    return usual if cost is None else cost
