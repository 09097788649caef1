"""Journals written by earlier versions stay readable, and say what they said when they were written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.verification import verify_journal
from judge.asking.run_folder import ResultFolder
from judge.ratings.ratings_table import read

JOURNALS = Path(__file__).resolve().parents[1] / "journals"


@pytest.fixture(params=sorted(JOURNALS.glob("*.sqlite")), ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> ResultFolder:
    """A copy of an old result folder."""
    journal: Path = request.param
    shutil.copy(journal, tmp_path / "journal.sqlite")
    shutil.copy(journal.with_suffix(".manifest.json"), tmp_path / "manifest.json")
    return ResultFolder(tmp_path)


def test_every_format_there_ever_was_is_kept() -> None:
    assert sorted(path.stem for path in JOURNALS.glob("*.sqlite")) == ["format-1", "format-1-usage"]


def test_an_old_journal_gives_its_table(old: ResultFolder) -> None:
    table = read([old.path])
    judged = table.frame[table.frame["source"] == "judge"]
    people = table.frame[table.frame["source"] == "rater"]
    assert len(judged) == 3 * 2 * 2 * 2
    assert sorted(people["rating"]) == [1.0, 2.0, 4.0]
    assert set(judged["story"]) == {"a-one", "a-two", "b-one"}
    assert judged.loc[judged["status"] == "ok", "rating"].notna().all()
    assert judged.loc[judged["status"] != "ok", "rating"].isna().all()
    assert {"ok"} < set(judged["status"])
    assert table.facts[0].repeats == 2


def test_every_hash_of_an_old_journal_can_be_derived_again(old: ResultFolder) -> None:
    assert verify_journal(old) == (12, [])


def test_what_a_server_said_of_its_calls_is_kept_beside_the_first_format() -> None:
    with JournalReader(JOURNALS / "format-1-usage.sqlite") as journal:
        totals, spent = journal.totals(), journal.spending()
        costs = [answer.response.cost for answer in journal.answers() if answer.response is not None]
    # Twelve calls of two answers each; the server named (prompt + 4 x answer tokens) / 10 million dollars for each.
    assert (totals.answered, totals.reasoning_tokens) == (24, 240)
    assert spent.reported_calls == sum(cost is not None for cost in costs) == 12
    assert spent.reported == pytest.approx((548 + 4 * 360) / 1e7)
    with JournalReader(JOURNALS / "format-1.sqlite") as journal:
        assert journal.totals().reasoning_tokens is None
        assert journal.spending().reported_calls == 0
