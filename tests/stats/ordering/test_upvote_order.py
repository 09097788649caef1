"""Acc and Dis by hand: what a tie is worth, and which pairs count."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.ordering.storyer import TIE_WRONG, accuracy, distance

HIGHER = np.array([3.0, 2.0, 5.0, np.nan, 1.0 + 1e-12])
LOWER = np.array([1.0, 4.0, 4.5, 1.0, 1.0])
PROMPT = np.array([0, 0, 1, 1, 2])


def test_a_tie_is_wrong_to_the_study_and_one_half_to_us() -> None:
    """Right, wrong, right, no score, tie: 2 of 4, and 2.5 of 4."""
    assert accuracy(HIGHER, LOWER, PROMPT, tie=TIE_WRONG).value == pytest.approx(0.5)
    ours = accuracy(HIGHER, LOWER, PROMPT)
    assert (ours.value, ours.n) == (pytest.approx(0.625), 4)
    assert ours.low is not None
    assert ours.low < 0.625 < (ours.high or 0)


def test_distance_is_the_mean_gap() -> None:
    assert distance(HIGHER, LOWER, PROMPT).value == pytest.approx((2 - 2 + 0.5 + 0) / 4)


def test_nothing_to_compare_is_undefined() -> None:
    nothing = np.array([np.nan])
    assert not accuracy(nothing, nothing, np.array([0])).defined


def test_a_score_that_says_nothing_has_one_half() -> None:
    same = np.ones(6)
    assert accuracy(same, same, np.arange(6)).value == pytest.approx(0.5)
    assert accuracy(same, same, np.arange(6), tie=TIE_WRONG).value == 0
