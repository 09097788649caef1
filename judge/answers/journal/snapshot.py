"""Consistent copies of a journal or an audit file, with or without texts, while another process may write the source;
and the diagnosis of a journal that could not be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import at_rest, database
from judge.answers.journal.database import TABLES
from judge.answers.journal.reader import JournalReader
from judge.base.errors import RunFolderError
from judge.base.fingerprint import sha256_text
from judge.base.sqlite_file import connect, open_reading, read_only, strange

# Diagnosis of a journal that could not be read.

_KINDS = {"TEXT": ("text",), "INTEGER": ("integer",), "REAL": ("real", "integer")}
_DEFINITION = (
    "name",
    "dataset",
    "dataset_name",
    "dataset_hash",
    "criteria",
    "criteria_records",
    "eval_prompts",
    "eval_prompt_sources",
    "structured",
    "system",
)


def what_is_wrong(path: Path) -> str | None:
    """Phrase on a journal's first fault: damage, or content that no version of this program writes; None if sound."""
    try:
        with closing(database.open_reading(path)) as db:
            db.text_factory = bytes
            if (fault := next(_wrong(db), None)) is not None:
                return fault
        with JournalReader(path) as journal:
            return next(iter(journal.check_integrity()), None)
    except RunFolderError as error:
        return str(error)
    except sqlite3.DatabaseError as error:
        return str(error)


def _wrong(db: sqlite3.Connection) -> Iterator[str]:
    for (word,) in db.execute("PRAGMA integrity_check(1)"):
        if word != b"ok":
            yield f"SQLite finds {word.decode('utf-8', 'replace')!r}"
    with closing(connect(None)) as ours:
        ours.executescript(TABLES)
        tables = [name for (name,) in ours.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: ours.execute(f"PRAGMA table_info({table})").fetchall() for table in tables}
    for table, expected in columns.items():
        there = {row[1].decode() for row in db.execute(f"PRAGMA table_info({table})")}
        for _, column, kind, needed, _, key in expected:
            if column not in there:
                yield f"table {table} has no column {column}" if there else f"there is no table {table}"
                return
            yield from _of_kind(db, table, column, kind, needed=bool(needed or key))
    yield from _wrong_json(db)


def _of_kind(db: sqlite3.Connection, table: str, column: str, kind: str, *, needed: bool) -> Iterator[str]:
    kinds = _KINDS[kind] + (() if needed else ("null",))
    marks = ",".join("?" * len(kinds))
    sql = f"SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ({marks}) LIMIT 1"  # noqa: S608
    row = db.execute(sql, kinds).fetchone()
    if row is not None:
        yield f"{table}.{column} holds {row[0].decode()} where {kind.lower()} belongs"
    elif kind == "TEXT":
        for (value,) in db.execute(f"SELECT {column} FROM {table}"):  # noqa: S608
            try:
                (value or b"").decode("utf-8")
            except UnicodeDecodeError:
                yield f"{table}.{column} holds what is not UTF-8"
                return


def _wrong_json(db: sqlite3.Connection) -> Iterator[str]:
    meta: dict[bytes, Any] = {}
    rows = [(f"meta.{key.decode()}", key, value) for key, value in db.execute("SELECT key, value FROM meta")]
    rows += [
        ("responses.logprobs", b"", logprobs)
        for (logprobs,) in db.execute("SELECT logprobs FROM responses")
        if logprobs
    ]
    for where, key, value in rows:
        try:
            meta[key] = orjson.loads(value)
        except orjson.JSONDecodeError:
            yield f"{where} is no JSON"
    definition = meta.get(b"definition")
    if not isinstance(definition, dict):
        yield "its definition is missing" if definition is None else "its definition cannot be read as one"
        return
    yield from (f"its definition has no {key}" for key in _DEFINITION if key not in definition)


# Key of `meta` and name of the table in a journal without texts.
LEFT_OUT = "texts_left_out"

_TABLE = f"""
CREATE TABLE {LEFT_OUT} (                    -- what stood in stories: SHA-256 of UTF-8, and the text's words
    position INTEGER PRIMARY KEY,
    story_prompt TEXT NOT NULL,
    text TEXT NOT NULL,
    reference TEXT,
    words INTEGER NOT NULL
)
"""


def snapshot(source: Path, target: Path) -> None:
    """Copy an SQLite file as of one moment, without a log file; equal content gives equal bytes. Raises RunFolderError
    for an unreadable source."""
    with database.sentences(source), closing(_reading(source)) as before, closing(connect(target)) as after:
        # All pages in one step: one read transaction, beside which a writer goes on in its log.
        before.backup(after, pages=-1)
        after.execute("PRAGMA journal_mode = DELETE")


def leave_out_texts(journal: Path, notes: Sequence[str] = ()) -> None:
    """Empty the stories' texts in a copy of a journal; a table keeps their hashes and word counts. Story-prompts become
    hashes, which keeps their groups. No more requests can be made from the copy. `notes` are stored sentences that only
    the texts could give. Freed space is overwritten."""
    with database.sentences(journal), closing(connect(journal, autocommit=True)) as db:
        db.create_function("sha256", 1, _sha256, deterministic=True)
        db.create_function("words", 1, lambda text: len(text.split()), deterministic=True)
        db.execute("PRAGMA secure_delete = ON")
        db.execute("BEGIN IMMEDIATE")
        db.execute(_TABLE)
        db.execute(
            "INSERT INTO texts_left_out"
            " SELECT position, sha256(story_prompt), sha256(text), sha256(reference), words(text)"
            " FROM stories ORDER BY position"
        )
        db.execute(
            "UPDATE stories SET text = '', reference = CASE WHEN reference IS NULL THEN NULL ELSE '' END,"
            " story_prompt = CASE story_prompt WHEN '' THEN '' ELSE sha256(story_prompt) END"
        )
        db.execute("INSERT INTO meta VALUES (?, ?)", (LEFT_OUT, orjson.dumps({"notes": list(notes)}).decode()))
        db.execute("COMMIT")
        db.execute("VACUUM")


def check_plain(path: Path) -> list[str]:
    """Faults that make a foreign SQLite file unsafe to read, as phrases to follow its name: it is unreadable, or it
    holds triggers or views, which SQLite could execute."""
    with closing(read_only(path, immutable=True)) as db:
        try:
            strangers = strange(db)
        except sqlite3.DatabaseError as error:
            return [f"not a readable SQLite file ({error})"]
    return [f"holds a {kind} {name!r}, which no file of this program does" for kind, name in strangers]


def _reading(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise RunFolderError(f"{path} does not exist", hint="judge run RUN makes it")
    at_rest.check(path)
    return open_reading(path, lambda db: db.execute("SELECT count(*) FROM sqlite_master").fetchone())


def _sha256(text: str | None) -> str | None:
    return None if text is None else sha256_text(text)
