"""Diagnosis of a journal that could not be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import database
from judge.answers.journal.database import TABLES
from judge.answers.journal.reader import JournalReader
from judge.base.errors import RunFolderError
from judge.base.sqlite_file import connect

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
