"""Drift: Fisher intervals, spread of both sides, Q and p against other programs, size and power in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.correlation.heterogeneity import LatentCorrelation, by_group, homogeneity, in_group, latent_correlation


def test_q_is_that_of_statsmodels() -> None:
    # statsmodels 0.15.0, meta_analysis.combine_effects(arctanh(r), 1 / (n - 3)): q, df and i2 of test_homogeneity.
    rs, ns = (0.51, 0.32, 0.45, 0.12, 0.38), (200, 180, 95, 12, 200)
    found = homogeneity([LatentCorrelation(np.arctanh(r), 1 / (n - 3), n) for r, n in zip(rs, ns, strict=True)])
    assert (found.q, found.df) == (pytest.approx(6.457756765739816, abs=1e-12), 4)
    assert found.i2 == pytest.approx(0.380589863461395, abs=1e-12)


def test_p_is_that_of_welchs_analysis_of_variance() -> None:
    # scipy's Welch test of means: z is a mean, its variance that of the values over their number.
    rng = np.random.default_rng(7)
    values = [rng.normal(0.1 * k, 1 + k / 3, size=5 + 4 * k) for k in range(4)]
    found = homogeneity([LatentCorrelation(v.mean(), v.var(ddof=1) / v.size, v.size) for v in values])
    assert found.p == pytest.approx(stats.f_oneway(*values, equal_var=False).pvalue, abs=1e-9)


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
    groups = [LatentCorrelation(0.4, 0.02, 50), LatentCorrelation(0.3, 0.03, 40), None, None, None]
    found = homogeneity(groups)
    assert (found.df, found.left_out) == (1, 3)
    alone = homogeneity(groups[:1])
    assert (alone.q, alone.p, alone.reason) == (None, None, "undefined with 1 usable group")
    assert homogeneity(groups[:1] * 2).i2 == 0.0
    line = np.arange(9.0)
    for x, y in ((line, line), (line[:3], line[2::-1]), (np.ones(9), line)):
        assert in_group(x, y).latent is None


def test_the_latent_correlation_does_not_depend_on_the_place_on_the_scale() -> None:
    rng, rho = np.random.default_rng(2), 0.6
    x = rng.normal(size=200_000)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=x.size)
    plain = latent_correlation(x, y)
    assert np.tanh(plain.z) == pytest.approx(rho, abs=0.01)
    assert plain.variance == pytest.approx(1 / x.size, rel=0.05)
    thresholds, seen = np.array([-1.5, -0.5, 0.5, 1.5]), []
    for level in (0.0, 1.0, 2.0):
        judge, people = (np.searchsorted(thresholds, side - level).astype(float) for side in (x, y))
        seen.append(in_group(judge, people).r.value)
        assert np.tanh(latent_correlation(judge, people).z) == pytest.approx(rho, abs=0.01)
    assert seen[0] > seen[1] > seen[2] + 0.03


def test_the_variance_is_that_over_samples() -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(800):
        x = rng.normal(size=60)
        y = 0.6 * x + 0.8 * rng.normal(size=60)
        found.append(latent_correlation(np.round(np.clip(x, -1, 2)), np.round(np.clip(y, -1, 2))))
    z, variance = np.array([one.z for one in found]), np.array([one.variance for one in found])
    assert variance.mean() == pytest.approx(z.var(), rel=0.15)


@pytest.mark.parametrize("spread", [0.0, 1.5], ids=["one level", "unlike levels"])
def test_the_test_rejects_equal_judges_in_about_5_percent_at_any_levels(spread: float) -> None:
    rng, thresholds = np.random.default_rng(1), np.array([-1.5, -0.5, 0.5, 1.5])
    rejected = 0
    for _ in range(200):
        people = rng.normal(size=(4, 60))
        judge = 0.6 * people + 0.8 * rng.normal(size=(4, 60))
        level = spread * np.array([-1.0, -0.5, 0.0, 1.0])[:, None]
        judge, people = (np.searchsorted(thresholds, side + level).astype(float) for side in (judge, people))
        rejected += homogeneity([in_group(x, y).latent for x, y in zip(judge, people, strict=True)]).p < 0.05
    # 5 % with three standard errors of 200 studies; Q of the plain r rejects in 20 % at unlike levels.
    assert 0.004 < rejected / 200 < 0.096


def test_a_judge_that_reads_one_system_badly_is_found() -> None:
    rng, found = np.random.default_rng(5), 0
    for _ in range(100):
        people = rng.normal(size=(4, 100))
        noise = np.array([0.5, 0.5, 0.5, 3.0])[:, None]
        judge = np.round(people + noise * rng.normal(size=(4, 100)))
        found += homogeneity([in_group(x, y).latent for x, y in zip(judge, people, strict=True)]).p < 0.05
    assert found >= 95


def test_a_group_whose_correlation_rests_on_one_story_is_left_out() -> None:
    """One story apart gives r = -.02 with next to no variance, which set such a group apart from every other."""
    rng = np.random.default_rng(3)
    people = rng.integers(1, 6, 200).astype(np.float64)
    judge = np.full(200, 5.0)
    judge[7] = 4.0
    assert in_group(judge, people).latent is None
    judge[8] = 4.0
    assert in_group(judge, people).latent is not None
    groups = [in_group(people + rng.normal(size=200), people).latent for _ in range(3)]
    assert homogeneity([*groups, None]).left_out == 1
