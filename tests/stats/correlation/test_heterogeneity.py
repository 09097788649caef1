"""Drift: Fisher intervals, spread of both sides, Q against statsmodels, size of the test in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.correlation.heterogeneity import by_group, homogeneity, in_group
from judge.stats.estimate import Estimate


def test_q_is_that_of_statsmodels() -> None:
    # statsmodels 0.15.0, meta_analysis.combine_effects(arctanh(r), 1 / (n - 3)): q, df, i2, p of test_homogeneity,
    # and the fixed effect with its 95 % interval, carried back by tanh.
    rs, ns = (0.51, 0.32, 0.45, 0.12, 0.38), (200, 180, 95, 12, 200)
    found = homogeneity([Estimate(r, n=n) for r, n in zip(rs, ns, strict=True)])
    assert (found.q, found.df) == (pytest.approx(6.457756765739816, abs=1e-12), 4)
    assert found.p == pytest.approx(0.16747158520308336, abs=1e-12)
    assert found.i2 == pytest.approx(0.380589863461395, abs=1e-12)
    assert found.pooled.value == pytest.approx(0.41163025920478274, abs=1e-12)
    assert (found.pooled.low, found.pooled.high) == pytest.approx((0.34694388748243143, 0.47241898965657775), abs=1e-9)
    assert found.pooled.n == 687


def test_r_by_group_is_scipys_with_fishers_interval() -> None:
    rng = np.random.default_rng(0)
    people = rng.normal(size=90)
    judge = people + rng.normal(size=90)
    judge[4] = np.nan
    group = np.arange(90) % 3
    for g, found in enumerate(by_group(judge, people, group, 3)):
        keep = (group == g) & ~np.isnan(judge)
        expected = stats.pearsonr(judge[keep], people[keep])
        interval = expected.confidence_interval()
        assert found.r.value == pytest.approx(expected.statistic, abs=1e-12)
        assert (found.r.low, found.r.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert (found.sd_judge, found.sd_people) == pytest.approx((judge[keep].std(ddof=1), people[keep].std(ddof=1)))
        assert not found.few


def test_few_and_constant_groups() -> None:
    few = in_group(np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert few.few
    constant = in_group(np.ones(12), np.arange(12.0))
    assert constant.r.reason == "undefined because the judge's ratings are all equal"
    assert (constant.sd_judge, constant.sd_people) == (0.0, pytest.approx(np.arange(12).std(ddof=1)))
    assert in_group(np.array([1.0]), np.array([1.0])).sd_judge is None


def test_groups_without_a_usable_correlation_are_left_out_and_counted() -> None:
    rs = [
        Estimate(0.4, n=50),
        Estimate(0.3, n=40),
        Estimate.undefined("constant"),
        Estimate(0.9, n=3),
        Estimate(1.0, n=9),
    ]
    found = homogeneity(rs)
    assert (found.df, found.left_out) == (1, 3)
    alone = homogeneity(rs[:1])
    assert (alone.q, alone.p, alone.reason) == (None, None, "undefined with 1 usable group")
    assert homogeneity([Estimate(0.4, n=50)] * 2).i2 == 0.0


def test_the_test_rejects_equal_correlations_in_about_5_percent() -> None:
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(600):
        people = rng.normal(size=(4, 60))
        judge = 0.6 * people + 0.8 * rng.normal(size=(4, 60))
        rejected += homogeneity([in_group(x, y).r for x, y in zip(judge, people, strict=True)]).p < 0.05
    assert 0.03 < rejected / 600 < 0.075
