"""Permuted labels keep units together and strata apart, and the p values they give are even where nothing is there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from judge.stats.resampling.swap_test import against_chance, permuted


def test_units_stay_whole_and_strata_keep_their_labels() -> None:
    story = np.repeat(np.arange(8), 6)
    label = np.tile(np.repeat([0, 1, 2], 2), 8)
    unit = story * 3 + label
    found = permuted(label, unit, story, 30, np.random.default_rng(1))
    assert (found[0] == label).all()
    assert len({tuple(row) for row in found}) > 25
    for row in found:
        for one in range(24):
            assert len(set(row[unit == one])) == 1
        for one in range(8):
            assert sorted(row[story == one]) == [0, 0, 1, 1, 2, 2]


def test_one_stratum_deals_over_everything() -> None:
    label = np.repeat([0, 1], 20)
    found = permuted(label, np.arange(40), np.zeros(40, dtype=np.int64), 200, np.random.default_rng(2))
    assert (found.sum(axis=1) == 20).all()
    assert abs(float(found[1:, 0].mean()) - 0.5) < 0.15


def test_p_counts_the_given_labels_and_is_never_nothing() -> None:
    found = against_chance(np.array([5.0, 1, 2, 3]))
    assert (found.value, found.mean, found.p, found.permutations) == (5, 2, 0.25, 3)
    assert against_chance(np.array([2.0, 1, 2, 3])).p == pytest.approx(3 / 4)
    assert against_chance(np.array([2.0, 1, np.nan, 1])).p == pytest.approx(2 / 4)


def test_p_values_are_even_where_labels_mean_nothing() -> None:
    rng = np.random.default_rng(3)
    unit, stratum = np.arange(30) // 2, np.zeros(30, dtype=np.int64)
    ps = []
    for _ in range(300):
        size = np.repeat(rng.normal(size=15), 2)  # members of a unit are alike: single members must not be dealt
        label = np.repeat(rng.permutation([0] * 8 + [1] * 7), 2)
        labels = permuted(label, unit, stratum, 99, rng)
        means = np.array([size[row == 1].mean() - size[row == 0].mean() for row in labels])
        ps.append(against_chance(means).p)
    assert kstest(ps, "uniform").pvalue > 0.01
