"""The proportional-odds model against statsmodels, and the cases in which there is none."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.regression.ordinal import MAX_LEVELS, Ordinal, fit_ordinal


def _made(seed: int, n: int = 300, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    latent = x @ np.array([1.0, -0.5, 0.2])[:p] + rng.logistic(size=n)
    return x, 1.0 + np.digitize(latent, [-2, -0.5, 0.3, 2])


@pytest.mark.parametrize(("seed", "p"), [(0, 1), (1, 3), (2, 3)])
def test_equals_statsmodels(seed: int, p: int) -> None:
    # statsmodels OrderedModel(distr="logit"): the same likelihood, other parameters for the thresholds.
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    x, y = _made(seed, p=p)
    model = ordered.OrderedModel(y, x, distr="logit")
    theirs = model.fit(method="bfgs", disp=0, gtol=1e-8)
    ours = fit_ordinal(x, y)
    assert isinstance(ours, Ordinal)
    np.testing.assert_allclose(ours.weights, theirs.params[:p], atol=1e-5)
    np.testing.assert_allclose(ours.thresholds, model.transform_threshold_params(theirs.params)[1:-1], atol=1e-5)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-7)
    np.testing.assert_allclose(ours.probabilities(x), theirs.predict(), atol=1e-6)


def test_without_predictors_the_levels_keep_their_shares() -> None:
    y = np.array([1.0, 1, 2, 2, 2, 4, 4, 4, 4, 4])
    model = fit_ordinal(np.empty((10, 0)), y)
    assert isinstance(model, Ordinal)
    np.testing.assert_allclose(model.probabilities(np.empty((1, 0))), [[0.2, 0.3, 0.5]], atol=1e-9)
    assert model.predict(np.empty((1, 0)))[0] == pytest.approx(y.mean(), abs=1e-9)


def test_a_penalty_shrinks_and_its_gradient_is_zero() -> None:
    x, y = _made(3)
    free, held = fit_ordinal(x, y), fit_ordinal(x, y, penalty=50.0)
    assert isinstance(free, Ordinal)
    assert isinstance(held, Ordinal)
    assert np.linalg.norm(held.weights) < np.linalg.norm(free.weights)
    # At the maximum the score equals the penalty's pull; the score of weight j by a central difference.
    step = 1e-5
    for j in range(3):
        either = []
        for sign in (1, -1):
            moved = Ordinal(held.levels, held.thresholds, held.weights + sign * step * np.eye(3)[j], 0.0)
            chance = moved.probabilities(x)[np.arange(y.size), np.searchsorted(held.levels, y)]
            either.append(float(np.log(chance).sum()))
        assert (either[0] - either[1]) / (2 * step) == pytest.approx(50.0 * held.weights[j], abs=1e-4)


def test_missing_rows_are_left_out_and_a_missing_predictor_is_not_predicted() -> None:
    x, y = _made(4)
    more_x, more_y = np.vstack([x, np.full((1, 3), np.nan), x[:1]]), np.concatenate([y, [1.0, np.nan]])
    ours, whole = fit_ordinal(more_x, more_y), fit_ordinal(x, y)
    assert isinstance(ours, Ordinal)
    assert isinstance(whole, Ordinal)
    np.testing.assert_allclose(ours.weights, whole.weights)
    assert np.isnan(ours.predict(more_x)).tolist() == [False] * 300 + [True, False]


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (np.arange(10.0)[:, None], np.ones(10), "all equal"),
        (np.arange(100.0)[:, None], np.arange(100.0), f"take 100 values, an ordinal model at most {MAX_LEVELS}"),
        (np.arange(10.0)[:, None], np.repeat([1.0, 2.0], 5), "part the levels"),
        (np.ones((10, 1)), np.tile([1.0, 2.0], 5), "collinear"),
    ],
)
def test_where_there_is_no_model_it_says_why(x: np.ndarray, y: np.ndarray, reason: str) -> None:
    found = fit_ordinal(x, y)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("seed", range(6))
def test_the_fit_does_not_depend_on_how_sums_are_rounded(seed: int) -> None:
    """The rows in another order add up to other last digits."""
    x, y = _made(seed, n=2000)
    fitted = fit_ordinal(x, y)
    order = np.random.default_rng(seed).permutation(y.size)
    other = fit_ordinal(x[order], y[order])
    assert isinstance(fitted, Ordinal)
    assert isinstance(other, Ordinal)
    np.testing.assert_allclose(other.weights, fitted.weights, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.thresholds, fitted.thresholds, rtol=0, atol=1e-13)
