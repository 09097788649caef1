"""Budget in dollars for one session of a run, or for several in parallel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from judge.base.printing.dollars import dollars


class Account:
    """Spending in dollars of one session of a run, and the budgets from which it is paid (none, its own, or a shared
    one as well).

    `dearest` is the cost of the most expensive call; None before the first answered call. `refused` says which budget
    has no room for another call.
    """

    def __init__(self, budgets: Sequence[Budget] = ()) -> None:
        self.spent = 0.0
        self.dearest: float | None = None
        self.refused: str | None = None
        self.budgets = budgets
        for budget in budgets:
            budget.join(self)

    async def admit(self) -> bool:
        """Wait until every budget has room for a call; returns False where one will never have room."""
        for number, budget in enumerate(self.budgets):
            if not await budget.admit(self):
                self.refused = budget.refusal
                for before in self.budgets[:number]:
                    await before.settle(self)
                return False
        return True

    def called(self, cost: float) -> None:
        """Record the cost of an answered call."""
        self.spent += cost
        self.dearest = max(self.dearest or 0.0, cost)

    async def settle(self) -> None:
        """Record that a call admitted by `admit` has returned. Its cost must have been recorded by `called` before."""
        for budget in self.budgets:
            await budget.settle(self)


class Budget:
    """An amount in dollars and the accounts that spend from it.

    A call is sent only if the remaining amount covers it and all calls in flight, each at the cost of its account's
    most expensive call so far. An account's first call is sent alone, because only its answer shows what calls cost.
    The amount can thus be exceeded only by first calls and by calls that cost more than all before them. `before` is
    what earlier sessions spent of the amount.
    """

    def __init__(self, most: float, owner: str = "this run", before: float = 0.0) -> None:
        self.most = most
        self.whose = owner
        self.before = before
        self._in_flight: dict[Account, int] = {}
        self._changed = asyncio.Condition()

    @property
    def refusal(self) -> str:
        """Message that the budget is spent, for the user."""
        earlier = f": {dollars(self.before)} were spent before this sitting" if self.before else ""
        return f"max_cost {dollars(self.most)} for {self.whose} is reached{earlier}"

    def join(self, account: Account) -> None:
        """Let the account spend from this budget."""
        self._in_flight[account] = 0

    async def admit(self, account: Account) -> bool:
        """Wait until the budget has room for a call; returns False where it has none and no call is in flight."""
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
