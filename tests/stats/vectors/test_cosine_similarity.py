"""Means of cosines and their jackknife, against all pairs counted one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t

from judge.stats.vectors import cosines, likeness, pairs_between, pairs_within


def unit(n: int, d: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, d)) + 0.5
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def by_pairs(x: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    inside = [
        np.mean([float(x[i] @ x[j]) for i, j in combinations(np.flatnonzero(group == g), 2)])
        for g in np.unique(group)
        if (group == g).sum() > 1
    ]
    outside = [float(x[i] @ x[j]) for i, j in combinations(range(len(x)), 2) if group[i] != group[j]]
    return float(np.mean(inside)), float(np.mean(outside))


def test_means_and_intervals_are_those_of_all_pairs() -> None:
    group = np.repeat(np.arange(12), [1, 2, 3, 1, 2, 3, 4, 2, 2, 3, 2, 2]) * 5
    x = unit(group.size, 8, 1)
    found = likeness(x, group)
    within, between = by_pairs(x, group)
    assert found.within.value == pytest.approx(within, abs=1e-6)
    assert found.between.value == pytest.approx(between, abs=1e-6)
    assert found.difference.value == pytest.approx(within - between, abs=1e-6)
    left = np.array([np.subtract(*by_pairs(x[group != g], group[group != g])) for g in np.unique(group)])
    half = t.ppf(0.975, 11) * np.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum())
    assert found.difference.high is not None
    assert found.difference.high - (within - between) == pytest.approx(half, rel=1e-4)
    assert found.difference.n == 12


def test_what_cannot_be_compared_says_why() -> None:
    x = unit(12, 4, 2)
    single = likeness(x, np.arange(12))
    assert single.within.reason == "no story has two texts"
    assert single.between.defined
    assert not single.difference.defined
    one = likeness(x, np.zeros(12, dtype=np.int64))
    assert one.within.defined
    assert one.between.reason == "one story only"
    few = likeness(x, np.arange(12) // 3)
    assert few.difference.low is None
    assert "fewer than 10" in str(few.difference.reason)


def test_pairs() -> None:
    group = np.array([3, 1, 3, 1, 3, 9])
    first, second = pairs_within(group)
    assert {frozenset(p) for p in zip(first.tolist(), second.tolist(), strict=True)} == {
        frozenset(p) for p in ((0, 2), (0, 4), (2, 4), (1, 3))
    }
    assert pairs_within(np.arange(4))[0].size == 0
    first, second = pairs_between(group, 500, np.random.default_rng(1))
    assert first.size > 200
    assert (group[first] != group[second]).all()
    x = unit(6, 5, 3)
    assert cosines(x, first, second) == pytest.approx((x[first] * x[second]).sum(axis=1), abs=1e-6)
