"""Class 4: SQLite files from elsewhere, as journals, audits and caches: nothing in them runs or is believed."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path

import pytest

from judge.answers.journal import JournalReader
from judge.base.errors import JudgeError
from judge.base.sqlite_file import connect, read_only
from judge.explanations.audit.database import FORMAT, TABLES
from judge.explanations.audit.store import AuditStore
from judge.inputs.datasets.studies.storyer import read_plain_pickle
from tests.hardening.conftest import Call, Make, held

CHANGES = {
    "trigger on insert": "CREATE TRIGGER t AFTER INSERT ON sessions BEGIN DELETE FROM responses; END",
    "trigger on delete": "CREATE TRIGGER t AFTER DELETE ON responses BEGIN DELETE FROM attempts; END",
    "view": "CREATE VIEW v AS SELECT * FROM responses",
    "view for a table": "ALTER TABLE ratings RENAME TO r; CREATE VIEW ratings AS SELECT * FROM r",
    "virtual table": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "no responses": "DROP TABLE responses",
    "no queries": "DROP TABLE queries",
    "no stories": "DROP TABLE stories",
    "no sessions": "DROP TABLE sessions",
    "no meta": "DROP TABLE meta",
    "another column": "ALTER TABLE responses RENAME COLUMN text TO words",
    "fewer columns": "ALTER TABLE stories DROP COLUMN text",
    "no definition": "DELETE FROM meta WHERE key = 'definition'",
    "an empty definition": "UPDATE meta SET value = '{}' WHERE key = 'definition'",
    "a definition that is a list": "UPDATE meta SET value = '[]' WHERE key = 'definition'",
    "a definition that is no JSON": "UPDATE meta SET value = '{' WHERE key = 'definition'",
    "a definition of bytes": "UPDATE meta SET value = x'00ff' WHERE key = 'definition'",
    "another format": "UPDATE meta SET value = '99' WHERE key = 'format'",
    "a format that is no number": "UPDATE meta SET value = 'one' WHERE key = 'format'",
    "texts that are bytes": "UPDATE responses SET text = x'00ff'",
    "texts that are numbers": "UPDATE responses SET text = 5",
    "logprobs that are no JSON": "UPDATE responses SET logprobs = '{'",
    "ratings that are words": "UPDATE ratings SET value = 'five'",
    "stories that are bytes": "UPDATE stories SET text = x'00ff'",
    "stories that are not UTF-8": "UPDATE stories SET text = CAST(x'ff' AS TEXT)",
    "answers that are not UTF-8": "UPDATE responses SET text = CAST(x'ff' AS TEXT)",
    "tokens that are words": "UPDATE responses SET prompt_tokens = 'many'",
    "repeats that are words": "UPDATE attempts SET repeat = 'one'",
    "no such story": "UPDATE queries SET story = 'nobody'",
    "no such criterion": "UPDATE queries SET criterion = 'Depth'",
    "no such Eval-Prompt": "UPDATE queries SET eval_prompt = 'ep9'",
    "attempts of another repeat": "UPDATE attempts SET repeat = -1",
    "infinite ratings": "UPDATE ratings SET value = 9e999",
}


def changed(ran: Make, what: str) -> Path:
    place = ran()
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    base.executescript(CHANGES[what])
    base.commit()
    base.close()
    return place


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_journal_ends_in_a_sentence_or_in_its_tables(ran: Make, call: Call, what: str) -> None:
    place = changed(ran, what)
    for command in ("status", "report", "status --verify", "run"):
        options = {"run": ["--quiet"], "report": ["-o", place / "report.html"]}
        code, _, error = call(*command.split(), place, *options.get(command, []))
        assert "Traceback" not in error
        assert code in (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("no such story", "queries of no known story"),
        ("no such criterion", "queries of criterion 'Depth'"),
        ("no such Eval-Prompt", "queries of Eval-Prompt 'ep9'"),
    ],
)
def test_a_query_of_what_the_run_does_not_have_is_found(ran: Make, call: Call, what: str, words: str) -> None:
    code, said, error = call("status", "--verify", changed(ran, what))
    assert code == 4
    assert words in said + error


@pytest.mark.parametrize("what", [name for name in CHANGES if "trigger" in name or "v" in name.split()[:1]])
def test_what_runs_by_itself_is_refused(ran: Make, call: Call, what: str) -> None:
    assert "which no journal of this program does" in held(call("coverage", changed(ran, what)))


def test_no_schema_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    for base in (connect(file), connect(None), read_only(file)):
        assert base.execute("PRAGMA trusted_schema").fetchone()[0] == 0
        base.close()


def test_reading_writes_nothing(ran: Make) -> None:
    place = ran()
    with JournalReader(place / "surface" / "journal.sqlite") as journal, pytest.raises(sqlite3.OperationalError):
        journal._db.execute("DELETE FROM responses")


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 4096, b"PK\3\4" + b"\0" * 500, b"{}"])
def test_a_file_that_is_no_journal(make: Make, call: Call, content: bytes) -> None:
    place = make()
    (place / "surface").mkdir()
    journal = place / "surface" / "journal.sqlite"
    journal.write_bytes(content)
    assert held(call("coverage", place))
    assert journal.read_bytes() == content


@pytest.mark.parametrize(
    "sql", ["CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END", "CREATE VIEW v AS SELECT 1"]
)
def test_an_audit_with_more_than_tables_is_refused(tmp_path: Path, sql: str) -> None:
    file = tmp_path / "audit.sqlite"
    base = sqlite3.connect(file)
    base.executescript(TABLES)
    base.execute("INSERT INTO meta VALUES ('audit_format', ?)", (str(FORMAT),))
    base.executescript(sql)
    base.commit()
    base.close()
    with pytest.raises(JudgeError, match="no audit of ours"):
        AuditStore.open(file)


class _Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, ("touch ran-by-pickle",)


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_studies_make_no_objects(tmp_path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "x.pkl"
    file.write_bytes(pickle.dumps([_Evil()], protocol))
    with pytest.raises(JudgeError):
        read_plain_pickle(file)
    assert not (tmp_path / "ran-by-pickle").exists()
