"""Vectors of explanations without any model, and the cache that models' vectors are kept in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.inputs.embedding import Cache, embed, unit

pytest.importorskip("sklearn")

TEXTS = ["the ending surprised me", "the ending surprised nobody", "prompt and story match", "the ending surprised me"]


def test_tfidf_gives_unit_rows_in_the_order_of_the_texts_and_equal_rows_for_equal_texts() -> None:
    found = embed(TEXTS, None)
    assert found.vectors.dtype == np.float64
    assert found.vectors.shape[0] == 4
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    assert (found.vectors[0] == found.vectors[3]).all()
    likeness = found.vectors @ found.vectors.T
    assert likeness[0, 1] > likeness[0, 2]
    assert (embed(TEXTS, None).vectors == found.vectors).all()
    assert found.name.startswith("tfidf-svd")
    assert "no language model" in found.note
    assert found.computed == 3


def test_a_text_without_words_is_a_row_of_zeros_and_no_words_at_all_an_error() -> None:
    found = embed([*TEXTS, "?!"], None)
    assert not found.vectors[4].any()
    with pytest.raises(SpecError, match="hold no word"):
        embed(["?", "!"], None)


def test_the_cache_keeps_vectors_by_model_and_text_on_disk(tmp_path: Path) -> None:
    vectors = unit(np.arange(1.0, 7.0).reshape(3, 2)).astype(np.float32)
    path = tmp_path / "derived" / "embeddings.sqlite"
    with Cache(path) as cache:
        cache.put("m1", ["a", "b", "c"], vectors)
    with Cache(path) as cache:
        assert cache.keys("m1") == {"a", "b", "c"}
        assert cache.keys("m2") == set()
        assert (cache.get("m1", ["c", "a"]) == vectors[[2, 0]]).all()


def test_a_cache_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.sqlite"
    path.write_text("not a database, and rather long for that matter", encoding="utf-8")
    with pytest.raises(SpecError, match="cannot be used"):
        Cache(path)
