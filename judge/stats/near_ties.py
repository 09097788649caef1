"""Maxima and orders that do not depend on rounding: values within 1e-9 are tied, and tied values keep their order.

Processors and libraries round differently in the last digits: which of two equal values is larger is arbitrary."""

from __future__ import annotations

import math
from collections.abc import Sequence

SAME = 1e-9


def highest(values: Sequence[float | None]) -> int:
    """Index of the highest of `values`, the first within 1e-9; None and NaN are lowest, ValueError without any."""
    numbers = [-math.inf if value is None or math.isnan(value) else float(value) for value in values]
    top = max(numbers)
    return next(i for i, value in enumerate(numbers) if value == top or value >= top - SAME)


def lowest(values: Sequence[float | None]) -> int:
    """Index of the lowest of `values`, the first within 1e-9; None and NaN are highest, ValueError without any."""
    return highest([None if value is None else -value for value in values])


def descending(values: Sequence[float | None]) -> list[int]:
    """Indices of `values` from the highest down; those within 1e-9 keep their order, None and NaN come last."""
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
