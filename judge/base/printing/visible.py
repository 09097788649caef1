"""Foreign texts made safe for terminals and spreadsheets: control characters and formulas are shown, not executed."""

from __future__ import annotations

import re
from typing import TypeVar

# Formatting characters that scripts and emoji need, and that move nothing.
JOINERS = "\u200c\u200d"

_HIDDEN = re.compile(r"[^\n\t\x20-\x7e]")
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
