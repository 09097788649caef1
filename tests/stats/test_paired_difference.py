"""Win rates and mean differences of pairs: Wilson, t, another program's clustered error, and nothing to pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.paired_difference import clustered_mean, win_rate
from judge.stats.proportion import wilson


def test_ties_count_one_half() -> None:
    found = win_rate(np.array([2.0, 0.5, 0.0, 1e-12, -1.0, np.nan]))
    assert (found.wins, found.ties, found.losses) == (2, 2, 1)
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(3 / 5), 5)
    assert (found.estimate.low, found.estimate.high) == (wilson(3, 5).low, wilson(3, 5).high)


def test_clusters_widen_the_interval_as_another_program_says() -> None:
    # statsmodels 0.15.0: OLS on a constant, cov_type="cluster", use_correction=False: .10713367, times
    # sqrt(5 / 4) for the correction used here = .11977909.
    credit = np.array([1, 0.5, 0, 1, 1, 0, 0, 1, 0.5, 1, 1, 0])
    cluster = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4])
    found = clustered_mean(credit, cluster)
    half = stats.t.ppf(0.975, 4) * 0.11977909
    assert found.value == pytest.approx(7 / 12)
    assert (found.low, found.high) == pytest.approx((7 / 12 - half, 7 / 12 + half), abs=1e-7)
    assert found.method == "t of 5 clusters, 95 %"
    as_rate = win_rate(credit - 0.5, cluster)
    assert (as_rate.estimate.value, as_rate.estimate.low) == (found.value, pytest.approx(max(0.0, found.low)))


def test_without_clusters_it_is_the_t_interval() -> None:
    values = np.array([0.2, 0.5, -0.1, 0.4, np.nan, 0.3])
    known = values[~np.isnan(values)]
    expected = stats.ttest_1samp(known, 0).confidence_interval()
    found = clustered_mean(values)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.n, found.method) == (5, "t, 95 %")


def test_copies_of_a_cluster_bring_no_certainty() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 15)
    once = clustered_mean(d)
    copied = clustered_mean(np.repeat(d, 10), np.repeat(np.arange(15), 10))
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=1e-12)


def test_where_there_is_no_variance_there_is_no_interval() -> None:
    one = clustered_mean(np.array([1.0, 2.0]), np.zeros(2, dtype=int))
    assert (one.value, one.low, one.reason) == (1.5, None, "no interval: all pairs belong to one cluster")
    same = win_rate(np.array([1.0, 2.0, 1.0]), np.arange(3)).estimate
    assert (same.value, same.reason) == (1.0, "no interval: every cluster has the same mean")


def test_nothing_to_pair_is_undefined() -> None:
    found = win_rate(np.array([np.nan]))
    assert found.estimate.reason == "undefined without a pair of rated stories"
    assert clustered_mean(np.array([])).value is None
