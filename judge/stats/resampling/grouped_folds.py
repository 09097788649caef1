"""Folds for cross-validation of grouped rows: all rows of a group are in the same fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def deal(group: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Folds for cross-validation, in which all rows of a group are in the same fold. Groups are assigned in random
    order, so that the numbers of groups per fold differ by at most one.

    Parameters
    ----------
    group : array of int, shape (n,)
        The group of each row, numbered from 0 without gaps.
    folds : int
        Number of folds; with fewer groups than folds some folds stay empty.
    rng : numpy Generator
        Random generator, seeded by the caller.

    Returns
    -------
    array of int, shape (n,)
        Fold of each row, from 0.
    """
    groups = int(group.max()) + 1 if group.size else 0
    fold = np.empty(groups, dtype=np.int64)
    fold[rng.permutation(groups)] = np.arange(groups) % folds
    return np.asarray(fold[group], dtype=np.int64)


def folds_of_groups(groups: Sequence[str], folds: int, seed: int) -> Codes:
    """Folds for cross-validation, in which all rows with the same group name are in the same fold: the fold of each
    row, shape (n,), assigned by `deal`.

    Parameters
    ----------
    groups : sequence of str, length n
        The name of each row's group.
    folds : int
        Number of folds.
    seed : int
        Random seed. The same groups, number of folds and seed give the same folds, independently of the order of
        rows.
    """
    number = {name: index for index, name in enumerate(sorted(set(groups)))}
    return deal(np.array([number[name] for name in groups], dtype=np.int64), folds, np.random.default_rng(seed))
