"""Embeddings by a real model: the very vectors of the library, each distinct text once, kept by weights and text."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.explanations.corpus.reading import read_texts
from judge.inputs import embedding
from judge.inputs.embedding import embed


@pytest.fixture(scope="module")
def comments(studies: Path) -> list[str]:
    """Forty comments of StoryER's readers."""
    return list(read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text["text"][:40])


def test_vectors_are_the_librarys_own_in_the_order_of_the_texts(minilm: str, comments: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(minilm).encode(comments, normalize_embeddings=True, show_progress_bar=False)
    found = embed([*comments, comments[3]], minilm)
    assert found.vectors.dtype == np.float64
    assert np.allclose(found.vectors[:40], plain, atol=1e-5)
    assert np.allclose(found.vectors[40], found.vectors[3], atol=1e-6)
    assert found.computed == 40
    assert found.note == "embeddings by model, 384 dimensions, by cosine; texts are cut at its 256 tokens"


def test_a_second_look_asks_the_cache_and_no_model(
    minilm: str, comments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "derived" / "embeddings.sqlite"
    told: list[tuple[int, int]] = []
    first = embed(comments[:20], minilm, cache, progress=lambda done, total: told.append((done, total)))
    assert told == [(20, 20)]
    more = embed(comments, minilm, cache)
    assert (more.computed, more.reused) == (20, 20)
    monkeypatch.setattr(embedding, "_loaded", lambda _: pytest.fail("the model was loaded"))
    again = embed(comments[::-1], minilm, cache)
    assert (again.computed, again.reused) == (0, 40)
    assert (again.vectors[::-1] == more.vectors).all()
    assert np.allclose(first.vectors, more.vectors[:20], atol=1e-6)


def test_other_weights_are_another_model(minilm: str, comments: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(minilm, other)
    weights = other / "model.safetensors"
    body = bytearray(weights.read_bytes())
    body[-1] ^= 1
    weights.write_bytes(bytes(body))
    cache = tmp_path / "embeddings.sqlite"
    embed(comments[:5], minilm, cache)
    found = embed(comments[:5], str(other), cache)
    assert found.computed == 5
    assert embedding.model_key(minilm) != embedding.model_key(str(other))
    # Moved, not changed: the same model.
    moved = other.rename(tmp_path / "moved")
    assert embed(comments[:5], str(moved), cache).computed == 0


def test_a_model_that_cannot_be_had_is_told_in_a_sentence(minilm: str) -> None:
    with pytest.raises(SpecError, match='model="no-such/model" cannot be loaded') as told:
        embed(["a text"], "no-such/model")
    assert 'model="tfidf"' in str(told.value.hint)
