"""Ratings tables out of files of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.base.errors import DataError, JudgeError
from judge.cli.main import main
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.inputs.criteria import load_criteria
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import read

ROWS = [
    {"story": f"s{i}", "system": "a", "criterion": "Coherence", "judge": "mine", "eval_prompt": "ep9", "rating": 1 + i}
    for i in range(4)
]
PEOPLE = [
    {"story": f"s{i}", "criterion": "Coherence", "source": "rater", "rater": "w1", "rating": 4 - i} for i in range(4)
]


def _jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_the_file_does_not_say_is_filled_in_once(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"mine{suffix}"
    frame = pd.DataFrame([*ROWS, *PEOPLE])
    if suffix == ".csv":
        frame.to_csv(file, index=False)
    elif suffix == ".jsonl":
        _jsonl(file, [*ROWS, *PEOPLE])
    else:
        frame.to_parquet(file, index=False)
    write_folder(tmp_path / "out", read_ratings(file, dataset="toy", notes=["from the lab"]))
    table = read([tmp_path / "out"])
    (matrix,) = build(table)
    assert matrix.dataset == "toy"
    assert matrix.cells == (("mine", "mine", "ep9", "Coherence"),)
    assert matrix.judge.tolist() == [[1, 2, 3, 4]]
    assert matrix.people.tolist() == [[4, 3, 2, 1]]
    assert matrix.imported == (True,)
    assert "from the lab" in table.facts[0].notes


def test_names_that_look_like_nothing_or_like_comments_stay_names(tmp_path: Path) -> None:
    rows = [{**row, "story": name} for row, name in zip(ROWS, ("NA", "null", "a # b", "None"), strict=True)]
    write_folder(tmp_path / "out", read_ratings(_jsonl(tmp_path / "r.jsonl", rows)))
    (matrix,) = build(read([tmp_path / "out"]))
    assert matrix.stories["story"].tolist() == ["NA", "null", "a # b", "None"]
    assert matrix.judge.tolist() == [[1, 2, 3, 4]]


def test_ratings_off_the_scale_are_missing(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "rating": 7}, *ROWS[1:]]
    found = read_ratings(_jsonl(tmp_path / "r.jsonl", rows), criteria=load_criteria("hanna").criteria)
    write_folder(tmp_path / "out", found)
    table = read([tmp_path / "out"])
    (matrix,) = build(table)
    np.testing.assert_array_equal(matrix.judge[0], [np.nan, 2, 3, 4])
    assert matrix.missing == ({"out_of_scale": 1},)
    assert "1 judges' ratings lie off their criterion's scale and count as missing" in table.facts[0].notes
    assert [c.abbreviation for c in table.facts[0].criteria] == ["CH"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rating": "four"}, "row 2, column 'rating': not a rating; found 'four'"),
        ({"rating": None}, "row 2, column 'rating': neither a rating nor a status"),
        ({"source": "robot"}, "row 2, column 'source': not judge or rater; found 'robot'"),
        ({"story": None}, "row 2, column 'story': the cell is empty"),
        ({"sytem": "b"}, "column 'sytem' is not known; did you mean 'system'"),
        ({"status": "fine"}, "unknown status; found 'fine'"),
        ({"status": "refused"}, "the row has a rating, but its status says that there is none"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    file = _jsonl(tmp_path / "r.jsonl", [ROWS[0], ROWS[1] | change])
    with pytest.raises(DataError) as caught:
        write_folder(tmp_path / "out", read_ratings(file))
    assert sentence in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_file_without_the_needed_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("story,score\na,3\n")
    with pytest.raises(JudgeError, match="'criterion', 'rating' missing"):
        read_ratings(tmp_path / "r.csv")


def test_what_judge_ratings_saves_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_folder(tmp_path / "first", read_ratings(_jsonl(tmp_path / "r.jsonl", [*ROWS, *PEOPLE])))
    for words in (["ratings", "first", "-o", "again.csv"], ["import", "again.csv", "-o", "second"]):
        with pytest.raises(SystemExit) as stop:
            main([str(tmp_path / word) if word in ("first", "again.csv", "second") else word for word in words])
        assert stop.value.code == 0
    assert "4 ratings by 1 judge, 4 by people, 4 stories" in capsys.readouterr().out
    pd.testing.assert_frame_equal(read([tmp_path / "first"]).frame, read([tmp_path / "second"]).frame)
