"""Merging shards: all rows or none, each once, never over an answer that is there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalMerger, JournalReader, JournalWriter, Merged
from judge.base.errors import RunFolderError
from judge.base.records import Story

ANSWER: dict[str, Any] = {
    "query_key": "b2:1",
    "story": "s1",
    "criterion": "Overall",
    "eval_prompt": "ep1",
    "flags": "f",
    "repeat": 0,
    "outcome": "answered",
    "final": True,
    "started": 10.0,
    "seconds": 0.5,
    "status": 200,
    "error_kind": None,
    "error": None,
    "text": "Rating: 4",
    "finish_reason": "stop",
    "reasoning": None,
    "prompt_tokens": 5,
    "completion_tokens": 3,
    "cached_tokens": None,
    "logprobs": None,
    "model": "m",
}
FAILURE = ANSWER | {
    "outcome": "timeout",
    "final": False,
    "status": None,
    "error_kind": "timeout",
    "error": "no answer",
    "text": None,
    "started": 9.0,
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    with JournalWriter(path) as writer:
        writer.add_stories([Story("s1", "p", "A", "text")])
    return path


def test_a_shard_enters_once_and_its_attempts_are_the_executors(journal: Path) -> None:
    with JournalMerger(journal, executor="ray") as merger:
        assert merger.merge("a", [FAILURE, ANSWER]) == Merged(answered=1, failed=0, duplicates=0)
        assert merger.merge("a", [FAILURE, ANSWER]) == Merged()
        merger.finish("done")
    with JournalMerger(journal, executor="ray") as again:
        assert again.names() == {"a"}
        assert again.merge("a", [ANSWER]) == Merged()
    with JournalReader(journal) as reader:
        (answer,) = reader.answers()
        assert (answer.outcome, answer.attempts, answer.flags) == ("answered", 2, ("f",))
        assert answer.response is not None
        assert (answer.response.text, answer.response.prompt_tokens) == ("Rating: 4", 5)
        totals = reader.totals()
        assert (totals.first_request, totals.answered, totals.attempts) == (9.0, 1, 2)
        assert reader.check_integrity() == []
    with closing(sqlite3.connect(journal)) as db:
        rows = db.execute("SELECT executor, ended FROM sessions WHERE id IN (SELECT session FROM attempts)").fetchall()
    assert rows == [("ray", "done")]


def test_an_answer_that_is_there_stays_and_later_rows_about_it_are_counted(journal: Path) -> None:
    with JournalMerger(journal, executor="ray") as merger:
        merger.merge("a", [ANSWER])
        twice = ANSWER | {"text": "Rating: 1"}
        given_up = FAILURE | {"final": True}
        other = ANSWER | {"repeat": 1}
        assert merger.merge("b", [twice, given_up, other]) == Merged(answered=1, failed=0, duplicates=2)
    with JournalReader(journal) as reader:
        assert {(a.repeat, a.response.text) for a in reader.answers() if a.response} == {
            (0, "Rating: 4"),
            (1, "Rating: 4"),
        }
        assert reader.totals().failed == {}


def test_a_repeat_that_was_given_up_is_settled_and_counted(journal: Path) -> None:
    with JournalMerger(journal, executor="ray") as merger:
        assert merger.merge("a", [FAILURE, FAILURE | {"final": True}]) == Merged(answered=0, failed=1, duplicates=0)
    with JournalReader(journal) as reader:
        assert reader.settled("b2:1") == {0}
        assert reader.totals().failed == {"timeout": 1}


def test_a_shard_of_another_run_is_refused_whole(journal: Path) -> None:
    with (
        JournalMerger(journal, executor="ray") as merger,
        pytest.raises(RunFolderError, match="does not have: 's2'"),
    ):
        merger.merge("a", [ANSWER, ANSWER | {"story": "s2", "query_key": "b2:2"}])
    with JournalReader(journal) as reader:
        assert list(reader.answers()) == []
    with JournalMerger(journal, executor="ray") as merger:
        assert merger.names() == set()


def test_a_journal_without_shards_has_no_table_of_them(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'shards'").fetchone() == (0,)
