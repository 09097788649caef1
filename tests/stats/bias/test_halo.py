"""Inter-criterion tau, halo and multitrait-multimethod on made ratings; the published figures: tests/analysis."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.bias import halo
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_tau


def _ratings(noise: float, seed: int, stories: int = 60) -> np.ndarray:
    """Three criteria with a common part; the less noise, the more halo."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=stories) + noise * rng.normal(size=(3, stories)) + 3)


def test_matrix_of_many_criteria_is_scipys_tau_b_with_missing_and_constant_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    rows = np.where(rng.random((40, 25)) < 0.2, np.nan, rng.integers(1, 6, (40, 25)).astype(float))
    rows[0], rows[1, 2:] = 3, np.nan
    found = halo.tau_matrix(rows, rows[:7])
    with np.errstate(invalid="ignore"):
        for i, j in np.ndindex(found.shape):
            both = ~np.isnan(rows[i] + rows[j])
            constant = both.sum() < 3 or np.ptp(rows[i, both]) == 0 or np.ptp(rows[j, both]) == 0
            expected = np.nan if constant else stats.kendalltau(rows[i, both], rows[j, both]).statistic
            assert found[i, j] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    # The way of many stories gives the same numbers, to the last bit.
    monkeypatch.setattr(halo, "_FEW_STORIES", 0)
    np.testing.assert_array_equal(found, halo.tau_matrix(rows, rows[:7]))


def test_resampled_halo_takes_time_by_criteria_and_not_by_pairs_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).integers(1, 6, (40, 12)).astype(float)
    drawn = bootstrap.draw(np.arange(12), 5, np.random.default_rng(0), "boot-stories")
    found = halo.resampled_mean_tau(rows, drawn)
    calls = []

    def tau(_: object, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        calls.append(x.shape)
        return tau_b(drawn, x, y)

    tau_b = resampled_tau.tau_b
    monkeypatch.setattr(resampled_tau, "tau_b", tau)
    halo.resampled_mean_tau(rows, drawn)
    assert not calls
    # Where a rating is missing, or criteria are few beside stories: one call for each criterion, and the same numbers.
    monkeypatch.setattr(halo, "_FEW_STORIES", 0)
    monkeypatch.setattr(halo, "_STORIES_PER_ROW", 0)
    np.testing.assert_allclose(halo.resampled_mean_tau(rows, drawn), found, rtol=0, atol=1e-12)
    assert len(calls) == 39


def test_halo_is_the_mean_below_the_diagonal_over_pairs_that_have_a_tau() -> None:
    matrix = np.array([[1, 0.9, 0.9], [0.2, 1, 0.9], [0.4, np.nan, 1]])
    found = halo.mean_tau(matrix)
    assert found.value == pytest.approx(0.3)
    assert (found.n, found.method) == (2, "2 of 3 pairs of criteria")
    assert halo.mean_tau(np.eye(1)).reason == "undefined with fewer than 2 criteria"
    constant = halo.tau_matrix(np.ones((2, 9)))
    assert halo.mean_tau(constant).value is None


def test_resampled_halo_is_the_halo_of_the_resample() -> None:
    rows = _ratings(0.7, 4)
    drawn = bootstrap.draw(np.arange(60), 5, np.random.default_rng(0), "boot-stories")
    found = halo.resampled_mean_tau(rows, drawn)
    index = np.repeat(np.arange(60), drawn.counts[3])
    assert found.shape == (5,)
    assert found[3] == pytest.approx(halo.mean_tau(halo.tau_matrix(rows[:, index])).value)


def test_multitrait_sets_the_diagonal_against_the_rest_of_its_row() -> None:
    matrix = np.array([[0.5, 0.2, 0.1], [0.6, 0.4, 0.3], [0.2, 0.2, 0.2]])
    found = halo.multitrait(matrix)
    assert found.validity.value == pytest.approx(1.1 / 3)
    assert found.heterotrait.value == pytest.approx(1.6 / 6)
    # Row 0 only: row 1's own criterion is not its best, row 2's is one of three equal ones.
    assert (found.own_best, found.rows) == (1, 3)


def test_multitrait_with_one_criterion_has_a_validity_only() -> None:
    found = halo.multitrait(np.array([[0.3]]))
    assert found.validity.value == 0.3
    assert found.heterotrait.value is None
    assert (found.own_best, found.rows) == (0, 0)
    lost = halo.multitrait(np.array([[np.nan, 0.3], [0.1, 0.2]]))
    assert (lost.validity.value, lost.validity.n, lost.own_best, lost.rows) == (0.2, 1, 1, 1)
