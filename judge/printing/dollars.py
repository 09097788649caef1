"""The format of sums of money."""

from __future__ import annotations

from math import floor, log10


def dollars(amount: float) -> str:
    """The amount with its sign: $0.0818, $1,234.50; of very small ones two digits that count: $0.00012."""
    if amount >= 100:
        return f"${amount:,.2f}"
    places = 4 if amount <= 0 else max(4, 1 - floor(log10(amount)))
    return f"${amount:.{places}f}"


def about(amount: float) -> str:
    """The amount to two significant digits, for a price that is only estimated."""
    if amount >= 100 or amount < 1e-4:
        return dollars(amount)
    return f"${float(f'{amount:.2g}'):g}"
