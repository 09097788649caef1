"""The jackknife by clusters: against the textbook for a mean, its size in simulation, and where it does not exist."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import against_zero


def _mean(values):
    return lambda weights: (weights @ values) / weights.sum(axis=1)


def test_with_one_story_a_cluster_it_is_students_t() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 40)
    test = against_zero(_mean(values), np.arange(40), np.ones(40, dtype=bool))
    golden = stats.ttest_1samp(values, 0)
    interval = golden.confidence_interval(0.95)
    assert test.p == pytest.approx(golden.pvalue, rel=1e-12)
    assert (test.estimate.low, test.estimate.high) == pytest.approx((interval.low, interval.high), rel=1e-12)
    assert test.se == pytest.approx(stats.sem(values), rel=1e-12)


@pytest.mark.parametrize(("tail", "alternative"), [("greater", "greater"), ("less", "less")])
def test_tails(tail, alternative) -> None:
    values = np.random.default_rng(1).normal(0.2, 1, 30)
    test = against_zero(_mean(values), np.arange(30), np.ones(30, dtype=bool), tail=tail)
    assert test.p == pytest.approx(stats.ttest_1samp(values, 0, alternative=alternative).pvalue, rel=1e-12)


def test_stories_for_one_story_prompt_count_as_one_unit() -> None:
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(30), 10)
    used = np.ones(300, dtype=bool)
    naive = clustered = 0
    for _ in range(300):
        values = rng.normal(0, 1, 30)[cluster] + rng.normal(0, 0.3, 300)
        clustered += (against_zero(_mean(values), cluster, used).p or 1) < 0.05
        naive += stats.ttest_1samp(values, 0).pvalue < 0.05
    assert clustered / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert naive / 300 > 0.3


def test_stories_that_are_not_used_have_no_part() -> None:
    values = np.append(np.random.default_rng(3).normal(0, 1, 20), 1e6)
    used = np.append(np.ones(20, dtype=bool), False)
    filled = np.where(used, values, 0.0)
    test = against_zero(lambda w: (w @ filled) / (w @ used), np.arange(21), used)
    assert test.estimate.n == test.clusters == 20
    assert test.p == pytest.approx(stats.ttest_1samp(values[:20], 0).pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("statistic", "clusters", "reason"),
    [
        (lambda w: w.sum(axis=1) * np.nan, 20, "undefined on these stories"),
        (lambda w: w.sum(axis=1), 4, "undefined with fewer than 5 story-prompts"),
        (lambda w: w.sum(axis=1) * 0 + 1, 20, "no test: nothing varies between story-prompts"),
        (lambda w: np.where(w[:, 0] > 0, 1.0, np.nan), 20, "undefined when one story-prompt is left out"),
    ],
)
def test_what_does_not_exist_says_why(statistic, clusters: int, reason: str) -> None:
    test = against_zero(statistic, np.arange(clusters), np.ones(clusters, dtype=bool))
    assert test.p is None
    assert test.se is None
    assert test.estimate.reason == reason


def test_weights_without_one_cluster_take_as_much_as_stories_and_not_stories_times_clusters() -> None:
    rng = np.random.default_rng(5)
    n = 2_000
    cluster, used, values = rng.integers(0, 900, n), rng.random(n) < 0.9, rng.normal(size=n)
    asked = []

    def mean(weights: jackknife.Weights) -> np.ndarray:
        asked.append(weights)
        some = weights[:, values > -2]
        return (some @ values[values > -2]) / some.sum(axis=1) + (weights @ np.stack([values] * 2, axis=1))[:, 1] / n

    found = jackknife.against_zero(mean, cluster, used)
    (left_out,) = asked[1:]
    assert isinstance(left_out, jackknife.LeftOut)
    assert left_out.stories.size == left_out.left.size == used.sum()
    dense = (used & (cluster != np.unique(cluster[used])[:, None])).astype(float)
    np.testing.assert_allclose(mean(left_out), mean(dense), rtol=0, atol=1e-12)
    assert found.clusters == len(dense)


def test_the_standard_error_is_that_of_a_loop_over_unequal_story_prompts() -> None:
    rng = np.random.default_rng(15)
    cluster = np.repeat(np.arange(7), [1, 9, 2, 5, 1, 3, 4])
    values, used = np.exp(rng.normal(size=cluster.size) + cluster / 3), rng.random(cluster.size) > 0.2

    def statistic(weights: jackknife.Weights) -> np.ndarray:
        return np.log(weights @ values**2 / weights.sum(axis=1))

    found = jackknife.against_zero(statistic, cluster, used)
    groups = np.unique(cluster[used])
    left = [np.log(np.mean(values[used & (cluster != group)] ** 2)) for group in groups]
    expected = np.sqrt((groups.size - 1) / groups.size * np.sum((left - np.mean(left)) ** 2))
    assert found.se == pytest.approx(expected, rel=1e-12)
    assert found.estimate.value == pytest.approx(np.log(np.mean(values[used] ** 2)), rel=1e-12)
    assert found.clusters == groups.size
