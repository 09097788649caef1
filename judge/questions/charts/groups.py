"""Computes positions of grouped rows in a chart: the rows of one judge are adjacent, with a gap before the next judge's
rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def places(groups: Sequence[Hashable], gap: float) -> list[float]:
    """Vertical position of the top of each row, in units of rows. Where the group changes, there is an additional gap
    of `gap` rows.

    `groups` has one entry for each row.
    """
    tops: list[float] = []
    for i, group in enumerate(groups):
        tops.append(tops[-1] + 1 + (gap if group != groups[i - 1] else 0.0) if i else 0.0)
    return tops
