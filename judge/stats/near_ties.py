"""Maxima and sort orders that do not depend on rounding errors: values within 1e-9 are tied, and tied values keep their
order.

Processors and libraries round differently in the last digits, so which of two equal values comes out larger is
arbitrary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

SAME = 1e-9


def highest(values: Sequence[float | None]) -> int:
    """Index of the highest value; the first one where several values are within 1e-9 of it.

    Parameters
    ----------
    values : sequence of float or None
        None and NaN count as lower than every number.

    Raises
    ------
    ValueError
        `values` is empty.
    """
    numbers = [-math.inf if value is None or math.isnan(value) else float(value) for value in values]
    top = max(numbers)
    return next(i for i, value in enumerate(numbers) if value == top or value >= top - SAME)


def lowest(values: Sequence[float | None]) -> int:
    """Index of the lowest value; the first one where several values are within 1e-9 of it.

    Parameters
    ----------
    values : sequence of float or None
        None and NaN count as higher than every number.

    Raises
    ------
    ValueError
        `values` is empty.
    """
    return highest([None if value is None else -value for value in values])


def descending(values: Sequence[float | None]) -> list[int]:
    """Indices of the values from the highest to the lowest; values within 1e-9 of each other keep the order given.

    Parameters
    ----------
    values : sequence of float or None
        None and NaN come last, in the order given.
    """
    numbers = [(-float(value), i) for i, value in enumerate(values) if value is not None and not math.isnan(value)]
    numbers.sort()
    groups: list[list[int]] = []
    top = -math.inf
    for value, i in numbers:
        # A group begins at its highest value: where digits would be cut, noise could part equal values.
        if value > top + SAME or not groups:
            groups.append([])
            top = value
        groups[-1].append(i)
    ordered = [i for group in groups for i in sorted(group)]
    return ordered + sorted(set(range(len(values))) - set(ordered))
