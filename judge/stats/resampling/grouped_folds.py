"""Folds of groups: all rows of a group are held out together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def deal(group: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Assign groups to folds in random order and in turn, so that the folds hold equal numbers of groups.

    Parameters
    ----------
    group : array of int, shape (n,)
        The group of each row, numbered from 0 without gaps.
    folds : int
        How many folds; with fewer groups than folds some stay empty.
    rng : numpy Generator
        Source of randomness; the caller's seed.

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
    """Fold of each row, shape (n,); rows with the same group name share a fold, and `deal` assigns the groups.

    Parameters
    ----------
    groups : sequence of str, length n
        The name of each row's group.
    folds : int
        How many folds.
    seed : int
        The same groups, number and seed give the same folds, in whatever order rows come.
    """
    number = {name: index for index, name in enumerate(sorted(set(groups)))}
    return deal(np.array([number[name] for name in groups], dtype=np.int64), folds, np.random.default_rng(seed))
