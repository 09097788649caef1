"""Correlations equal scipy's in every grouping, and do not exist where they do not exist."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy import stats

from judge.stats.correlation import coefficients
from judge.stats.resampling import bootstrap


def _data(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 6, n).astype(float)
    return x, np.round(x + rng.normal(0, 1.5, n), 1)


SCIPY = {
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
}


@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_equal_scipy_on_tied_data(coefficient: str, seed: int) -> None:
    x, y = _data(seed)
    x[5] = np.nan
    found = coefficients.correlate(x, y, coefficient)
    keep = ~np.isnan(x)
    assert found.n == 119
    assert found.value == pytest.approx(SCIPY[coefficient](x[keep], y[keep]), abs=1e-12)


@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
def test_constant_side_and_two_pairs_are_undefined_with_a_reason(coefficient: str) -> None:
    names = ("the judge's ratings", "the people's ratings")
    constant = coefficients.correlate(np.full(9, 3.0), np.arange(9.0), coefficient, names=names)
    assert constant.value is None
    assert constant.reason == "undefined because the judge's ratings are all equal"
    few = coefficients.correlate(np.array([1.0, 2, np.nan]), np.array([2.0, 1, 3]), coefficient)
    assert few.value is None
    assert few.n == 2
    assert "fewer than 3" in str(few.reason)


def test_system_level_uses_the_same_stories_on_both_sides() -> None:
    x = np.array([1, 2, 3, 5, 4, np.nan, 2, 2.0])
    y = np.array([1, 3, 2, 4, np.nan, 5, 1, 2.0])
    system = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    mean_x, mean_y = coefficients.group_means(x, y, system)
    np.testing.assert_allclose(mean_x, [1.5, 4, np.nan, 2])
    np.testing.assert_allclose(mean_y, [2, 3, np.nan, 1.5])
    found = coefficients.correlate_means(x, y, system)
    assert found.n == 3
    assert found.value == pytest.approx(stats.kendalltau([1.5, 4, 2], [2, 3, 1.5]).statistic)


def test_groups_without_a_correlation_are_counted_not_zeroed() -> None:
    x, y = _data(1, 30)
    group = np.repeat(np.arange(3), 10)
    x[20:] = 2.0
    found = coefficients.correlate_within(x, y, group)
    parts = [stats.kendalltau(x[i : i + 10], y[i : i + 10]).statistic for i in (0, 10)]
    assert found.value == pytest.approx(np.mean(parts))
    assert (found.n, found.method) == (2, "2 of 3 groups")


@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
def test_resampled_statistics_equal_those_of_the_repeated_data(coefficient: str) -> None:
    x, y = _data(2, 48)
    x[4] = np.nan
    prompt = np.repeat(np.arange(8), 6)
    drawn = bootstrap.draw(prompt, 15, np.random.default_rng(3), "boot-inputs")
    weights = drawn.counts[:, prompt]
    overall = drawn.values(coefficients.resampled(x, y, coefficient))
    for b, w in enumerate(weights):
        rows = np.repeat(np.arange(48), w)
        again = x[rows], y[rows]
        assert overall[b] == pytest.approx(coefficients.correlate(*again, coefficient).value, abs=1e-9)


def test_fisher_interval_equals_scipys() -> None:
    x, y = _data(5)
    found = coefficients.fisher_z(coefficients.correlate(x, y, "pearson"))
    theirs = stats.pearsonr(x, y).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    perfect = coefficients.fisher_z(coefficients.correlate(x, x, "pearson"))
    assert perfect.low is None
    assert "no interval" in str(perfect.reason)
