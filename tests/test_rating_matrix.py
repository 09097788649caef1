"""Ratings as arrays: what is averaged, what is missing, and which axis things stand on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge.ratings import rating_matrix
from judge.ratings.rating_matrix import Cell
from judge.ratings.ratings_table import RatingsTable

COLUMNS = ["run", "judge", "dataset", "story", "story_prompt", "system", "criterion", "eval_prompt", "source", "rater"]
COLUMNS += ["repeat", "rating", "status"]
EXPLAINED = ("a dull plot", None, None, "funny")
# story a has two repeats that worked, b one of two, c none; people rated a twice and c once.
ROWS = [
    ("r", "m", "d", "a", "p", "S1", "Q", "ep1", "judge", None, 0, 2, "ok"),
    ("r", "m", "d", "a", "p", "S1", "Q", "ep1", "judge", None, 1, 5, "ok"),
    ("r", "m", "d", "b", "p", "S2", "Q", "ep1", "judge", None, 0, np.nan, "refused"),
    ("r", "m", "d", "b", "p", "S2", "Q", "ep1", "judge", None, 1, 4, "ok"),
    ("r", "m", "d", "c", None, "S1", "Q", "ep1", "judge", None, 0, np.nan, "no_rating"),
    ("r", "m", "d", "c", None, "S1", "Q", "ep1", "judge", None, 1, np.nan, "no_rating"),
    ("r", "m", "d", "a", "p", "S1", "Q", "ep2", "judge", None, 0, 1, "ok"),
    (None, None, "d", "a", "p", "S1", "Q", None, "rater", "x", None, 1, "ok"),
    (None, None, "d", "a", "p", "S1", "Q", None, "rater", "y", None, 4, "ok"),
    (None, None, "d", "c", None, "S1", "Q", None, "rater", "y", None, 3, "ok"),
    (None, None, "other", "a", "p", "S9", "Q", None, "rater", None, None, 3, "ok"),
]


@pytest.fixture
def table() -> RatingsTable:
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    frame["repeat"] = frame["repeat"].astype("Int64")
    frame["explanation"] = [*EXPLAINED, *[None] * (len(ROWS) - len(EXPLAINED))]
    stories = pd.DataFrame(
        {"dataset": "d", "story": list("abc"), "words": [10, 20, 30], "text": ["A", "B", "C"]}
    ).set_index(["dataset", "story"])
    return RatingsTable(frame, stories, ())


def test_repeats_and_raters_are_averaged_over_what_is_there(table: RatingsTable) -> None:
    matrix, other = rating_matrix.build(table)
    assert matrix.cells == (Cell("r", "m", "ep1", "Q"), Cell("r", "m", "ep2", "Q"))
    np.testing.assert_array_equal(matrix.judge, [[3.5, 4, np.nan], [1, np.nan, np.nan]])
    np.testing.assert_array_equal(matrix.valid, [[2, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(matrix.asked, [[2, 2, 2], [1, 0, 0]])
    assert matrix.missing == ({"no_rating": 2, "refused": 1}, {})
    np.testing.assert_array_equal(matrix.people, [[2.5, np.nan, 3]])
    np.testing.assert_array_equal(matrix.raters, [[2, 0, 1]])
    assert (other.dataset, other.cells, other.criteria) == ("other", (), ("Q",))


def test_codes_follow_the_means(table: RatingsTable) -> None:
    matrix = rating_matrix.build(table)[0]
    np.testing.assert_array_equal(matrix.judge_codes, [[0, 1, -1], [0, -1, -1]])
    np.testing.assert_array_equal(matrix.people_codes, [[0, -1, 1]])


def test_systems_and_story_prompts_are_coded_and_a_missing_prompt_is_its_own(table: RatingsTable) -> None:
    matrix = rating_matrix.build(table)[0]
    assert matrix.systems == ("S1", "S2")
    assert matrix.system.tolist() == [0, 1, 0]
    assert matrix.story_prompt.tolist() == [0, 0, 1]
    assert matrix.stories["words"].tolist() == [10, 20, 30]
    assert matrix.stories["text"].tolist() == ["A", "B", "C"]


def test_repeats_stand_in_columns(table: RatingsTable) -> None:
    matrix = rating_matrix.build(table)[0]
    np.testing.assert_array_equal(matrix.repeats(0), [[2, 5], [np.nan, 4], [np.nan, np.nan]])
    np.testing.assert_array_equal(matrix.repeats(1), [[1]])


def test_answers_tell_asked_rated_and_explained_apart_on_the_axis_of_stories(table: RatingsTable) -> None:
    matrix = rating_matrix.build(table)[0]
    first, second = matrix.answers(0), matrix.answers(1)
    assert (first.numbers.tolist(), second.numbers.tolist()) == ([0, 1], [0])
    np.testing.assert_array_equal(first.asked, np.ones((3, 2), dtype=bool))
    np.testing.assert_array_equal(first.ratings, [[2, 5], [np.nan, 4], [np.nan, np.nan]])
    np.testing.assert_array_equal(first.explained, [[True, False], [False, True], [False, False]])
    np.testing.assert_array_equal(second.asked, [[True], [False], [False]])
    np.testing.assert_array_equal(second.ratings, [[1], [np.nan], [np.nan]])
    assert not second.explained.any()


def test_known_raters_have_columns_and_unknown_ones_positions(table: RatingsTable) -> None:
    matrix, other = rating_matrix.build(table)
    known = matrix.by_rater(0)
    assert (known.known, known.names) == (True, ("x", "y"))
    np.testing.assert_array_equal(known.ratings, [[1, 4], [np.nan, np.nan], [np.nan, 3]])
    unknown = other.by_rater(0)
    assert (unknown.known, unknown.reason) == (False, "who gave which rating is not known")
    np.testing.assert_array_equal(unknown.ratings, [[3]])


def test_dropped_systems_vanish_from_every_axis(table: RatingsTable) -> None:
    matrix = rating_matrix.build(table, drop_systems=["S1"])[0]
    assert matrix.stories["story"].tolist() == ["b"]
    np.testing.assert_array_equal(matrix.judge, [[4]])
    assert matrix.criteria == ()


def test_the_order_of_rows_changes_nothing_but_the_order(table: RatingsTable) -> None:
    shuffled = RatingsTable(table.frame.sample(frac=1, random_state=3).reset_index(drop=True), table.stories, ())
    first = next(m for m in rating_matrix.build(table) if m.dataset == "d")
    again = next(m for m in rating_matrix.build(shuffled) if m.dataset == "d")
    cells = [again.cells.index(cell) for cell in first.cells]
    stories = again.stories.reset_index().set_index("story").loc[list("abc"), "index"].to_numpy()
    np.testing.assert_array_equal(again.judge[cells][:, stories], first.judge)
    np.testing.assert_array_equal(again.people[:, stories], first.people)
