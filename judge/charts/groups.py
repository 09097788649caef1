"""Positions of grouped rows: rows of one judge together, a gap before the next judge's rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def places(groups: Sequence[Hashable], gap: float) -> list[float]:
    """Top of each row in rows, given whose each is."""
    tops: list[float] = []
    for i, group in enumerate(groups):
        tops.append(tops[-1] + 1 + (gap if group != groups[i - 1] else 0.0) if i else 0.0)
    return tops
