"""The silhouette against scikit-learn's, over distances that it never holds."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.vectors.cosine_silhouette import mean_silhouette


def unit(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    x = rng.normal(size=(n, d)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_it_is_scikit_learns(groups: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(groups)
    x = unit(rng, 200, 11)
    labels = rng.integers(0, groups, size=(5, 200))
    labels[1, 0] = groups  # alone in its group
    found = mean_silhouette(x, labels, groups + 1)
    assert found == pytest.approx([metrics.silhouette_score(x, row, metric="cosine") for row in labels], abs=1e-6)


def test_two_bundles_are_apart_and_one_group_has_none() -> None:
    x = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)
    apart, mixed = np.repeat([0, 1], 5), np.tile([0, 1], 5)
    found = mean_silhouette(x, np.stack([apart, mixed, np.zeros(10, dtype=int)]), 2)
    assert found[0] == pytest.approx(1)
    assert found[1] < 0.1
    assert np.isnan(found[2])


def test_labellings_in_parts_are_the_labellings(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, labels = unit(rng, 50, 5), rng.integers(0, 3, size=(9, 50))
    whole = mean_silhouette(x, labels, 3)
    monkeypatch.setattr("judge.stats.vectors.cosine_silhouette._CHUNK", 300)
    assert mean_silhouette(x, labels, 3) == pytest.approx(whole)
