"""Formats amounts of money."""

from __future__ import annotations

from math import floor, log10

from judge.base.records import MOST_PLAUSIBLE_COST


def dollars(amount: float) -> str:
    """The amount as $0.0818 or $1,234.50; very small ones have two significant digits: $0.00012."""
    if amount >= 100:
        return f"${amount:,.2f}"
    places = 4 if amount <= 0 else max(4, 1 - floor(log10(amount)))
    return f"${amount:.{places}f}"


def implausible_costs(calls: int) -> str:
    """Words for the number of requests whose cost, as the server reported it, is too high to be one."""
    told = "1 request costs" if calls == 1 else f"{calls:,} requests cost"
    return f"the server reported that {told} more than {dollars(MOST_PLAUSIBLE_COST)} each, which is not counted"


def about(amount: float) -> str:
    """An estimated amount with two significant digits; from $100 on with cents, as exact amounts."""
    if amount >= 100 or amount < 1e-4:
        return dollars(amount)
    return f"${float(f'{amount:.2g}'):g}"
