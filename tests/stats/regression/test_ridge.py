"""Ridge with PRESS against scikit-learn and against leaving rows out by hand; rank scores; stacked weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from judge.stats.regression.ridge import PENALTIES, fit_rank_scores, fit_ridge, fit_stack


def _made(n: int = 80, p: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    return x, x @ rng.normal(size=p) + 3 * rng.normal(size=n) + 2


def test_equals_scikit_learn_with_a_given_penalty() -> None:
    # scikit-learn Ridge(alpha) minimises the same sum of squares plus penalty.
    sklearn = pytest.importorskip("sklearn.linear_model")
    x, y = _made()
    ours, theirs = fit_ridge(x, y, [7.0]), sklearn.Ridge(alpha=7.0).fit(x, y)
    np.testing.assert_allclose(ours.weights, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), atol=1e-10)


def test_press_is_the_error_of_rows_left_out_one_by_one() -> None:
    x, y = _made(n=60, p=4)
    fitted = fit_ridge(x, y, [5.0])
    errors = []
    for i in range(60):
        rest = np.arange(60) != i
        errors.append(y[i] - fit_ridge(x[rest], y[rest], [5.0]).predict(x[i : i + 1])[0])
    assert fitted.press == pytest.approx(np.mean(np.square(errors)), rel=1e-9)
    alone = fit_ridge(np.empty((60, 0)), y, [1.0])
    by_hand = [y[i] - np.delete(y, i).mean() for i in range(60)]
    assert alone.press == pytest.approx(np.mean(np.square(by_hand)), rel=1e-9)


def test_noise_gets_the_largest_penalty_and_a_plane_the_smallest() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 20))
    assert fit_ridge(x, rng.normal(size=300)).penalty >= 1000
    assert fit_ridge(x, x @ rng.normal(size=20)).penalty == PENALTIES[0]


def test_ridge_refuses_nothing_and_no_penalty() -> None:
    with pytest.raises(ValueError, match="needs rows"):
        fit_ridge(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match="above 0"):
        fit_ridge(np.ones((3, 2)), np.ones(3), [0.0])


def test_rank_scores_of_training_rows_are_their_standardised_midranks() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(1, 6, (50, 3)).astype(float)
    scores = fit_rank_scores(x).apply(x)
    ranks = rankdata(x, axis=0)  # scipy.stats.rankdata: mid-ranks
    np.testing.assert_allclose(scores, (ranks - ranks.mean(axis=0)) / ranks.std(axis=0), atol=1e-12)


def test_rank_scores_forget_the_scale_and_read_what_is_missing_as_the_mean() -> None:
    rng = np.random.default_rng(3)
    train, new = rng.normal(size=(40, 2)), rng.normal(size=(9, 2))
    train[0, 0] = new[0, 0] = np.nan
    plain, bent = fit_rank_scores(train).apply(new), fit_rank_scores(np.exp(train)).apply(np.exp(new))
    np.testing.assert_allclose(plain, bent)
    assert plain[0, 0] == 0
    constant = fit_rank_scores(np.ones((5, 1)))
    np.testing.assert_array_equal(constant.apply(np.array([[1.0], [np.nan]])), 0)
    unknown = fit_rank_scores(np.full((5, 1), np.nan))
    np.testing.assert_array_equal(unknown.apply(np.array([[3.0]])), 0)


def test_stacked_weights_are_never_negative_and_prefer_what_is_right() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=200)
    x = np.column_stack([truth + 0.1 * rng.normal(size=200), -truth, rng.normal(size=200)])
    stack = fit_stack(x, 2 * truth + 1)
    assert (stack.weights >= 0).all()
    assert stack.weights[0] == pytest.approx(2, abs=0.1)
    assert stack.weights[1] == 0
    np.testing.assert_allclose(stack.predict(x), 2 * truth + 1, atol=1)
    # A prediction without weight may be missing, one with weight may not.
    assert np.isnan(stack.predict(np.array([[1.0, np.nan, 0.0], [np.nan, 1.0, 0.0]]))).tolist() == [False, True]
    with pytest.raises(ValueError, match="complete row"):
        fit_stack(np.full((3, 1), np.nan), np.ones(3))


def test_what_a_sums_rounding_tells_apart_has_one_rank() -> None:
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point, and must not rank above it.
    twins = np.array([[0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1], [0.9], [0.2]])
    assert twins[0, 0] != twins[1, 0]
    scores = fit_rank_scores(twins)
    placed = scores.apply(twins)[:, 0]
    assert placed[0] == placed[1]
    assert scores.apply(twins[::-1])[:, 0].tolist() == placed[::-1].tolist()
