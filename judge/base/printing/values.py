"""Values as they are printed: amounts of money, dates, keys of columns, and foreign texts made safe."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from math import floor, log10
from typing import TypeVar

from judge.base.late_pattern import late
from judge.base.records import MOST_PLAUSIBLE_COST

# Foreign texts made safe for terminals and spreadsheets: control characters and formulas are shown, not executed.

# Formatting characters that scripts and emoji need, and that move nothing.
JOINERS = "\u200c\u200d"

_HIDDEN = late(r"[^\n\t\x20-\x7e]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_T = TypeVar("_T")


def visible(text: str) -> str:
    r"""The text with control and formatting characters (escape sequences, text direction) as escapes such as \x1b."""
    return _HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def _shown(match: re.Match[str]) -> str:
    character = match.group()
    seen = character.isprintable() or character.isspace() or character in JOINERS
    control = character < " " or "\x7f" <= character <= "\x9f" or character in "\u2028\u2029"
    return character if seen and not control else ascii(character)[1:-1]


def no_formula(value: _T) -> _T | str:
    """A value for a CSV cell, with an apostrophe in front of text that a spreadsheet would execute as a formula."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if _is_number(value) else f"'{value}"


def as_written(cell: str) -> str:
    """A CSV cell's original text, without the apostrophe of `no_formula`."""
    return cell[1:] if cell[:1] == "'" and no_formula(cell[1:]) != cell[1:] else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return len(text) == 1
    return True


# Makes unique keys for columns whose titles come from the data, such as criteria and judges.


def column_keys(titles: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A key for each title; one that occurred before or is in `taken` gets a number: "coherence (2)"."""
    names, keys = set(taken), []
    for title in titles:
        key, number = title, 2
        while key in names:
            key, number = f"{title} ({number})", number + 1
        names.add(key)
        keys.append(key)
    return keys


# Converts times in seconds since 1970, as journals and manifests store them, to dates.


def moment(seconds: object) -> datetime | None:
    """The moment in UTC; None for no number, or one beyond the calendar, such as the year 33658 in a foreign file."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


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
