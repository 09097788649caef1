"""The ratings table leaves the program as it is: null stays null in every format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.analysis import distributions as ratings
from judge.base.errors import SpecError


@pytest.fixture
def table(make_table):
    """Six stories with one lost repeat; their ratings come first in the judge's rows."""
    return make_table(systems=2, prompts=3, lost=lambda s, p, r: "refused" if (s, p, r) == (0, 0, 1) else None)


def test_csv_and_jsonl_and_parquet_hold_the_same_rows(table, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for suffix in ratings.SUFFIXES:
        ratings.save(table.frame, tmp_path / f"t{suffix}")
    frames = [
        pd.read_csv(tmp_path / "t.csv"),
        pd.DataFrame([json.loads(line) for line in (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()]),
        pd.read_parquet(tmp_path / "t.parquet"),
    ]
    for frame in frames:
        assert list(frame.columns) == list(table.frame.columns)
        np.testing.assert_array_equal(frame["rating"].astype(float), table.frame["rating"])
        assert frame["status"].tolist() == table.frame["status"].tolist()


def test_a_rating_that_is_not_there_is_null_in_the_text(table) -> None:
    lost = table.frame.index[table.frame["status"] == "refused"][0]
    line = json.loads(ratings.jsonl_text(table.frame).splitlines()[lost])
    assert line["rating"] is None
    assert line["repeat"] == 1
    cells = ratings.csv_text(table.frame).splitlines()[lost + 1].split(",")
    assert cells[list(table.frame.columns).index("rating")] == ""


def test_the_preview_says_how_much_it_shows(table) -> None:
    printed = ratings.preview(table)
    assert len(printed.rows) == 20
    assert printed.notes[0].startswith("the first 20 of 36 rows")


def test_another_suffix_and_a_missing_folder_get_a_sentence(table, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"allowed: \.csv, \.jsonl, \.parquet"):
        ratings.save(table.frame, tmp_path / "t.xlsx")
    with pytest.raises(SpecError, match="cannot be written"):
        ratings.save(table.frame, tmp_path / "none" / "t.csv")
