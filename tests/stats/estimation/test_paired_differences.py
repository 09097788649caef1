"""Differences between systems: scipy's paired test, statsmodels' Holm, and no test where there is nothing to test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.estimation import paired_differences as pairs


def test_each_pair_is_scipys_paired_test_on_the_story_prompts_that_both_have() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(1, 6, size=(30, 3)).astype(float)
    table[:4, 2] = np.nan
    found = {(one.first, one.second): one for one in pairs.all_pairs(table)}
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    for (i, j), one in found.items():
        both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
        test = stats.ttest_rel(table[both, i], table[both, j])
        low, high = test.confidence_interval(0.95)
        assert one.estimate.n == both.sum() == (30 if 2 not in (i, j) else 26)
        assert one.estimate.value == pytest.approx((table[both, i] - table[both, j]).mean())
        assert (one.estimate.low, one.estimate.high, one.t, one.p) == pytest.approx(
            (low, high, test.statistic, test.pvalue)
        )


def test_stories_for_one_story_prompt_are_averaged_first() -> None:
    values = np.array([1.0, 3.0, 5.0, np.nan, 2.0])
    table = pairs.by_story_prompt(values, np.array([0, 0, 1, 0, 1]), np.array([0, 0, 0, 1, 1]), 2)
    np.testing.assert_array_equal(table, [[2.0, 5.0], [np.nan, 2.0]])


def test_p_is_adjusted_over_the_tests_of_the_family_by_holm() -> None:
    # statsmodels 0.15.0: multipletests([.01, .04, .03, .005, .9], method="holm")[1]
    p = pairs.holm(np.array([0.01, 0.04, 0.03, 0.005, 0.9]))
    assert p == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9])
    table = np.array([[1.0, 1.0, 4.0], [2.0, 2.0, 5.5], [3.0, 3.0, 5.0], [4.0, 4.0, 5.0]])
    family = pairs.adjusted(pairs.all_pairs(table))
    untested = family[0]
    assert untested.estimate.value == 0
    assert (untested.p, untested.p_adjusted, untested.estimate.reason) == (None, None, pairs.ALL_ZERO)
    assert family[1].p_adjusted == pytest.approx(2 * family[1].p)  # a family of two tests, not of three pairs


def test_what_cannot_be_tested_says_why() -> None:
    nothing = pairs.all_pairs(np.array([[1.0, np.nan], [np.nan, 2.0]]))[0]
    assert (nothing.estimate.value, nothing.estimate.reason) == (None, pairs.NO_COMMON)
    one = pairs.all_pairs(np.array([[1.0, 3.0]]))[0]
    assert (one.estimate.value, one.p, one.estimate.reason) == (-2.0, None, pairs.ONE_COMMON)
    # Ten times the same difference: no t, but not no evidence either.
    constant = pairs.all_pairs(np.tile([3.0, 2.0], (10, 1)))[0]
    assert constant.test == "sign"
    assert constant.p == pytest.approx(stats.binomtest(10, 10).pvalue)
    assert (constant.t, constant.estimate.low) == (None, None)


def test_told_apart_says_which_is_higher() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(40, 3)) + np.array([0.0, 2.0, 0.1])
    higher = pairs.told_apart(pairs.adjusted(pairs.all_pairs(table)), 3)
    np.testing.assert_array_equal(higher, [[False, False, False], [True, False, True], [False, False, False]])
