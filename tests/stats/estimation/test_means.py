"""Means: statsmodels' and scipy's intervals, coverage where stories share a story-prompt, silence where it is one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.estimation import means


def test_as_independent_is_students_interval() -> None:
    ratings = np.array([[4.0, 5.0, np.nan], [3.0, 2.0, 4.0]])
    found = means.as_independent(ratings)
    known = ratings[~np.isnan(ratings)]
    low, high = stats.t.interval(0.95, 4, loc=known.mean(), scale=stats.sem(known))
    assert (found.value, found.n) == (3.6, 5)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_clustered_is_the_cluster_robust_interval_of_statsmodels() -> None:
    # statsmodels 0.15.0: OLS(x, ones).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True).conf_int()
    # of the 12 values and 5 clusters below.
    x = np.array([3.0, 3.5, 2.0, 4.0, 4.5, 1.0, 2.5, 2.0, 3.0, 3.5, 5.0, 4.0])
    cluster = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4])
    found = means.clustered(np.append(x, np.nan), np.append(cluster, 5))
    assert found.n == 12
    assert found.value == pytest.approx(x.mean())
    assert (found.low, found.high) == pytest.approx((1.9579545539176029, 4.3753787794157315), abs=1e-12)


def test_with_one_story_a_cluster_it_is_students_interval_over_stories() -> None:
    x = np.random.default_rng(1).integers(1, 6, 20).astype(float)
    found = means.clustered(x, np.arange(20)[::-1])
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 19, loc=x.mean(), scale=stats.sem(x)))


def test_clustered_covers_where_independence_is_too_narrow() -> None:
    # 20 story-prompts with 6 stories each, half of the variance between story-prompts.
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(20), 6)
    hits = np.zeros(2)
    for _ in range(400):
        x = rng.normal(size=20)[cluster] + rng.normal(size=120)
        both = means.clustered(x, cluster), means.as_independent(x)
        hits += [one.low <= 0 <= one.high for one in both]
    assert 0.92 <= hits[0] / 400 <= 0.98
    assert hits[1] / 400 < 0.80


def test_one_story_has_a_mean_and_no_interval() -> None:
    one = means.clustered(np.array([3.0, np.nan]), np.array([0, 1]))
    assert (one.value, one.low, one.reason) == (3.0, None, "no interval: one story only")
    same = means.clustered(np.array([3.0, 4.0]), np.array([7, 7]))
    assert (same.value, same.low, same.reason) == (3.5, None, "no interval: stories for one story-prompt only")
    assert means.as_independent(np.array([3.0])).reason == "no interval: one rating only"
    assert means.as_independent(np.array([np.nan])).reason == "no rating"
    assert means.clustered(np.array([np.nan]), np.array([0])).value is None


def test_resampled_means_are_those_of_the_drawn_stories() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 9))
    values[1, [0, 4]] = np.nan
    group = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    weights = rng.integers(0, 3, size=(5, 9))
    weights[0, 6:] = 0  # system 2 is not drawn at all
    found = means.resampled(values, group, 3)(weights)
    assert found.shape == (5, 2, 3)
    assert np.isnan(found[0, :, 2]).all()
    for b, row, g in np.ndindex(5, 2, 3):
        drawn = np.repeat(np.arange(9), weights[b])
        part = values[row, drawn[group[drawn] == g]]
        part = part[~np.isnan(part)]
        assert found[b, row, g] == pytest.approx(part.mean()) if part.size else np.isnan(found[b, row, g])


def test_no_interval_of_a_share_leaves_its_range() -> None:
    values, prompt = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1, 2, 2])
    plain, share = means.clustered(values, prompt), means.clustered(values, prompt, bounds=means.SHARE)
    assert (plain.high or 0) > 1
    assert (share.value, share.low, share.high) == (plain.value, plain.low, 1.0)
    assert means.within(plain.without_interval("none"), means.SHARE).high is None
