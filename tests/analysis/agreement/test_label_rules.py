"""Labels from people's ratings: rules with their edges, criteria with two values, and words that are neither."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge.analysis.agreement.binary_labels import labels
from judge.base.errors import SpecError
from judge.ratings.rating_matrix import RatingMatrix, build


@pytest.fixture
def matrix(make_table) -> RatingMatrix:
    """People's Relevance in thirds; Flawed 0 or 1 by one person, unrated for two stories."""
    table = make_table(rated=("Relevance",))
    stories = table.frame.drop_duplicates("story")[["dataset", "story", "story_prompt", "system"]]
    flawed = stories.assign(criterion="Flawed", source="rater", rater="w9", status="ok")
    flawed["rating"] = np.where(np.arange(len(stories)) % 3 == 0, 1.0, 0.0)
    frame = pd.concat([table.frame, flawed.iloc[:-2]], ignore_index=True)
    (built,) = build(replace(table, frame=frame))
    return built


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        ("Relevance > 3", "Relevance > 3", lambda mean: mean > 3 + 1e-9),
        ("relevance>=3", "Relevance >= 3", lambda mean: mean >= 3 - 1e-9),
        ("Relevance <2.5", "Relevance < 2.5", lambda mean: mean < 2.5),
        (" Relevance  <= 2", "Relevance <= 2", lambda mean: mean <= 2 + 1e-9),
    ],
)
def test_a_rule_reads_the_mean_over_raters(matrix: RatingMatrix, words: str, text: str, expected) -> None:
    found = labels(matrix, words)
    mean = matrix.people[matrix.criteria.index("Relevance")]
    assert np.array_equal(found.holds, expected(mean))
    assert (found.text, found.by_rule) == (text, True)
    assert (mean == 3).any()


def test_a_criterion_with_two_values_labels_the_higher(matrix: RatingMatrix) -> None:
    found = labels(matrix, "flawed")
    assert (found.text, found.by_rule) == ("Flawed = 1", False)
    assert (found.rated.sum(), found.holds.sum()) == (46, 16)
    assert not found.holds[~found.rated].any()


def test_a_rule_gives_no_label_to_stories_nobody_rated(matrix: RatingMatrix) -> None:
    found = labels(matrix, "Flawed < 1")
    assert (found.holds.sum(), found.rated.sum()) == (30, 46)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("Relevanse > 3", "labels=\"Relevanse\" is not known; did you mean 'Relevance'"),
        ("Relevance", r"people's means of Relevance have \d+ values on toy, not 2"),
        ("Relevance = 3", 'labels="Relevance = 3" is not known'),
    ],
)
def test_words_that_label_nothing(matrix: RatingMatrix, words: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        labels(matrix, words)


def test_nobody_rated(make_table) -> None:
    (matrix,) = build(make_table(rated=()))
    with pytest.raises(SpecError, match='errors="Flawed": no person rated the stories of toy'):
        labels(matrix, "Flawed", "errors")
