"""Where two JSON values differ: structure and strings exactly, numbers by more than 1e-9."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

TOLERANCE = 1e-9
"""Relative above 1, absolute below."""


def differences(golden: Any, found: Any, path: str = "") -> Iterator[str]:
    """One line for each place at which the two differ, golden value first."""
    if isinstance(golden, Mapping) and isinstance(found, Mapping):
        yield from _of_mappings(golden, found, path)
    elif isinstance(golden, list) and isinstance(found, list):
        if len(golden) != len(found):
            yield f"{path}: {len(golden)} items != {len(found)} items"
        for i, (one, other) in enumerate(zip(golden, found, strict=False)):
            yield from differences(one, other, f"{path}[{i}]")
    elif not _equal(golden, found):
        yield f"{path}: {golden!r} != {found!r}"


def _of_mappings(golden: Mapping[str, Any], found: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in [*golden, *(key for key in found if key not in golden)]:
        place = f"{path}.{key}" if path else key
        if key not in found:
            yield f"{place}: {golden[key]!r} is gone"
        elif key not in golden:
            yield f"{place}: {found[key]!r} is new"
        else:
            yield from differences(golden[key], found[key], place)
    if list(golden) != list(found) and set(golden) == set(found):
        yield f"{path}: keys are in another order: {list(golden)} != {list(found)}"


def _equal(golden: Any, found: Any) -> bool:
    if _is_number(golden) and _is_number(found):
        if isinstance(golden, int) and isinstance(found, int):
            return golden == found
        one, other = _missing(golden), _missing(found)
        if one is None or other is None:
            return one is other
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    one, other = _missing(golden), _missing(found)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _missing(value: Any) -> Any:
    """The value, None for NaN: neither is a number."""
    return None if isinstance(value, float) and math.isnan(value) else value
