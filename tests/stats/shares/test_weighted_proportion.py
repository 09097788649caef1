"""Weighted shares against statsmodels' weighted least squares with cluster-robust errors, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from judge.stats.estimation.proportions import weighted_share
from judge.stats.estimation.sample_size import clustered_proportion


def test_share_and_variance_are_those_of_weighted_least_squares() -> None:
    rng = np.random.default_rng(4)
    group = rng.integers(0, 25, 120)
    y = (rng.random(120) < 0.1 + 0.4 * (group % 3 == 0)).astype(float)
    w = rng.choice([1.0, 2.5, 7.0], 120)
    fitted = sm.WLS(y, np.ones(120), weights=w).fit(cov_type="cluster", cov_kwds={"groups": group})
    one = weighted_share(y, w, group)
    assert one.value == pytest.approx(fitted.params[0])
    p, variance = float(fitted.params[0]), float(fitted.bse[0]) ** 2
    # Wilson's interval with the effective n of that variance, and t over 25 clusters.
    n, t = p * (1 - p) / variance, stats.t.ppf(0.975, np.unique(group).size - 1)
    centre, half = p + t * t / (2 * n), t * np.sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    assert (one.low, one.high) == pytest.approx(((centre - half) / (1 + t * t / n), (centre + half) / (1 + t * t / n)))


def test_equal_weights_are_the_clustered_proportion() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(60), 5)
    y = (rng.random(300) < (0.1 + 0.5 * (group % 2))).astype(float)
    ours, theirs = weighted_share(y, np.full(300, 4.0), group), clustered_proportion(y, group)
    assert ours.value == pytest.approx(theirs.value)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=5e-4)  # n against n - 1


def test_intervals_hold_the_populations_share() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(600):
        stratum = np.repeat([0, 1], [40, 40])
        truth = np.array([0.05, 0.4])
        y = (rng.random(80) < truth[stratum]).astype(float)
        one = weighted_share(y, np.array([9.0, 1.0])[stratum], np.arange(80))
        assert one.low is not None
        assert one.high is not None
        held += one.low <= 0.9 * 0.05 + 0.1 * 0.4 <= one.high
    assert 0.93 <= held / 600 <= 1.0


def test_edges() -> None:
    nothing = weighted_share(np.array([np.nan]), np.ones(1), np.zeros(1, dtype=np.int64))
    assert (nothing.value, nothing.reason) == (None, "nothing was answered")
    one = weighted_share(np.array([1.0, 0.0]), np.ones(2), np.zeros(2, dtype=np.int64))
    assert (one.value, one.low, one.reason) == (0.5, None, "no interval: one story only")
    none = weighted_share(np.zeros(50), np.ones(50), np.arange(50))
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high is not None
    assert 0.05 < none.high < 0.1
    gap = weighted_share(np.array([1.0, np.nan, 0.0]), np.array([1.0, 50.0, 3.0]), np.arange(3))
    assert (gap.value, gap.n) == (0.25, 2)
