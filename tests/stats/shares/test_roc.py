"""ROC curves beside scikit-learn's, rules for thresholds, and rates in resamples beside repeated texts."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.ordering import discrimination as roc
from judge.stats.ordering.discrimination import auc
from judge.stats.resampling import bootstrap


def drawn(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    return np.round(rng.normal(0, 1, n) + 0.8 * label, 1), label


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_is_scikit_learns_and_its_area_is_the_auc(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    score, label = drawn(seed)
    fpr, tpr, threshold = metrics.roc_curve(label, score, drop_intermediate=False)
    found = roc.curve(np.append(score, np.nan), np.append(label, True))
    np.testing.assert_allclose(found.false_positive, fpr, atol=1e-12)
    np.testing.assert_allclose(found.true_positive, tpr, atol=1e-12)
    np.testing.assert_allclose(found.threshold[1:], threshold[1:])
    assert float(np.trapezoid(found.true_positive, found.false_positive)) == pytest.approx(auc(score, label).value)


def test_rates_at_thresholds_are_those_of_calling() -> None:
    score, label = drawn(5)
    at = roc.threshold_at_fpr(score, label, 0.1)
    assert at is not None
    called = score >= at
    assert called[~label].mean() <= 0.1
    lower = score >= score[score < at].max()
    assert lower[~label].mean() > 0.1
    assert roc.tpr_at_fpr(score, label, 0.1).value == pytest.approx(called[label].mean())
    best = roc.youden(score, label)
    gains = [(score >= t)[label].mean() - (score >= t)[~label].mean() for t in np.unique(score)]
    assert (score >= best)[label].mean() - (score >= best)[~label].mean() == pytest.approx(max(gains))
    assert roc.best_accuracy(score, label) == pytest.approx(0.5 + max(gains) / 2)


def test_what_cannot_be_told_is_said() -> None:
    score, label = np.arange(20.0), np.arange(20) >= 10
    assert "too few" in str(roc.tpr_at_fpr(score, label, 0.05).reason)  # 10 unseen texts know no rate of 1 in 20
    assert roc.tpr_at_fpr(score, np.ones(20, dtype=bool)).reason == roc.ONE_CLASS
    assert roc.threshold_at_fpr(np.array([1.0, 1.0]), np.array([True, False]), 0.5) is None
    with pytest.raises(ValueError, match="one class"):
        roc.curve(score, np.ones(20, dtype=bool))


def test_a_weight_is_a_repeated_text() -> None:
    score, label = drawn(9, n=60)
    score[3] = np.nan
    units = bootstrap.draw(np.arange(60, dtype=np.int64) // 3, 40, np.random.default_rng(0), "boot-books")
    values = units.values(roc.resampled_tpr_at_fpr(score, label, 0.1))
    for weights, value in zip(units.weights(), values, strict=True):
        rows = np.repeat(np.arange(60), weights)
        again = roc.curve(score[rows], label[rows])
        assert value == pytest.approx(again.true_positive[again.false_positive <= 0.1].max())
