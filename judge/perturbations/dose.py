"""The number of places that a strength changes, and their random choice."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from judge.perturbations.edit import Edit

_T = TypeVar("_T")


def count(strength: int, share: float, size: int) -> int:
    """Number of places to edit: at strength 1 a share of all, at least one; at strength 2 twice as many, and so on."""
    return strength * max(1, round(share * size))


def first(candidates: Sequence[_T], number: int, rng: Random) -> list[_T]:
    """The first `number` of the candidates in a random order; a higher number adds to the same ones."""
    order = list(candidates)
    rng.shuffle(order)
    return order[:number]


def apart(groups: Sequence[Sequence[Edit]], number: int, rng: Random) -> list[Edit]:
    """The edits of the first `number` groups in a random order, skipping groups that touch an earlier one's edits."""
    chosen: list[Edit] = []
    taken = 0
    for group in first(groups, len(groups), rng):
        if taken == number:
            break
        if not any(_touch(edit, other) for edit in group for other in chosen):
            chosen += group
            taken += 1
    return chosen


def _touch(edit: Edit, other: Edit) -> bool:
    return edit.start <= other.end and other.start <= edit.end
