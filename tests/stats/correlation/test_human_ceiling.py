"""The leave-one-out ceiling, by hand and on the released HANNA columns."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau

from judge.base.estimate import Estimate
from judge.stats.correlation import human_ceiling, kendall
from judge.stats.correlation.coefficients import correlate
from judge.stats.correlation.human_ceiling import leave_one_out
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_tau


def test_each_rater_is_compared_with_the_mean_of_the_others() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, (30, 3)).astype(float)
    ratings[4, 1] = np.nan
    found = leave_one_out(ratings, correlate)
    parts = []
    for i in range(3):
        others = np.nanmean(np.delete(ratings, i, axis=1), axis=1)
        keep = ~np.isnan(ratings[:, i])
        parts.append(kendalltau(ratings[keep, i], others[keep]).statistic)
    assert found.value == pytest.approx(np.mean(parts), abs=1e-12)
    assert (found.n, found.method) == (30, "leave-one-out, 3 of 3 raters")


def test_a_single_rater_has_nobody_to_compare_with() -> None:
    found = leave_one_out(np.array([[1.0], [2], [3]]), correlate)
    assert found.value is None
    assert found.reason == "one more person is undefined with fewer than 2 raters"


def test_hanna_columns_give_the_recomputed_ceiling(studies) -> None:
    # tau-b of each rater column with the mean of the other two, mean of three, x100, ten machine systems
    # (scipy.stats.kendalltau over columns "Human i" and "Human Avg i").
    expected = {"RE": 5.7, "CH": -20.9, "EM": 5.6, "SU": -8.2, "EG": 8.9, "CX": 19.2}
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
    for criterion, tau in expected.items():
        ratings = np.stack(
            [np.concatenate([json.loads(row[f"Human {i} {criterion}"]) for row in rows]) for i in (1, 2, 3)], axis=1
        )
        found = leave_one_out(ratings.astype(float), correlate)
        assert found.n == 960
        assert round(100 * found.value, 1) == tau


def _raters(seed: int = 0, n: int = 60, r: int = 5, gone: float = 0.15) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ratings = np.clip(np.round(3 + rng.normal(size=(n, 1)) + rng.normal(size=(n, r))), 1, 5)
    ratings[rng.random((n, r)) < gone] = np.nan
    return ratings


def test_a_panel_rated_nearly_every_shared_story() -> None:
    ratings = _raters(gone=0.0, r=3)
    assert human_ceiling.is_panel(ratings)
    ratings[:12, 1] = np.nan  # 80 % of 60
    assert human_ceiling.is_panel(ratings)
    ratings[12, 1] = np.nan
    assert not human_ceiling.is_panel(ratings)
    # Stories of one rater say nothing about who shares.
    assert human_ceiling.is_panel(np.vstack([_raters(gone=0.0, r=3), [[1.0, np.nan, np.nan]] * 60]))
    assert not human_ceiling.is_panel(np.array([[1.0, np.nan], [np.nan, 2.0]]))


def _pool(n: int = 50, workers: int = 20) -> np.ndarray:
    rng = np.random.default_rng(6)
    ratings = np.clip(np.round(3 + rng.normal(size=(n, 1)) + rng.normal(size=(n, workers))), 1, 5)
    turn = np.argsort(np.argsort(rng.random((n, workers)), axis=1), axis=1)
    ratings[turn >= rng.integers(1, 5, (n, 1))] = np.nan
    return ratings


def test_of_a_pool_one_rater_of_each_story_stands_against_that_storys_others() -> None:
    ratings = _pool()
    found = human_ceiling.one_of_each_story(ratings, 12, np.random.default_rng(1))
    count = (~np.isnan(ratings)).sum(axis=1)
    for story, given in enumerate(ratings):
        values = sorted(given[~np.isnan(given)])
        if count[story] < 2:
            assert np.isnan(found.x[:, story]).all()
            assert np.isnan(found.y[:, story]).all()
            continue
        # Twelve draws are whole rounds of 2, 3 or 4 raters: each stood for one person equally often.
        assert sorted(found.x[:, story]) == sorted(values * (12 // count[story]))
        others = (sum(values) - found.x[:, story]) / (count[story] - 1)
        np.testing.assert_allclose(found.y[:, story], others)
    estimate = found.estimate(correlate)
    assert (estimate.n, estimate.method) == (int((count > 1).sum()), "one rater a story, 12 of 12 draws")
    parts = [correlate(x, y).value for x, y in zip(found.x, found.y, strict=True)]
    assert estimate.value == pytest.approx(np.mean(parts), abs=1e-14)
    assert len(np.unique(found.x[:, count == 4], axis=0)) == 12
    again = human_ceiling.one_of_each_story(ratings, 12, np.random.default_rng(1))
    np.testing.assert_array_equal(found.x, again.x)


def test_a_pool_whose_raters_share_no_story_has_no_ceiling() -> None:
    alone = np.where(np.eye(6) > 0, 3.0, np.nan)
    found = human_ceiling.one_of_each_story(alone, 5, np.random.default_rng(0)).estimate(correlate)
    assert found.reason == "one more person is undefined: no story was rated by two people"


def _pearson(x: np.ndarray, y: np.ndarray) -> Estimate:
    return correlate(x, y, "pearson")


def test_ceilings_in_resamples_are_those_of_the_repeated_stories() -> None:
    made = human_ceiling.one_against_others(_raters(4, n=40))
    drawn = bootstrap.draw(np.repeat(np.arange(10), 4), 12, np.random.default_rng(3), "boot-inputs")
    found = made.values(lambda x, y: resampled_tau.tau_b(drawn, kendall.codes(x), kendall.codes(y)))
    for b, weight in enumerate(drawn.weights()):
        rows = np.repeat(np.arange(40), weight)
        again = human_ceiling.Ceiling(made.name, made.of, made.x[:, rows], made.y[:, rows])
        assert found[b] == pytest.approx(again.estimate(correlate).value, abs=1e-12)


def test_where_there_is_no_ceiling_it_says_so() -> None:
    constant = human_ceiling.one_against_others(np.full((5, 2), 3.0)).estimate(correlate)
    assert constant.reason == "one more person is undefined for every rater (undefined because x are all equal)"
