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
