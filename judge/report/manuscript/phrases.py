"""Pieces of the methods' sentences: citations as pandoc writes them, lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def cite(*keys: str) -> str:
    """A citation of these works."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


def listed(names: Sequence[str]) -> str:
    """Join names as a list within a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
