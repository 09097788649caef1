"""Balanced random samples of equal inclusion probability: in the sample, each level of several crossed factors (such as
judges and Eval-Prompts) has as many units as its share of the population, up to rounding.

The cube method (Deville & Tillé 2004, Biometrika 91(4), 893-912): inclusion probabilities move at random, in directions
that change no balance, until they are 0 or 1; where no such direction is left, the last balance is given up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_ZERO = 1e-9
_TRIES = 100
"""Draws, of which the first without a lost level is taken."""


def balanced(factors: Integers, n: int, rng: np.random.Generator) -> Integers:
    """A sample of n units in which no level is missing that should have one unit or more.

    Parameters
    ----------
    factors : array of int, shape (units, factors)
        Code of each unit's level of each factor.
    n : int
        Number of units to draw, at most all.
    rng : numpy Generator
        Random generator, seeded by the caller.

    Returns
    -------
    array of int, shape (n,)
        Indices of the drawn units, ascending. The inclusion probability of each unit is n / units. It is exact where
        the factors are fully crossed; elsewhere drawing again for a lost level changes it a little.
    """
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


def _cube(constraints: Floats, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """One draw by the cube method, as a mask of units. `constraints`, of shape (constraints, units), are to have the
    same sum over the sample as in expectation; the first, the sample's size, is always kept.
    """
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
