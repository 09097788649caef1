"""Stratified random samples with known inclusion probabilities; each drawn unit has a weight, 1 / its probability.

Within a stratum the sample is systematic: units are sorted by a variable over which the sample should spread (ties
broken at random), and every k-th unit is drawn, from a random position on. Each unit thus has the same chance, and
neighbours are not drawn together (Madow & Madow 1944, Ann. Math. Stat. 15; "implicit stratification": Lohr 2021,
Sampling, 3rd edition, ch. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never, get_args

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Floats, Masks

# Balanced random samples of equal inclusion probability: in the sample, each level of several crossed factors (such
# as judges and Eval-Prompts) has as many units as its share of the population, up to rounding.

Integers = NDArray[np.int64]
_ZERO = 1e-9
# Draws, of which the first without a lost level is taken.
_TRIES = 100


def balanced(factors: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Indices, ascending, of a sample of `n` units in which no level is missing that should have one unit or more.

    `factors` (units, factors) holds the code of each unit's level of each factor; `rng` is seeded by the caller. The
    inclusion probability of each unit is n / units. It is exact where the factors are fully crossed; elsewhere drawing
    again for a lost level changes it a little."""
    units = factors.shape[0]
    levels = [factors[:, place] == code for place in range(factors.shape[1]) for code in np.unique(factors[:, place])]
    members = np.array([np.ones(units, dtype=bool), *levels])
    due = members.sum(axis=1) * n / units >= 1 - _ZERO
    chosen = np.zeros(units, dtype=bool)
    for _ in range(_TRIES):
        chosen = _cube(members.astype(np.float64), n, rng)
        if (members[due] @ chosen > 0).all():
            break
    return np.flatnonzero(chosen)


def _cube(constraints: Floats, n: int, rng: np.random.Generator) -> Masks:
    """One draw by the cube method, a mask: constraints keep their expected sum, the first (the size) always."""
    units = constraints.shape[1]
    order = rng.permutation(units)
    rest = [0, *(1 + rng.permutation(constraints.shape[0] - 1))]
    matrix, probability = constraints[rest][:, order], np.full(units, n / units)
    while True:
        free = np.flatnonzero((probability > _ZERO) & (probability < 1 - _ZERO))
        if not free.size:
            break
        free = free[: matrix.shape[0] + 1]
        direction = _kernel(matrix[:, free])
        if direction is None:
            matrix = matrix[:-1]
            continue
        step = _step(probability[free], direction, rng)
        probability[free] += step * direction
    chosen = np.zeros(units, dtype=bool)
    chosen[order] = probability > 0.5
    return chosen


def _kernel(matrix: Floats) -> Floats | None:
    """A direction that changes no row's sum; None where there is none."""
    _, values, rows = np.linalg.svd(matrix)
    rank = int((values > _ZERO * values.max(initial=1.0)).sum())
    return None if rank == matrix.shape[1] else np.asarray(rows[-1])


def _step(probability: Floats, direction: Floats, rng: np.random.Generator) -> float:
    """A random step, of expectation 0, that makes one probability 0 or 1."""
    moving = np.abs(direction) > _ZERO
    at, along = probability[moving], direction[moving]
    ahead = float(np.where(along > 0, (1 - at) / along, -at / along).min())
    back = float(np.where(along > 0, at / along, (at - 1) / along).min())
    return ahead if rng.random() < back / (ahead + back) else -back


Allocation = Literal["equal", "proportional"]
ALLOCATIONS: tuple[str, ...] = get_args(Allocation)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A stratified sample of units (such as stories).

    `unit` holds the drawn indices, ascending, `weight` the number of units that each represents, `size` and `drawn` the
    numbers of all and of drawn units in each stratum. `some` is true where strata have no drawn unit, because fewer
    units than strata were requested or chance left a stratum out. Which these are is random, and `weight` allows for
    that."""

    unit: Integers
    weight: Floats
    size: Integers
    drawn: Integers
    some: bool


def draw(
    stratum: Integers,
    order: Integers,
    n: int,
    rng: np.random.Generator,
    allocation: Allocation,
    factors: Integers | None = None,
) -> Drawn:
    """A stratified sample of `n` units (such as stories); all units are drawn where there are at most n.

    `stratum` (units,) holds codes 0..strata-1. `order` (units,) are numbers by which the units of a stratum are sorted:
    units at equal distances in it are drawn, ties broken at random. `rng` is seeded by the caller. `allocation` takes
    the same number of units from each stratum, or all of one that has fewer ("equal"), or gives every unit the same
    chance ("proportional"). Where there are more strata than units to draw, those drawn from are balanced over the
    levels of `factors` (strata, factors), if given. ValueError for n < 1 or another allocation."""
    if n < 1 or allocation not in ALLOCATIONS:
        raise ValueError(f"cannot draw {n} units with allocation {allocation!r}")
    units = stratum.size
    size = np.bincount(stratum, minlength=int(stratum.max(initial=-1)) + 1).astype(np.int64)
    ranked = np.lexsort((rng.random(units), order, stratum))
    if n >= units:
        everything = np.arange(units)
        return Drawn(everything, np.ones(units), size, size.copy(), some=False)
    if allocation == "proportional":
        unit = np.sort(ranked[_systematic(units, n, rng)])
        drawn = np.bincount(stratum[unit], minlength=size.size)
        return Drawn(unit, np.full(n, units / n), size, drawn, some=bool((drawn == 0).any()))
    if allocation != "equal":
        assert_never(allocation)
    filled = np.flatnonzero(size)
    some = n < filled.size
    drawn = np.zeros_like(size)
    if some:
        places = _systematic(filled.size, n, rng) if factors is None else balanced(factors[filled], n, rng)
        drawn[filled[places]] = 1
    else:
        drawn = allocate(size, n, rng)
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    chosen = [ranked[start[h] + _systematic(int(size[h]), int(drawn[h]), rng)] for h in np.flatnonzero(drawn)]
    unit = np.sort(np.concatenate(chosen))
    each = size / np.maximum(drawn, 1) * (filled.size / n if some else 1.0)
    return Drawn(unit, each[stratum[unit]], size, drawn, some)


def allocate(size: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Number of units to draw from each stratum, as equal as their numbers `size` (strata,) allow; `n` in all.

    Units that remain after equal shares go to strata chosen at random by `rng`, seeded by the caller."""
    given = np.zeros_like(size)
    while (left := n - int(given.sum())) > 0:
        open_ = np.flatnonzero(given < size)
        share = left // open_.size
        if share == 0:
            given[open_[_systematic(open_.size, left, rng)]] += 1
        else:
            given[open_] = np.minimum(size[open_], given[open_] + share)
    return given


def thin(group: Integers, k: int, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """A random sample that keeps at most `k` units (such as judgments) of each group: indices, ascending, and weights.

    `group` (n,) holds the group (such as the story) of each unit; `rng` is seeded by the caller. The weight is the
    number of units that each kept unit represents."""
    order = np.lexsort((rng.random(group.size), group))
    sizes = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rank = np.arange(group.size) - start[group[order]]
    kept = np.sort(order[rank < k])
    return kept, sizes[group[kept]] / np.minimum(sizes[group[kept]], k)


def _systematic(units: int, n: int, rng: np.random.Generator) -> Integers:
    """Every (units / n)-th index from a random start, so that each has the same chance."""
    return np.asarray(np.floor((np.arange(n) + rng.random()) * (units / n)), dtype=np.int64)
