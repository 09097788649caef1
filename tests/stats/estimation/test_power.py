"""Clustered standard errors against statsmodels and simulation, effective n, detectable effects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.estimation.sample_size import clustered_proportion, effective_n, minimum_detectable_effect, precision


def _clustered(rng: np.random.Generator, groups: int, each: int, between: float) -> tuple[np.ndarray, np.ndarray]:
    cluster = np.repeat(np.arange(groups), each)
    return rng.normal(0, between, groups)[cluster] + rng.normal(0, 1, cluster.size), cluster


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mean_and_interval_equal_statsmodels_cluster_robust_regression(seed: int) -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 12, 90)  # unequal cluster sizes
    y = rng.normal(0, 0.8, 12)[cluster] + rng.normal(3, 1, 90)
    model = api.OLS(y, np.ones((90, 1))).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    found = precision(y, cluster)
    assert found.mean.value == pytest.approx(model.params[0], rel=1e-12)
    assert found.se == pytest.approx(model.bse[0], rel=1e-10)
    assert (found.mean.low, found.mean.high) == pytest.approx(tuple(model.conf_int()[0]), rel=1e-10)
    assert found.clusters == 12
    assert found.mean.method == "t, clustered by story-prompt, 95 %"


def test_one_story_a_story_prompt_is_the_usual_standard_error() -> None:
    y = np.random.default_rng(3).normal(size=40)
    found = precision(y, np.arange(40))
    assert found.se == pytest.approx(float(stats.sem(y)), rel=1e-12)
    assert found.effective_n == pytest.approx(40)


def test_effective_n_is_that_of_the_intraclass_correlation() -> None:
    # Kish: 1 + (m - 1) icc for clusters of equal size m; here icc = .5 and m = 5.
    values, cluster = _clustered(np.random.default_rng(4), 4000, 5, 1.0)
    found = precision(values, cluster)
    assert found.effective_n == pytest.approx(20_000 / (1 + 4 * 0.5), rel=0.08)
    assert effective_n(20_000, found.se_independent, found.se) == found.effective_n


def test_doubling_every_story_adds_nothing() -> None:
    values, cluster = _clustered(np.random.default_rng(5), 30, 2, 0.7)
    once, twice = precision(values, cluster), precision(np.tile(values, 2), np.tile(cluster, 2))
    assert twice.se == pytest.approx(once.se, rel=1e-12)
    assert twice.effective_n == pytest.approx(once.effective_n, rel=0.02)


def test_intervals_cover_where_independent_ones_do_not() -> None:
    rng = np.random.default_rng(6)
    inside = naive = 0
    for _ in range(1000):
        values, cluster = _clustered(rng, 12, 8, 1.0)
        found = precision(values, cluster)
        inside += found.mean.low <= 0 <= found.mean.high
        naive += abs(found.mean.value) <= 1.96 * found.se_independent
    assert 930 <= inside <= 970
    assert naive < 700


def test_shares_of_clustered_stories_cover() -> None:
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(1000):
        chance = rng.beta(1, 9, 20)  # mean .1, story-prompts differ
        cluster = np.repeat(np.arange(20), 6)
        found = clustered_proportion((rng.random(120) < chance[cluster]) * 1.0, cluster)
        inside += found.low <= 0.1 <= found.high
    assert 930 <= inside <= 990


def test_a_share_without_exceptions_counts_story_prompts() -> None:
    found = clustered_proportion(np.zeros(40), np.repeat(np.arange(8), 5))
    z = float(stats.t.ppf(0.975, 7))
    assert (found.value, found.low) == (0, 0)
    assert found.high == pytest.approx(z * z / 8 / (1 + z * z / 8))
    assert "effective n 8.0" in str(found.method)


def test_missing_values_are_left_out() -> None:
    values, cluster = _clustered(np.random.default_rng(8), 10, 3, 0.5)
    gaps = values.copy()
    gaps[[0, 4, 29]] = np.nan
    kept = ~np.isnan(gaps)
    assert precision(gaps, cluster) == precision(values[kept], cluster[kept])


def test_what_does_not_exist_says_why() -> None:
    nothing = precision(np.array([np.nan]), np.array([0]))
    assert nothing.mean.reason == "no rating"
    assert nothing.se is None
    one = precision(np.array([1.0, 2.0, 4.0]), np.zeros(3, dtype=int))
    assert one.mean.value == pytest.approx(7 / 3)
    assert one.mean.low is None
    assert "stories for one story-prompt only" in str(one.mean.reason)
    assert clustered_proportion(np.ones(3), np.zeros(3, dtype=int)).low is None
    equal = precision(np.full(6, 2.0), np.arange(6))
    assert (equal.se, equal.effective_n) == (0, None)


def test_detectable_effects() -> None:
    assert minimum_detectable_effect(1.0) == pytest.approx(2.8016, abs=1e-4)
    assert minimum_detectable_effect(0.1, alpha=0.01, power=0.9) == pytest.approx(0.1 * (2.5758 + 1.2816), abs=1e-4)
    assert minimum_detectable_effect(1.0, df=9) == pytest.approx(2.2622 + 0.8834, abs=1e-4)  # t tables, 9 df
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        minimum_detectable_effect(1.0, power=1.0)
