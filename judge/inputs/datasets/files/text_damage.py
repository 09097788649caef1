"""Detects damage in a text, such as lost bytes, that was already in the released file. The text is not changed."""

from __future__ import annotations

import re
from collections.abc import Mapping

DAMAGE: Mapping[str, re.Pattern[str]] = {
    "control characters": re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    "U+FFFD (lost bytes)": re.compile("\ufffd"),
    # UTF-8 once read as Latin-1 or Windows-1252: the two-letter beginnings of what quotes, dashes and accents become.
    "mojibake": re.compile("â€|Ã[\u0080-\u00bf\u0192\u201a\u2026\u2020\u2021]|Â[\u00a0-\u00bf]|ï¿½"),
    "HTML entities": re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,7}|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});"),
    "markup": re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\\newline>"),
    "chat debris": re.compile(
        r"(?:^|\n|\s)(?:Assistant|Human|User|System)\s?:(?=\s|$)|###|<\|[A-Za-z_]+\|>|\[/?INST\]|<</?SYS>>"
    ),
}
"""Kind of damage -> what shows it."""


# A text without any of these cannot match; looking for them first halves the time of a whole check.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "U+FFFD (lost bytes)": ("\ufffd",),
    "mojibake": ("â", "Ã", "Â", "ï"),
    "HTML entities": ("&",),
    "markup": ("<",),
    "chat debris": ("Assistant", "Human", "User", "System", "###", "<", "INST"),
}


def damage_in(text: str) -> list[str]:
    """Kinds of damage detected in a text, such as control characters or lost bytes, in the order of `DAMAGE`."""
    return [
        kind
        for kind, pattern in DAMAGE.items()
        if any(needed in text for needed in _NEEDED.get(kind, ("",))) and pattern.search(text)
    ]
