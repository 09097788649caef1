"""Balanced samples: no level of a factor is lost, and each unit is drawn with the same probability."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judge.stats.estimation.stratified import balanced, draw

CROSSED = np.array(list(itertools.product(range(4), range(4))))
THREE = np.array(list(itertools.product(range(2), range(3), range(5))))


@pytest.mark.parametrize(("factors", "n"), [(CROSSED, 12), (CROSSED, 4), (CROSSED, 5), (THREE, 12), (THREE, 6)])
def test_each_level_has_its_share(factors: np.ndarray, n: int) -> None:
    """At least one unit where its share is one or more: 12 of 4 x 4 are exactly three of each row and column."""
    for seed in range(40):
        chosen = balanced(factors, n, np.random.default_rng(seed))
        assert chosen.size == np.unique(chosen).size == n
        for place in range(factors.shape[1]):
            counts = np.bincount(factors[chosen, place])
            share = n / counts.size
            if share >= 1:
                assert counts.min() >= 1, (seed, place, counts)
            if factors is CROSSED:
                assert np.abs(counts - share).max() < 2
                assert share != int(share) or (counts == share).all()


@pytest.mark.parametrize(("factors", "n"), [(CROSSED, 12), (CROSSED, 5), (THREE, 12)])
def test_each_unit_has_the_same_chance(factors: np.ndarray, n: int) -> None:
    """Within four standard errors of n / units, over 600 draws."""
    draws, rng = 600, np.random.default_rng(1)
    counts = np.zeros(len(factors))
    for _ in range(draws):
        counts[balanced(factors, n, rng)] += 1
    chance = n / len(factors)
    assert np.abs(counts / draws - chance).max() < 4 * np.sqrt(chance * (1 - chance) / draws)


def test_strata_are_drawn_crossed() -> None:
    """16 strata of 10 units, 12 to draw: every second factor's level is there whatever the seed."""
    stratum, order = np.repeat(np.arange(16), 10), np.zeros(160, dtype=np.int64)
    for seed in range(30):
        drawn = draw(stratum, order, 12, np.random.default_rng(seed), "equal", CROSSED)
        assert drawn.some
        for place in (0, 1):
            assert (np.bincount(CROSSED[stratum[drawn.unit], place]) == 3).all()
        assert drawn.weight.sum() == pytest.approx(160)
