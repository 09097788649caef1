"""How sums of money are written, everywhere alike. Never computes one."""

from __future__ import annotations

from math import floor, log10


def dollars(amount: float) -> str:
    """The amount with its sign: $0.0818, $1,234.50; of very small ones two digits that count: $0.00012."""
    if amount >= 100:
        return f"${amount:,.2f}"
    places = 4 if amount <= 0 else max(4, 1 - floor(log10(amount)))
    return f"${amount:.{places}f}"
