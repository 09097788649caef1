"""The silhouette against scikit-learn's, over distances that it never holds."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.vectors import mean_silhouette


def unit(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_it_is_scikit_learns(groups: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(groups)
    x = unit(rng, 200, 11)
    labels = rng.integers(0, groups, size=(5, 200))
    labels[1, 0] = groups  # alone in its group
    found = mean_silhouette(x, labels, groups + 1)
    assert found == pytest.approx([metrics.silhouette_score(x, row, metric="cosine") for row in labels], abs=1e-12)


def test_two_bundles_are_apart_and_one_group_has_none() -> None:
    x = np.repeat(np.eye(2), 5, axis=0)
    apart, mixed = np.repeat([0, 1], 5), np.tile([0, 1], 5)
    found = mean_silhouette(x, np.stack([apart, mixed, np.zeros(10, dtype=int)]), 2)
    assert found[0] == pytest.approx(1)
    assert found[1] < 0.1
    assert np.isnan(found[2])


def test_labellings_in_parts_are_the_labellings(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, labels = unit(rng, 50, 5), rng.integers(0, 3, size=(9, 50))
    whole = mean_silhouette(x, labels, 3)
    monkeypatch.setattr("judge.stats.vectors._DISTANCES", 300)
    assert mean_silhouette(x, labels, 3) == pytest.approx(whole)


def test_vectors_turned_round_have_the_same() -> None:
    """Axes of a decomposition are arbitrary where singular values are equal."""
    rng = np.random.default_rng(2)
    x, labels = unit(rng, 300, 40), rng.integers(0, 4, size=(6, 300))
    turned = x @ np.linalg.qr(rng.normal(size=(40, 40)))[0]
    assert mean_silhouette(turned, labels, 4) == pytest.approx(mean_silhouette(x, labels, 4), rel=0, abs=1e-12)


def test_equal_vectors_have_none_however_they_are_rounded() -> None:
    rng = np.random.default_rng(3)
    x = np.repeat(unit(rng, 1, 30), 60, axis=0) + 1e-14 * rng.normal(size=(60, 30))
    assert mean_silhouette(x, rng.integers(0, 3, size=(4, 60)), 3).tolist() == [0, 0, 0, 0]
