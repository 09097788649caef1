"""Neighbours by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.vectors import nearest, purity


@pytest.fixture
def vectors() -> np.ndarray:
    x = np.random.default_rng(2).normal(size=(60, 6))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("chunk", [61, 10_000])
def test_they_are_the_nearest_of_other_groups(vectors: np.ndarray, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.stats.vectors._CHUNK", chunk)
    story = np.arange(60) // 4
    found = nearest(vectors, story, 5)
    for i in range(60):
        allowed = [j for j in range(60) if story[j] != story[i]]
        wanted = sorted(allowed, key=lambda j: -float(vectors[i] @ vectors[j]))[:5]
        assert set(found[i]) == set(wanted)


def test_a_text_with_fewer_neighbours_counts_those_it_has(vectors: np.ndarray) -> None:
    story = np.array([0, 0, 0, 1])
    found = nearest(vectors[:4], story, 3)
    assert sorted(found[0]) == [-1, -1, 3]
    assert sorted(found[3]) == [0, 1, 2]
    labels = np.array([[7, 7, 8, 7], [1, 2, 3, 4]])
    assert purity(found, labels) == pytest.approx([(1 + 1 + 0 + 2 / 3) / 4, 0])


def test_no_neighbour_at_all_has_no_purity(vectors: np.ndarray) -> None:
    found = nearest(vectors[:3], np.zeros(3, dtype=np.int64), 2)
    assert np.isnan(purity(found, np.zeros((1, 3), dtype=np.int64))).all()


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_of_equally_near_vectors_the_first_are_taken(noise: float) -> None:
    """40 vectors at one of four places: each has nine others at its own place, and 30 equally far away."""
    x = np.repeat(np.eye(4), 10, axis=0)
    x = x + noise * np.random.default_rng(4).normal(size=x.shape)
    found = nearest(x, np.arange(40), 12)
    for i in range(40):
        at = 10 * (i // 10)
        own = [j for j in range(at, at + 10) if j != i]
        others = [j for j in range(40) if not at <= j < at + 10]
        assert sorted(found[i]) == sorted([*own, *others[:3]])
