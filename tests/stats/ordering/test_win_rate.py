"""Win rates of pairs: Wilson, another program's clustered error, and nothing to pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.estimation.proportions import wilson
from judge.stats.ordering.ranking import win_rate


def test_ties_count_one_half() -> None:
    found = win_rate(np.array([2.0, 0.5, 0.0, 1e-12, -1.0, np.nan]))
    assert (found.wins, found.ties, found.losses) == (2, 2, 1)
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(3 / 5), 5)
    assert (found.estimate.low, found.estimate.high) == (wilson(3, 5).low, wilson(3, 5).high)
    assert win_rate(np.array([1.0, 0.0, -1.0, 1.0])).estimate.value == pytest.approx(2.5 / 4)


def test_clusters_widen_the_interval_as_another_program_says() -> None:
    # statsmodels 0.15.0: OLS on a constant, cov_type="cluster", use_correction=False: .10713367, times
    # sqrt(5 / 4) for the correction used here = .11977909.
    credit = np.array([1, 0.5, 0, 1, 1, 0, 0, 1, 0.5, 1, 1, 0])
    cluster = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4]) * 7
    found = win_rate(credit - 0.5, cluster).estimate
    half = stats.t.ppf(0.975, 4) * 0.11977909
    assert found.value == pytest.approx(7 / 12)
    assert (found.low, found.high) == pytest.approx((7 / 12 - half, 7 / 12 + half), abs=1e-7)
    assert found.method == "t, clustered by story-prompt, 95 %"


def test_pairs_that_all_end_alike_are_as_many_trials_as_clusters() -> None:
    same = win_rate(np.array([1.0, 2.0, 1.0, 3.0]), np.array([0, 1, 2, 2])).estimate
    assert (same.value, same.low, same.high) == (1.0, wilson(3, 3).low, 1.0)
    assert same.method == "Wilson, one trial a story-prompt (3), 95 %"
    one = win_rate(np.array([1.0, 2.0]), np.zeros(2, dtype=int)).estimate
    assert (one.value, one.low, one.reason) == (1.0, None, "no interval: pairs of one story-prompt only")


def test_nothing_to_pair_is_undefined() -> None:
    assert win_rate(np.array([np.nan])).estimate.reason == "undefined without a pair of rated stories"
    assert win_rate(np.array([]), np.array([], dtype=int)).estimate.value is None
