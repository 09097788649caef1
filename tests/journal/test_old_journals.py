"""Journals written by earlier versions stay readable, and say what they said when they were written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge.execution.verification import verify_journal
from judge.ratings_table import read
from judge.run_folder import ResultFolder

JOURNALS = Path(__file__).resolve().parents[1] / "journals"


@pytest.fixture(params=sorted(JOURNALS.glob("*.sqlite")), ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> ResultFolder:
    """A copy of an old result folder."""
    journal: Path = request.param
    shutil.copy(journal, tmp_path / "journal.sqlite")
    shutil.copy(journal.with_suffix(".manifest.json"), tmp_path / "manifest.json")
    return ResultFolder(tmp_path)


def test_every_format_there_ever_was_is_kept() -> None:
    assert [path.stem for path in sorted(JOURNALS.glob("*.sqlite"))] == ["format-1"]


def test_an_old_journal_gives_its_table(old: ResultFolder) -> None:
    table = read([old.path])
    judged = table.frame[table.frame["source"] == "judge"]
    people = table.frame[table.frame["source"] == "rater"]
    assert len(judged) == 3 * 2 * 2 * 2
    assert sorted(people["rating"]) == [1.0, 2.0, 4.0]
    assert set(judged["story"]) == {"a-one", "a-two", "b-one"}
    assert judged.loc[judged["status"] == "ok", "rating"].notna().all()
    assert judged.loc[judged["status"] != "ok", "rating"].isna().all()
    assert {"ok", "ambiguous"} <= set(judged["status"])
    assert table.facts[0].repeats == 2


def test_every_hash_of_an_old_journal_can_be_derived_again(old: ResultFolder) -> None:
    assert verify_journal(old) == (12, [])
