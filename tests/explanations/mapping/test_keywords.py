"""Words of groups: class-TF-IDF against fractions worked out by hand, and what a group's row says."""

from __future__ import annotations

import numpy as np
import pytest

from judge.explanations.mapping import keywords

pytest.importorskip("sklearn")


def test_class_tfidf_is_the_published_formula() -> None:
    """Two groups: cat cat dog | dog fish. A = 5/2 terms a group; f(cat) = 2, f(dog) = 2, f(fish) = 1; by hand:
    w(cat, 1) = 2/3 log(1 + 2.5/2), w(dog, 1) = 1/3 log(2.25), w(dog, 2) = 1/2 log(2.25), w(fish, 2) = 1/2 log(3.5)."""
    found = keywords.class_tfidf(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    log = np.log(2.25)
    assert np.allclose(found, [[2 / 3 * log, 1 / 3 * log, 0], [0, log / 2, np.log(3.5) / 2]], rtol=1e-12)


def test_counts_by_group_leave_texts_of_no_group_out() -> None:
    texts = ["cat cat dog", "dog fish", "fish fish"]
    counts = keywords.count(texts)
    assert counts is not None
    by_word = dict(zip(counts.terms, keywords.by_group(counts, np.array([0, 1, -1]), 2).T, strict=True))
    assert by_word["cat"].tolist() == [2, 0]
    assert by_word["dog"].tolist() == [1, 1]
    assert by_word["fish"].tolist() == [0, 1]
    assert by_word["cat dog"].tolist() == [1, 0]


def test_stop_words_alone_are_no_keywords_and_contractions_leave_no_stumps() -> None:
    assert keywords.count(["it is the", "and so on"]) is None
    counts = keywords.count(["It didn't wasn't the ending"])
    assert counts is not None
    assert counts.terms.tolist() == ["ending"]


def test_numbers_are_no_keywords_and_words_with_digits_are() -> None:
    counted = keywords.count(["It rose by 0.03 and 1999 to mp3 quality, 12_3 and élan"])
    assert counted is not None
    assert {"rose", "rose mp3", "mp3", "mp3 quality", "quality", "quality élan", "élan"} == set(map(str, counted.terms))


def test_best_are_heaviest_first_and_never_weightless() -> None:
    terms = np.array(["a", "b", "c", "d"])
    assert keywords.best(np.array([0.1, 0.5, 0.0, 0.5]), terms, 10) == [("b", 0.5), ("d", 0.5), ("a", 0.1)]
    assert keywords.best(np.array([0.1, 0.5, 0.0, 0.5]), terms, 1) == [("b", 0.5)]
