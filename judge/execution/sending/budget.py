"""Budget in dollars for one sitting, or for several side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from judge.printing.dollars import dollars


class Account:
    """Spending of one sitting, from its own budget, a shared budget, or none.

    `dearest` is the cost of the call that cost most, None before the first that was answered; `refused` says which
    budget has no room for another.
    """

    def __init__(self, budgets: Sequence[Budget] = ()) -> None:
        self.spent = 0.0
        self.dearest: float | None = None
        self.refused: str | None = None
        self.budgets = budgets
        for budget in budgets:
            budget.join(self)

    async def admit(self) -> bool:
        """Wait until every budget has room for a call; False where one never will."""
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
        """Mark an admitted call as returned, with its cost already counted as spent."""
        for budget in self.budgets:
            await budget.settle(self)


class Budget:
    """An amount in dollars and the accounts that spend from it.

    A call goes out only where the sum still holds it and all that are in flight, each at the cost of its account's
    dearest call so far; the first call of each goes alone, since it tells what its calls cost. So only first calls, and
    calls that cost more than any before them, can go beyond the sum. `before` is what earlier sittings spent of it.
    """

    def __init__(self, most: float, owner: str = "this run", before: float = 0.0) -> None:
        self.most = most
        self.whose = owner
        self.before = before
        self._in_flight: dict[Account, int] = {}
        self._changed = asyncio.Condition()

    @property
    def refusal(self) -> str:
        """The reason why no more requests are sent."""
        earlier = f": {dollars(self.before)} were spent before this sitting" if self.before else ""
        return f"max_cost {dollars(self.most)} for {self.whose} is reached{earlier}"

    def join(self, account: Account) -> None:
        """Spend from this budget from now on."""
        self._in_flight[account] = 0

    async def admit(self, account: Account) -> bool:
        """Wait until the budget has room for a call; False where it has none although no call is in flight."""
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
