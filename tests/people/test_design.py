"""Who reads what: balance, connection, order, and the variance of systems' means against random tables."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.lab.people.design import counts, design, groups_of, reading_order, refusal, variance_of_means

STRONG = {"rater_variance": 0.45, "rest": 0.60}


def crossed(prompts: int, systems: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(prompts), systems), np.tile(np.arange(systems), prompts)


def test_200_random_requests_are_balanced_connected_and_no_worse_than_random() -> None:
    rng = np.random.default_rng(7)
    made, ratios = 0, []
    while made < 200:
        prompts, systems = int(rng.integers(4, 61)), int(rng.integers(2, 13))
        raters, k = int(rng.integers(3, 41)), int(rng.integers(2, 6))
        n = prompts * systems
        if n > 350 or refusal(n, raters, k):
            continue
        made += 1
        prompt, system = crossed(prompts, systems)
        found = design(prompt, system, raters, k, np.random.default_rng(made))
        table = found.table
        assert (table.sum(axis=1) == k).all()
        by_system = counts(table, system)
        assert np.ptp(by_system, axis=1).max() <= 1, (prompts, systems, raters, k)
        assert np.ptp(by_system.sum(axis=1)) <= 2
        assert groups_of(table).max() == 0
        for rater, order in enumerate(found.orders):
            assert sorted(order) == np.flatnonzero(table[:, rater]).tolist()
        if made % 20 == 0:
            ratios.append(against_random(table, system, raters, k, rng))
    assert max(ratios) <= 1.0


def against_random(table: np.ndarray, system: np.ndarray, raters: int, k: int, rng: np.random.Generator) -> float:
    """The table's variance of differences of systems' means over that of the best of 1,000 random tables, in which each
    story goes to `k` raters drawn at random."""
    best = np.inf
    for _ in range(1000):
        drawn = np.argsort(rng.random(table.shape), axis=1)[:, :k]
        random = np.zeros_like(table)
        np.put_along_axis(random, drawn, values=True, axis=1)
        best = min(best, variance_of_means(random, system, **STRONG))
    return variance_of_means(table, system, **STRONG) / best


@pytest.mark.parametrize(("prompts", "systems", "raters", "k"), [(12, 5, 6, 3), (20, 6, 10, 2), (17, 7, 9, 3)])
def test_every_beginning_of_a_list_is_even_and_no_prompt_comes_twice_running(
    prompts: int, systems: int, raters: int, k: int
) -> None:
    prompt, system = crossed(prompts, systems)
    found = design(prompt, system, raters, k, np.random.default_rng(1))
    assert found.adjacent == 0
    for order in found.orders:
        for length in range(1, len(order) + 1):
            assert np.ptp(np.bincount(system[list(order[:length])], minlength=systems)) <= 1
        assert all(prompt[a] != prompt[b] for a, b in pairwise(order))


def test_2000_stories_and_40_raters_take_seconds() -> None:
    prompt, system = crossed(200, 10)
    start = time.process_time()
    found = design(prompt, system, 40, 3, np.random.default_rng(1))
    assert time.process_time() - start <= 10
    assert np.ptp(counts(found.table, system)) == 0
    assert found.shared[0] >= 3
    assert found.adjacent == 0


def test_systems_with_unequal_numbers_of_stories_are_spread_over_raters() -> None:
    system = np.array([0] * 31 + [1] * 8 + [2] * 3)
    prompt = np.arange(42) % 17
    found = design(prompt, system, 5, 3, np.random.default_rng(1))
    assert np.ptp(counts(found.table, system), axis=0).max() <= 1
    assert np.ptp(found.table.sum(axis=0)) <= 2


def test_a_core_is_read_by_all_and_the_rest_stays_even() -> None:
    prompt, system = crossed(12, 5)
    found = design(prompt, system, 6, 3, np.random.default_rng(1), core=10)
    assert len(found.core) == 10
    assert found.table[list(found.core)].all()
    assert np.bincount(system[list(found.core)]).tolist() == [2] * 5
    rest = np.setdiff1d(np.arange(60), found.core)
    assert (found.table[rest].sum(axis=1) == 3).all()
    assert np.ptp(counts(found.table, system), axis=0).max() <= 1


def test_a_ring_of_raters_is_joined() -> None:
    prompt, system = crossed(10, 3)
    for seed in range(30):
        found = design(prompt, system, 30, 2, np.random.default_rng(seed))
        assert groups_of(found.table).max() == 0


@pytest.mark.parametrize(
    ("stories", "raters", "k", "words"),
    [
        (10, 5, 1, "no two people read one story"),
        (10, 1, 2, "no two people read one story"),
        (10, 3, 4, "too few people"),
        (4, 40, 3, "somebody would get nothing"),
        (10, 20, 2, "cannot connect 20 raters"),
    ],
)
def test_what_cannot_be_designed_is_refused_with_its_reason(stories: int, raters: int, k: int, words: str) -> None:
    assert words in str(refusal(stories, raters, k))
    with pytest.raises(SpecError, match=words):
        design(np.arange(stories), np.arange(stories) % 2, raters, k, np.random.default_rng(1))


def test_an_order_of_one_prompt_says_how_often_it_stands_beside_itself() -> None:
    order, beside = reading_order(np.arange(4), np.zeros(4, int), np.array([0, 1, 0, 1]), np.random.default_rng(1))
    assert sorted(order) == [0, 1, 2, 3]
    assert beside == 3
