"""Positions of grouped rows in a chart: the rows of one judge are adjacent, with a gap before the next judge's."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def places(groups: Sequence[Hashable], gap: float) -> list[float]:
    """Top of each row, in units of rows; `groups` has one entry for each."""
    tops: list[float] = []
    for i, group in enumerate(groups):
        tops.append(tops[-1] + 1 + (gap if group != groups[i - 1] else 0.0) if i else 0.0)
    return tops
