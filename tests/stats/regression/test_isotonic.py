"""Isotonic regression against scikit-learn, and what must hold of any such curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.stats.regression.calibration import fit_isotonic


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(seed: int) -> None:
    # scikit-learn's IsotonicRegression(out_of_bounds="clip"), ties and places between the scores included.
    sklearn = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30, 300).astype(float)
    y = 0.1 * x + rng.normal(size=300)
    places = np.linspace(-3, 35, 99)
    theirs = sklearn.IsotonicRegression(out_of_bounds="clip").fit(x, y).predict(places)
    np.testing.assert_allclose(fit_isotonic(x, y).predict(places), theirs, atol=1e-12)


def test_a_worked_example() -> None:
    # Two violators are averaged, 3 and 2 to 2.5; the rest stands.
    np.testing.assert_allclose(fit_isotonic(np.arange(4.0), np.array([1.0, 3, 2, 4])).values, [1, 2.5, 2.5, 4])
    # With three times the weight on the second, their mean is (3 * 3 + 2) / 4.
    x, y = np.array([0.0, 1, 1, 1, 2, 3]), np.array([1.0, 3, 3, 3, 2, 4])
    np.testing.assert_allclose(fit_isotonic(x, y).values, [1, 2.75, 2.75, 4])


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-50, 50)), min_size=1, max_size=40))
def test_never_falls_keeps_the_mean_and_ends_between_the_responses(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    curve = fit_isotonic(x, y)
    assert (np.diff(curve.values) >= 0).all()
    fitted = curve.predict(x)
    assert fitted.mean() == pytest.approx(y.mean(), abs=1e-9)
    assert y.min() - 1e-9 <= fitted.min()
    assert fitted.max() <= y.max() + 1e-9


def test_missing_pairs_are_left_out_and_missing_scores_stay_missing() -> None:
    curve = fit_isotonic(np.array([1.0, np.nan, 2.0, 3.0]), np.array([1.0, 9.0, np.nan, 2.0]))
    np.testing.assert_array_equal(curve.scores, [1, 3])
    assert np.isnan(curve.predict(np.array([np.nan]))).all()
    with pytest.raises(ValueError, match="needs a pair"):
        fit_isotonic(np.array([np.nan]), np.array([1.0]))


def test_scores_that_are_equal_but_for_rounding_share_one_prediction() -> None:
    x, y = np.repeat([1 / 3, 2 / 3], 4), np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    noise = 1e-16 * np.array([0, 1, -1, 2, 0, 1, -1, 2])
    curve = fit_isotonic(x + noise, y)
    np.testing.assert_allclose(curve.scores, [1 / 3, 2 / 3], atol=1e-12)
    np.testing.assert_allclose(curve.values, [2.5, 6.5], atol=1e-12)
