"""How the time of a computation grows with what it is given, whatever the speed of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

_PART = 8
_UNNOTICED = 0.3
"""CPU seconds so short that what they grow from does not matter."""
_LINEAR = 2.5
"""A quadratic computation takes 8 times what a linear one takes for 8 times as much; caches and other work on the
machine make up to 2 of 1."""


_TRIES = 3
"""Other work on the machine slows single measurements several times, hardly ever all of them."""


def linear(work: Callable[[int], object], size: int) -> bool:
    """Whether `work(size)` takes no more CPU time than linear growth from an eighth of `size` lets expect."""
    return any(_grew_linearly(work, size) for _ in range(_TRIES))


def _grew_linearly(work: Callable[[int], object], size: int) -> bool:
    whole = _cpu_seconds(work, size)
    if whole < _UNNOTICED:
        return True
    # One slow measurement of the short part would let anything pass for linear.
    return whole < _LINEAR * _PART * min(_cpu_seconds(work, size // _PART) for _ in range(3))


def _cpu_seconds(work: Callable[[int], object], size: int) -> float:
    began = time.process_time()
    work(size)
    return time.process_time() - began
