"""Permutation test of a statistic of labels: labels of whole units permuted within strata.

p = (1 + # of permuted statistics as large) / (1 + permutations), which is never 0 (Phipson & Smyth 2010,
Permutation P-values should never be zero, Statistical Applications in Genetics and Molecular Biology 9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """A statistic with its permutation baseline.

    Attributes
    ----------
    value : float
        With the labels as they are.
    mean : float
        Mean over permuted labels: what chance gives.
    p : float
        In the direction of larger values.
    permutations : int
    """

    value: float
    mean: float
    p: float
    permutations: int


def permuted(label: Codes, unit: Codes, stratum: Codes, permutations: int, rng: np.random.Generator) -> Codes:
    """The original labels and their permutations, shape (1 + permutations, n).

    Parameters
    ----------
    label : array of int, shape (n,)
        All members of a unit have one label.
    unit : array of int, shape (n,)
        Units 0.. that keep together (the repeats of one query): permuting single members would break what makes them
        alike and call chance too small.
    stratum : array of int, shape (n,)
        Units exchange labels within their stratum (a story) only.
    permutations : int
        How many.
    rng : numpy Generator
        Source of randomness; the caller's seed.
    """
    _, first, member = np.unique(unit, return_index=True, return_inverse=True)
    of_unit, inside = label[first], stratum[first]
    order = np.argsort(inside, kind="stable")
    out = np.empty((1 + permutations, label.size), dtype=np.int64)
    out[0] = label
    for b in range(1, 1 + permutations):
        drawn = np.lexsort((rng.random(first.size), inside))
        mixed = np.empty_like(of_unit)
        mixed[order] = of_unit[drawn]
        out[b] = mixed[member]
    return out


def against_chance(values: Floats) -> AgainstChance:
    """A statistic with its permutation test (Phipson & Smyth 2010).

    Parameters
    ----------
    values : array, shape (1 + permutations,)
        The statistic of the original labels, then of the permuted ones; a permuted one that is NaN counts as extreme.

    Returns
    -------
    AgainstChance
        `mean` is NaN where no permuted statistic is defined.
    """
    value, chance = float(values[0]), values[1:]
    defined = chance[~np.isnan(chance)]
    extreme = int((defined >= value - _SAME).sum()) + chance.size - defined.size
    mean = float(defined.mean()) if defined.size else float("nan")
    return AgainstChance(value, mean, (1 + extreme) / (1 + chance.size), chance.size)
