"""The number of edits at each strength of a perturbation, and the random choice of edits."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from judge.inputs.perturbations.edit import Edit

_T = TypeVar("_T")


def count(strength: int, share: float, size: int) -> int:
    """Number of places to edit. At strength 1 it is `share` times `size` (the number of all places), rounded, but at
    least one. At strength s it is s times the number at strength 1.
    """
    return strength * max(1, round(share * size))


def first(candidates: Sequence[_T], number: int, rng: Random) -> list[_T]:
    """`number` candidates in random order. With the same state of `rng`, a higher number gives these candidates and
    then further ones.
    """
    order = list(candidates)
    rng.shuffle(order)
    return order[:number]


def apart(groups: Sequence[Sequence[Edit]], number: int, rng: Random) -> list[Edit]:
    """Edits of at most `number` groups, taken in random order. A group holds the edits of one change. A group whose
    edits touch those of an earlier group is skipped.
    """
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
