"""Permutation test of a statistic of labels, in which the labels of whole units are permuted within strata.

p = (1 + number of permutations whose statistic is at least as large as the original one) / (1 + permutations), which is
never 0 (Phipson & Smyth 2010, Permutation P-values should never be zero, Statistical Applications in Genetics and
Molecular Biology 9).
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
    """A statistic with its chance level (`mean` over permuted labels) and one-sided p; large values are evidence."""

    value: float
    mean: float
    p: float
    permutations: int


def permuted(label: Codes, unit: Codes, stratum: Codes, permutations: int, rng: np.random.Generator) -> Codes:
    """The labels of n members (such as repeats of a query) and their random permutations, (1 + permutations, n).

    `label` (n,) is equal for all members of a `unit` (n,), such as the query whose repeats they are; they get the same
    label in each permutation. Permuting single members would break their dependence and make p values too small. Labels
    are permuted among the units of the same `stratum` (n,), such as a story. `permutations` are drawn by `rng`, seeded
    by the caller.
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
    """Permutation test (Phipson & Smyth 2010) from `values` of a statistic with original (first) and permuted labels.

    A permuted NaN counts as extreme. The mean is NaN where no permuted statistic is defined.
    """
    value, chance = float(values[0]), values[1:]
    defined = chance[~np.isnan(chance)]
    extreme = int((defined >= value - _SAME).sum()) + chance.size - defined.size
    mean = float(defined.mean()) if defined.size else float("nan")
    return AgainstChance(value, mean, (1 + extreme) / (1 + chance.size), chance.size)
