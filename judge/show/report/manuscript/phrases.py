"""Helpers for the sentences of the methods paragraph: citations in pandoc's form, and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def cite(*keys: str) -> str:
    """Citation of the works with these keys, in pandoc's form."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


def listed(names: Sequence[str]) -> str:
    """The names as an enumeration for a sentence, such as `a, b and c`; "nothing" without names."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
