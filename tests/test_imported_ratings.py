"""Ratings tables from elsewhere: what is read, what is refused, and how they stand beside a journal."""

from __future__ import annotations

from pathlib import Path

import orjson
import pandas as pd
import pytest

from judge.base.errors import DataError
from judge.demo import run_demo
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import COLUMNS, read


def _rows() -> list[dict[str, object]]:
    place = {"run": "r", "dataset": "toy", "system": "s"}
    found: list[dict[str, object]] = []
    for i in range(4):
        story = place | {"story": f"a{i}", "story_prompt": f"p{i}", "criterion": "Coherence", "flags": ""}
        judged = {"source": "judge", "judge": "elsewhere/m", "eval_prompt": "ep1", "status": "imported"}
        found.append(story | judged | {"rating": 1.5 + i})
        found.append(story | {"source": "rater", "rater": "w1", "status": "ok", "rating": float(i % 3 + 1)})
    return found


def _write(folder: Path, rows: list[dict[str, object]]) -> Path:
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows).reindex(columns=list(COLUMNS)).to_csv(folder / "imported.csv", index=False)
    return folder


def test_features_and_criteria_of_an_import_are_known(tmp_path: Path) -> None:
    folder = _write(tmp_path / "in", _rows())
    record = {"name": "Coherence", "abbreviation": "CH", "definition": "", "scale": [1, 5, 1], "guidelines": []}
    (folder / "manifest.json").write_bytes(orjson.dumps({"judge": "many", "criteria": [record], "notes": ["of 2024"]}))
    stories = pd.DataFrame({"dataset": "toy", "story": [f"a{i}" for i in range(4)], "length": [3, 1, 4, 1]})
    stories.to_csv(folder / "imported_stories.csv", index=False)
    table = read([folder])
    assert table.facts[0].judge == "many"
    assert table.facts[0].criteria[0].abbreviation == "CH"
    assert "of 2024" in table.facts[0].notes
    (matrix,) = build(table)
    assert matrix.features["length"].tolist() == [3, 1, 4, 1]
    assert matrix.judge[0].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert matrix.stories["text"].tolist() == ["", "", "", ""]


def test_people_of_a_dataset_come_once_from_journal_and_import(tmp_path: Path) -> None:
    run_demo(tmp_path / "demo", quiet=True)
    journaled = read([tmp_path / "demo"])
    copy = tmp_path / "copy"
    copy.mkdir()
    frame = journaled.frame.copy()
    frame.loc[frame["source"] == "judge", "judge"] = "elsewhere/m"
    frame.to_csv(copy / "imported.csv", index=False)
    both = read([tmp_path / "demo", copy]).frame
    people = (both["source"] == "rater").sum()
    assert people == (journaled.frame["source"] == "rater").sum() > 0
    assert set(both["judge"].dropna()) == {"surface", "elsewhere/m"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "fine"}, "unknown status; found 'fine'"),
        ({"status": "no_rating"}, "a rating stands beside a status that says there is none; found 'no_rating'"),
        ({"rating": None}, "no rating stands beside a status that says there is one; found 'imported'"),
    ],
)
def test_rows_that_contradict_themselves_are_refused(tmp_path: Path, change: dict[str, object], words: str) -> None:
    rows = _rows()
    rows[2] |= change
    with pytest.raises(DataError, match=words) as caught:
        read([_write(tmp_path / "in", rows)])
    assert "row 4" in str(caught.value)


def test_a_feature_must_be_numeric(tmp_path: Path) -> None:
    folder = _write(tmp_path / "in", _rows())
    (folder / "imported_stories.csv").write_text("dataset,story,length\ntoy,a0,long\n")
    with pytest.raises(DataError, match="column 'length': a feature must be numeric; found 'long'"):
        read([folder])


def test_parquet_gives_the_same_matrix_as_csv(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    folder = _write(tmp_path / "csv", _rows())
    other = tmp_path / "parquet's"
    other.mkdir()
    with duckdb.connect() as db:
        db.read_csv(str(folder / "imported.csv"), all_varchar=True).to_parquet(str(other / "imported.parquet"))
    (from_csv,), (from_parquet,) = build(read([folder])), build(read([other]))
    assert from_parquet.cells == from_csv.cells
    assert from_parquet.judge.tolist() == from_csv.judge.tolist()
    assert from_parquet.people.tolist() == from_csv.people.tolist()
    assert from_parquet.rater_names == from_csv.rater_names == ("w1",)
    assert from_parquet.stories.equals(from_csv.stories)


def test_a_file_that_is_no_parquet_gets_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "imported.parquet").write_text("no")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read([tmp_path])
