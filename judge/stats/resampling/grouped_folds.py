"""Folds for cross-validation of grouped rows: all rows of a group are in the same fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def deal(group: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Fold of each row, from 0: all rows of a group share one; numbers of groups per fold differ by at most one.

    `group` (n,) is numbered from 0 without gaps. With fewer groups than `folds` some stay empty. `rng` is seeded by the
    caller.
    """
    groups = int(group.max()) + 1 if group.size else 0
    fold = np.empty(groups, dtype=np.int64)
    fold[rng.permutation(groups)] = np.arange(groups) % folds
    return np.asarray(fold[group], dtype=np.int64)


def folds_of_groups(groups: Sequence[str], folds: int, seed: int) -> Codes:
    """Fold of each row by `deal`, from names of `groups`, `folds` and `seed`, whatever the order of the rows."""
    number = {name: index for index, name in enumerate(sorted(set(groups)))}
    return deal(np.array([number[name] for name in groups], dtype=np.int64), folds, np.random.default_rng(seed))
