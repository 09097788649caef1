"""A long file read column by column gives what the reader of rows gives, or is left to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.base.errors import DataError
from judge.exchange import imported_folder, quick_rows
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.exchange.ratings_rows import ratings_map
from judge.ratings.ratings_table import read

ROWS: list[dict[str, Any]] = [
    {"story": f"s{at}", "story_prompt": f"p{at // 2}", "system": "ab"[at % 2], "criterion": "Coherence"}
    | {"judge": judge, "repeat": repeat, "rating": 1 + (at + repeat) % 5, "status": "ok", "rater": None}
    for at in range(6)
    for judge in ("x", "y")
    for repeat in (0, 1)
] + [
    {"story": f"s{at}", "criterion": "Coherence", "rater": rater, "rating": 1 + at % 5}
    for at in range(6)
    for rater in ("ann", "bob")
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(quick_rows, "LEAST_BYTES", 0)
    return _written(tmp_path, ROWS)


def _written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def _frame(path: Path, folder: Path) -> pd.DataFrame:
    write_folder(folder, read_ratings(path))
    return read([folder]).frame


def test_columns_and_rows_give_the_same_table(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert quick_rows.quick_rows(file, ratings_map(file, {}, []), None) is not None
    by_columns = _frame(file, tmp_path / "quick")
    monkeypatch.setattr(imported_folder, "_MANY_ROWS", 3)
    apart = _frame(file, tmp_path / "apart")
    assert "story_prompt" not in (tmp_path / "apart" / "imported.csv").read_text(encoding="utf-8").splitlines()[0]
    monkeypatch.setattr(quick_rows, "LEAST_BYTES", 1 << 30)
    by_rows = _frame(file, tmp_path / "rows")
    for frame in (by_columns, apart):
        pd.testing.assert_frame_equal(frame.astype(object), by_rows.astype(object))
    assert sorted(by_rows["story_prompt"].unique()) == ["p0", "p1", "p2"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rating": "four"}, "not a rating; found 'four'"),
        ({"rating": None}, "its status says that there is one"),
        ({"story": None}, "the cell is empty"),
        ({"system": "c"}, "the system of story 's0' differs from an earlier row's"),
        ({"repeat": 0.5}, "not the number of a repeat"),
        ({"status": "fine"}, "unknown status"),
        ({"story": "s0", "repeat": 0, "judge": "x"}, "rates story 's0' on Coherence twice"),
    ],
)
def test_what_is_wrong_is_told_by_the_reader_of_rows(
    file: Path, tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    path = _written(tmp_path, [*ROWS[:1], ROWS[1] | change, *ROWS[2:]])
    assert quick_rows.quick_rows(path, ratings_map(path, {}, []), None) is None
    with pytest.raises(DataError, match=sentence):
        read_ratings(path)


def test_lists_in_cells_are_left_to_the_reader_of_rows(file: Path, tmp_path: Path) -> None:
    rows = [{"story": f"s{at}", "criterion": "Coherence", "judge": "x", "rating": "[1, 2]"} for at in range(3)]
    path = _written(tmp_path, rows)
    assert quick_rows.quick_rows(path, ratings_map(path, {}, []), None) is None
    assert len(read_ratings(path).frame) == 6


WIDE = {
    "story": [f"s{at}" for at in range(6)],
    "story_prompt": [f"p{at // 2}" for at in range(6)],
    "x": [1, 2, 3, 4, 5, None],
    "y": [2, 2, 3.5, 4, 5, 1],
    "ann": [1, None, 3, 4, 4, 2],
    "bob": [2, 2, 3, 4, 5, 1],
}
WIDE_MAP = {"judges.Plot": ["x:x", "y:y"], "people.Plot": ["ann:ann", "bob:bob"]}


def _both(path: Path, columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """The ratings by columns, which must take the file, and by rows."""
    monkeypatch.setattr(quick_rows, "LEAST_BYTES", 0)
    assert quick_rows.quick_rows(path, ratings_map(path, columns, []), None, "no_rating") is not None
    frames = []
    for least in (0, 1 << 30):
        monkeypatch.setattr(quick_rows, "LEAST_BYTES", least)
        frame = read_ratings(path, columns=columns, unrated="no_rating").frame.astype(object)
        frames.append(frame.where(frame.notna(), None))
    return frames


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_wide_tables_are_read_by_columns_as_by_rows(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, path = pd.DataFrame(WIDE), tmp_path / f"wide{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    by_columns, by_rows = _both(path, WIDE_MAP, monkeypatch)
    assert len(by_rows) == 23  # an empty cell of a person is no row, one of a judge is a lost rating
    pd.testing.assert_frame_equal(by_columns, by_rows[by_columns.columns])
    unnamed = {**WIDE_MAP, "rater": "=unknown"}
    by_columns, by_rows = _both(path, unnamed, monkeypatch)
    pd.testing.assert_frame_equal(by_columns, by_rows[by_columns.columns])


def test_rows_by_raters_and_criteria_count_a_judges_rating_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"story": at, "criterion": criterion, "who": who, "x": 1 + at % 5, "given": 1 + (at + len(who)) % 5}
        for at in range(5)
        for criterion in ("Plot", "Style")
        for who in ("ann", "robert")
    ]
    path = tmp_path / "rows.parquet"
    pd.DataFrame(rows).to_parquet(path, index=False)
    columns = {"criterion": "criterion", "rater": "who", "judges.*": ["x:x"], "people.*": "given"}
    by_columns, by_rows = _both(path, columns, monkeypatch)
    assert len(by_rows) == 30
    pd.testing.assert_frame_equal(by_columns, by_rows[by_columns.columns])
    rows[1]["x"] = 5
    pd.DataFrame(rows).to_parquet(path, index=False)
    with pytest.raises(DataError, match="the judge's ratings of story '0' differ"):
        read_ratings(path, columns=columns)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_judges_among_raters_texts_and_codes_are_read_by_columns_as_by_rows(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"id": f"s{at}", "told": f"The lamp number {at} went out.", "aspect": "Plot", "by": who}
        | {"score": 1 + (at + len(who)) % 5 if (at, who) != (3, "gpt-4") else -1}
        for at in range(6)
        for who in ("ann", "gpt-4", "robert")
    ]
    frame, path = pd.DataFrame(rows), tmp_path / f"rows{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    columns = {"story": "id", "text": "told", "criterion": "aspect", "rater": "by", "rating": "score"}
    columns |= {"judges": ["gpt-4"], "missing": ["-1"]}
    by_columns, by_rows = _both(path, columns, monkeypatch)
    pd.testing.assert_frame_equal(by_columns, by_rows[by_columns.columns])
    lost = by_columns[by_columns["rating"].isna()]
    assert [(row["story"], row["judge"], row["status"]) for _, row in lost.iterrows()] == [("s3", "gpt-4", "no_rating")]
    told = read_ratings(path, columns=columns, unrated="no_rating").stories
    assert told is not None
    assert list(told["text"]) == [f"The lamp number {at} went out." for at in range(6)]


def test_codes_for_no_rating_are_none_in_wide_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.parquet"
    frame = pd.DataFrame(WIDE)
    frame.loc[2, ["x", "bob"]] = 99
    frame.to_parquet(path, index=False)
    by_columns, by_rows = _both(path, {**WIDE_MAP, "missing": ["bob=99"]}, monkeypatch)
    pd.testing.assert_frame_equal(by_columns, by_rows[by_columns.columns])
    assert {*by_columns.loc[by_columns["rating"] == 99, "judge"]} == {"x"}
