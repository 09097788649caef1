"""A dataset as frames."""

from __future__ import annotations

from pathlib import Path

import pytest

import judge


def test_preferences_and_comments_are_frames(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    preferences = judge.load_dataset("storyer_pairs").preferences
    assert len(preferences) == 700
    assert preferences["preference"].value_counts().sum() == 700
    assert set(preferences["criterion"]) == {"Overall"}
    assert preferences["rater"].isna().all()
    reasons = judge.load_dataset("storyer_reasons")
    assert reasons.ratings["comment"].str.len().min() > 0
    assert len(reasons.preferences) == 0


def test_a_pair_without_a_preference_is_a_row_without_one(tmp_path: Path) -> None:
    path = tmp_path / "shown.csv"
    path.write_text("first,second,preference\nx,y,\nx,z,b\n", encoding="utf-8")
    columns = {"first": "first", "second": "second", "preference": "preference"}
    frame = judge.load_dataset(str(path), columns=columns).preferences
    assert frame["preference"].isna().to_list() == [True, False]
    assert frame.loc[1, ["criterion", "preference"]].to_list() == ["Overall", "second"]
