"""tau-b by counting equals scipy's, on tables, by merging, in resamples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from judge.stats.correlation import kendall, weighted_tau


def _pairs(seed: int, n: int, levels_x: int, levels_y: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, levels_x, n) / 3
    y = np.round(x + rng.normal(0, 1, n) * levels_y / 4, 1) if levels_y > 20 else rng.integers(0, levels_y, n) * 1.0
    return x, y


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("n", "levels_x", "levels_y"), [(5, 2, 2), (40, 5, 13), (300, 13, 60), (700, 400, 500), (2, 9, 9)]
)
def test_counted_tau_equals_scipy(seed: int, n: int, levels_x: int, levels_y: int) -> None:
    x, y = _pairs(seed, n, levels_x, levels_y)
    ours = kendall.tau_b(kendall.codes(x), kendall.codes(y))
    theirs = kendalltau(x, y).statistic
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_merging_and_counting_give_the_same_number(seed: int) -> None:
    x, y = (kendall.codes(v) for v in _pairs(seed, 200, 7, 9))
    merged = kendall._tau_b_merge(x, y)
    assert merged == pytest.approx(kendall.tau_b(x, y), abs=1e-15)


def test_noise_of_means_does_not_break_a_tie() -> None:
    # The two exactly equal human means of the HANNA file, as they are stored.
    values = np.array([2.4930555555555554, 2.493055555555556, 3.0])
    assert kendall.codes(values).tolist() == [0, 0, 1]


def test_missing_values_are_left_out_pairwise() -> None:
    x = np.array([1, 2, np.nan, 4, 5, 2.0])
    y = np.array([1, 3, 9, np.nan, 4, 2.0])
    assert kendall.codes(x).tolist() == [0, 1, -1, 2, 3, 1]
    assert kendall.tau_b(kendall.codes(x), kendall.codes(y)) == pytest.approx(
        kendalltau([1, 2, 5, 2], [1, 3, 4, 2]).statistic
    )


def test_a_constant_side_is_nan_and_never_zero() -> None:
    constant, other = kendall.codes(np.ones(9)), kendall.codes(np.arange(9.0))
    assert np.isnan(kendall.tau_b(constant, other))
    assert np.isnan(kendall.tau_b(kendall.codes(np.array([])), kendall.codes(np.array([]))))


@pytest.mark.parametrize(("n", "levels"), [(60, 5), (150, 150)], ids=["tables", "signs"])
def test_weighted_tau_equals_tau_of_the_repeated_pairs(n: int, levels: int) -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, levels, n).astype(float)
    y = np.round(x + rng.normal(0, 2, n), 0 if levels < 10 else 3)
    x[3], y[8] = np.nan, np.nan
    weights = rng.multinomial(n, np.full(n, 1 / n), size=20)
    ours = weighted_tau.tau_b(kendall.codes(x), kendall.codes(y))(weights)
    known = ~(np.isnan(x) | np.isnan(y))
    theirs = [kendalltau(np.repeat(x[known], w[known]), np.repeat(y[known], w[known])).statistic for w in weights]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_signs_and_merging_agree_above_the_quadratic_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, y = kendall.codes(rng.normal(size=120)), kendall.codes(rng.normal(size=120))
    weights = rng.multinomial(120, np.full(120, 1 / 120), size=4)
    by_signs = weighted_tau.tau_b(x, y)(weights)
    monkeypatch.setattr(kendall, "QUADRATIC_N", 10)
    monkeypatch.setattr(weighted_tau, "_MOST_LEVELS", 10)
    np.testing.assert_allclose(weighted_tau.tau_b(x, y)(weights), by_signs, atol=1e-12)


def test_many_pairs_equal_scipy() -> None:
    rng = np.random.default_rng(3)
    quality = rng.normal(size=60_000)
    for decimals in (0, 1, 9):
        x, y = (np.round(quality + rng.normal(size=60_000), decimals) for _ in range(2))
        x[rng.random(60_000) < 0.01] = np.nan
        keep = ~np.isnan(x)
        ours = kendall.tau_b(kendall.codes(x), kendall.codes(y))
        assert ours == pytest.approx(kendalltau(x[keep], y[keep]).statistic, abs=1e-12)


@pytest.mark.parametrize(
    "what", ["few", "thirds", "one rare level", "outlier", "constant", "missing", "many", "infinite"]
)
def test_codes_of_many_values_equal_those_by_sorting(what: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, 30_000).astype(float)
    if what == "thirds":
        values = rng.integers(3, 16, 30_000) / 3
    elif what == "one rare level":
        values[7] = 2.5
    elif what == "outlier":
        values[7] = -1e6
    elif what == "constant":
        values[:] = 3.0
    elif what == "missing":
        values[rng.random(30_000) < 0.5] = np.nan
    elif what == "many":
        values = rng.normal(size=30_000)
    elif what == "infinite":
        values[0] = np.inf
    known = ~np.isnan(values)
    expected = np.full(30_000, -1)
    expected[known] = np.unique(np.round(values[known], 9), return_inverse=True)[1]
    np.testing.assert_array_equal(kendall.codes(values), expected)
