"""What raters wrote beside their ratings is kept with them, and is never a judge's explanation."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge.exchange.tables.checked_table import check
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_files
from tests.report.runs import command as run


def _people() -> pd.DataFrame:
    rows = [
        (f"s{n}", who, 1 + (n + at) % 5, f"{who} on {n}") for n in range(30) for at, who in enumerate(("Anna", "Ben"))
    ]
    return pd.DataFrame(rows, columns=["story", "rater", "human_score", "comment"])


def test_a_persons_comment_stays_with_the_rating(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    frame = _people().assign(gpt4=lambda f: [1 + int(story[1:]) % 5 for story in f["story"]])
    frame.to_csv(path, index=False)
    checked = check(path)
    assert checked.columns.fields["comments"] == "comment"
    kept = checked.ratings.frame
    people, judged = kept[kept["source"] == "rater"], kept[kept["source"] == "judge"]
    assert dict(zip(zip(people["story"], people["rater"], strict=True), people["explanation"], strict=True)) == dict(
        zip(zip(frame["story"], frame["rater"], strict=True), frame["comment"], strict=True)
    )
    assert judged["explanation"].isna().all()
    folder = str(tmp_path / "kept")
    assert (
        run("check", str(path), "--set", f"keep={folder}", "--quiet", "--resamples", "20", "-o", f"{folder}.html") == 0
    )
    assert run("ratings", folder, "-o", str(tmp_path / "out.csv")) == 0
    exported = pd.read_csv(tmp_path / "out.csv")
    assert {*exported.loc[exported["source"] == "rater", "explanation"]} == {*frame["comment"]}
    assert exported.loc[exported["source"] == "judge", "explanation"].isna().all()
    capsys.readouterr()
    assert run("explain", folder) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_comment_beside_several_persons_columns_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = _people().pivot_table(index="story", columns="rater", values="human_score").reset_index()
    frame = frame.assign(gpt4=[1 + n % 5 for n in range(30)], comment=[f"on {n}" for n in range(30)])
    frame.to_csv(path, index=False)
    checked = check(path)
    assert "comments" not in checked.columns.fields
    assert any("comment (what was said of it)" in line for line in checked.columns.lines)


def test_a_judges_reasons_in_a_table_of_its_own_are_its_explanations(tmp_path: Path) -> None:
    people, judged = tmp_path / "people.csv", tmp_path / "judge.csv"
    _people().drop(columns="comment").to_csv(people, index=False)
    rows = [(f"s{n}", 1 + n % 5, f"because of {n}") for n in range(30)]
    pd.DataFrame(rows, columns=["story", "gpt4", "explanation"]).to_csv(judged, index=False)
    kept = check_files([people, judged], GivenColumns()).ratings.frame
    told = kept[kept["source"] == "judge"]
    assert list(told["explanation"]) == [row[2] for row in rows]
    assert kept.loc[kept["source"] == "rater", "explanation"].isna().all()
