"""The sliding-set table on MANS: published counts, ties by story id, intervals, and what it makes of a poor judge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from judge.analysis.agreement.sliding_sets import SlidingRow, sets, tables
from judge.analysis.options.agreement_options import DriftOptions
from judge.ratings.ratings_table import RatingsTable


def test_mans_has_80_sets_and_6400_pairs_the_published_way(mans_length: RatingsTable) -> None:
    row = sets(mans_length, DriftOptions(resamples=60)).frame.iloc[0]
    assert (row["sets"], row["inclusive"], row["disjoint"]) == (80, 81, 5)
    assert (row["published_r2_n"], row["unordered_r2_n"], row["apart_r2_n"], row["stories_r2_n"]) == (
        6400,
        3240,
        10,
        1000,
    )
    frame = mans_length.frame
    data = frame[frame["source"] == "rater"].groupby("story")["rating"].mean().round(9).to_frame("people")
    data["judge"] = frame[frame["source"] == "judge"].set_index("story")["rating"]
    data = data.sort_index().sort_values("people", kind="stable")  # ties by story id
    means = [data.iloc[start : start + 200].mean() for start in range(0, 800, 10)]
    x = [a["judge"] - b["judge"] for a in means for b in means]
    y = [a["people"] - b["people"] for a in means for b in means]
    assert row["published_r2"] == pytest.approx(pearsonr(x, y).statistic ** 2, abs=1e-9)
    assert row["stories_r2"] == pytest.approx(pearsonr(data["judge"], data["people"]).statistic ** 2, abs=1e-12)
    for way in ("published", "unordered", "apart", "stories"):
        assert row[f"{way}_r2"] == pytest.approx(row[f"{way}_r"] ** 2)
        assert row[f"{way}_r2_low"] < row[f"{way}_r2_high"]


def test_sets_flatter_a_poor_judge(mans_length: RatingsTable) -> None:
    row = sets(mans_length, DriftOptions(ci="none")).frame.iloc[0]
    assert row["stories_r2"] < 0.1
    assert row["published_r2"] > 5 * row["stories_r2"]
    assert "published_r2_low" not in row


def test_intervals_by_stories_or_story_prompts(mans_length: RatingsTable) -> None:
    ends = []
    for ci in ("boot-inputs", "boot-stories"):
        (printed,) = tables(sets(mans_length, DriftOptions(ci=ci, resamples=60)))
        ends.append(printed.rows[0]["stories_r2"].low)
        assert f"|ci:{ci}/60/seed1|sets:200/10|r:pearson|" in printed.signature
    assert ends[0] != ends[1]
    assert any("each sorted and slid anew" in note for note in printed.notes)
    assert any("as published 80 sets" in note and "81 sets" in note for note in printed.notes)


def test_too_few_stories_are_undefined(make_table) -> None:
    (printed,) = tables(sets(make_table()))
    row = printed.rows[0]
    assert row["published_r2"].reason == "undefined with 48 stories: a set holds 200"
    assert row["stories_r2"].defined
    (small,) = tables(sets(make_table(), DriftOptions(window=10, stride=2, resamples=50)))
    assert np.isfinite(small.rows[0]["published_r2"].low)
    assert small.rows[0]["sign"] == "+"


def test_frame_and_table_are_of_one_value(make_table) -> None:
    found = sets(make_table(), DriftOptions(window=10, stride=2, resamples=20))
    (printed,) = tables(found)
    assert all(isinstance(row, SlidingRow) for row in found.rows)
    assert [row["apart_r2"] for row in printed.rows] == [row.ways["apart"].r2 for row in found.rows]
    assert list(found.frame["apart_r2"]) == [row.ways["apart"].r2.value for row in found.rows]
    assert found.frame.attrs["signature"] == printed.signature
