"""Recall at k: counted by hand, ties against every order of the tied, items that do not count."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judge.stats.ordering.storyer import recall_at_k


def test_by_hand() -> None:
    scores = np.array([[0.9, 0.5, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4]])
    selected = np.array([[1, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    found = recall_at_k(scores, selected, 2)
    assert (found.micro.value, found.micro.n) == (pytest.approx(2 / 3), 3)  # found: aspect 0; aspect 3
    assert (found.macro.value, found.macro.n) == (pytest.approx((1 / 2 + 1) / 2), 2)
    assert recall_at_k(scores, selected, 4).micro.value == 1.0


def test_ties_at_rank_k_are_the_mean_over_all_orders_of_the_tied() -> None:
    scores = np.array([[3.0, 2.0, 2.0, 2.0, 1.0]])
    selected = np.array([[1, 1, 1, 0, 1]], dtype=bool)
    for k in range(1, 6):
        recalls = []
        for order in itertools.permutations([1, 2, 3]):
            top = [0, *order, 4][:k]
            recalls.append(selected[0, top].sum() / selected.sum())
        assert recall_at_k(scores, selected, k).micro.value == pytest.approx(np.mean(recalls), abs=1e-12)


def test_items_without_a_selected_aspect_or_with_an_unscored_one_are_counted_not_used() -> None:
    scores = np.array([[1.0, 2.0], [1.0, np.nan], [2.0, 1.0], [np.nan, np.nan]])
    selected = np.array([[0, 1], [1, 0], [0, 0], [0, 0]], dtype=bool)
    found = recall_at_k(scores, selected, 1)
    assert (found.macro.value, found.macro.n, found.none_selected, found.incomplete) == (1.0, 1, 2, 1)
    nothing = recall_at_k(scores[1:], selected[1:], 1)
    assert nothing.micro.reason == "undefined without an item that has scores and a selected aspect"


def test_a_random_judge_finds_k_of_m() -> None:
    rng = np.random.default_rng(0)
    scores, selected = rng.random((4000, 10)), rng.random((4000, 10)) < 0.3
    found = recall_at_k(scores, selected, 3)
    assert found.micro.low < 0.3 < found.micro.high
    assert found.macro.value == pytest.approx(0.3, abs=0.02)
    constant = recall_at_k(np.zeros((50, 10)), selected[:50], 3)
    assert constant.micro.value == pytest.approx(0.3)


@pytest.mark.parametrize("k", [0, 3])
def test_k_must_be_a_rank(k: int) -> None:
    with pytest.raises(ValueError, match=r"must lie among 1\.\.2"):
        recall_at_k(np.zeros((1, 2)), np.ones((1, 2), dtype=bool), k)
