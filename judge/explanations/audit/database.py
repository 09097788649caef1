"""Opens the SQLite file of an audit, and turns its errors into messages for the user."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.base.errors import DataError
from judge.base.files import clear_left, draft_name
from judge.base.sqlite_file import closed_on_error, connect, open_reading, strange, use_wal

# SQL tables of an audit file, and the version number of its format.

# Raised when a released program can no longer read older audits as they stand.
FORMAT = 1

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;   -- JSON; 'audit_format' a bare number

CREATE TABLE categories (
    position INTEGER PRIMARY KEY,            -- order on the page, from 0
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    question TEXT NOT NULL,                  -- asked so that yes = 1 = the error is there
    press TEXT NOT NULL UNIQUE,              -- the key to press
    export_column TEXT NOT NULL UNIQUE,      -- its column in the CSV export
    inverted INTEGER NOT NULL CHECK (inverted IN (0, 1))  -- that column holds 1 where the error is absent
);

CREATE TABLE items (
    id INTEGER PRIMARY KEY,                  -- from 1, in the order of the sample
    key TEXT NOT NULL UNIQUE,                -- hash of all that follows, by which other files name the item
    dataset TEXT,
    story TEXT,                              -- the story's id in its dataset
    system TEXT,
    story_prompt TEXT,
    text TEXT,                               -- the story; NULL where an imported file does not hold it
    reference TEXT,
    criterion TEXT,                          -- JSON: name, abbreviation, definition, scale, guidelines; NULL = unknown
    explanation TEXT NOT NULL,
    facts TEXT NOT NULL                      -- JSON: what is not shown unless the audit says so; see items.Facts
);

CREATE TABLE practice (
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL                       -- JSON; see practice.PracticeItem
);

CREATE TABLE annotators (
    name TEXT PRIMARY KEY,
    since REAL NOT NULL,                     -- seconds since 1970, here and below
    origin TEXT NOT NULL                     -- 'here', or the name of the file that was imported
) WITHOUT ROWID;

CREATE TABLE answers (                       -- round 1: annotation; round 2: adjudication
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    annotator TEXT NOT NULL REFERENCES annotators (name),
    item INTEGER NOT NULL REFERENCES items (id),
    category TEXT NOT NULL REFERENCES categories (key),
    value INTEGER NOT NULL CHECK (value IN (0, 1)),       -- 1 = the error is there, in every category
    at REAL NOT NULL,
    PRIMARY KEY (round, annotator, item, category)
) WITHOUT ROWID;
CREATE INDEX answers_by_item ON answers (item, round);
CREATE UNIQUE INDEX one_final_answer ON answers (item, category) WHERE round = 2;

CREATE TABLE remarks (                       -- what an annotator wrote of an item, and the time spent on it
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    annotator TEXT NOT NULL REFERENCES annotators (name),
    item INTEGER NOT NULL REFERENCES items (id),
    note TEXT NOT NULL,
    seconds REAL,                            -- NULL where nobody measured
    PRIMARY KEY (round, annotator, item)
) WITHOUT ROWID;

CREATE TABLE history (                       -- every change, so that it can be undone; nothing is ever deleted here
    id INTEGER PRIMARY KEY,
    round INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    item INTEGER NOT NULL,
    before TEXT NOT NULL,                    -- JSON: {"values": {...}, "note": ...}
    after TEXT NOT NULL,
    at REAL NOT NULL,
    undone REAL                              -- when it was undone; NULL = it stands
);
CREATE INDEX history_by_annotator ON history (annotator, round, id);

CREATE TABLE practice_answers (
    annotator TEXT NOT NULL REFERENCES annotators (name),
    practice INTEGER NOT NULL REFERENCES practice (id),
    category TEXT NOT NULL REFERENCES categories (key),
    value INTEGER NOT NULL CHECK (value IN (0, 1)),
    at REAL NOT NULL,
    PRIMARY KEY (annotator, practice, category)
) WITHOUT ROWID;
"""

# Made with the first message: audits of earlier versions have no such table.
RECEIVED = """
CREATE TABLE IF NOT EXISTS received (        -- messages of pages, so that one that is sent again changes nothing
    message TEXT NOT NULL,
    round INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    item INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (annotator, message)
) WITHOUT ROWID;
"""


# What an audit is called that lies beside its run's definition.
DEFAULT_NAME = "audit.sqlite"

_MAKE = "judge audit sample RUN -o FILE makes an audit"


def audit_file(path: Path) -> Path:
    """The audit file of a run's folder, run.yaml or result folder; other paths are returned unchanged. Raises DataError
    if the run has no audit."""
    if path.is_dir():
        folder = path
    elif path.is_file() and path.suffix in (".yaml", ".yml"):
        folder = path.parent
    else:
        return path
    for candidate in (folder, folder.parent):
        if (candidate / DEFAULT_NAME).is_file() and (candidate == folder or (candidate / "run.yaml").is_file()):
            return candidate / DEFAULT_NAME
    raise DataError("holds no audit", file=path, hint=f"judge audit sample {path} makes one")


@contextmanager
def creating(path: Path) -> Iterator[sqlite3.Connection]:
    """Context with a connection to a new audit file, which is created as a whole or not at all. Raises DataError if the
    file exists. An audit is never overwritten, even if two programs create it at the same time; hence
    `whole_file.draft`, which would replace an existing file, is not used."""
    hidden = path.with_name(f".{path.name}")
    draft = draft_name(hidden)
    with sentences(path):
        if path.exists():
            raise DataError(
                "exists already", file=path, hint="choose another name with -o; an audit is never overwritten"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_left(hidden)
        try:
            connection = connect(draft, autocommit=True)
            try:
                connection.executescript("BEGIN IMMEDIATE;" + TABLES)
                connection.execute("INSERT INTO meta VALUES ('audit_format', ?)", (str(FORMAT),))
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
            _place(draft, path)
        except FileExistsError as error:
            raise DataError("exists already", file=path, hint="choose another name with -o") from error
        finally:
            draft.unlink(missing_ok=True)


def _place(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(str(path)) from None
        draft.rename(path)


def open_file(path: Path, *, writing: bool) -> sqlite3.Connection:
    """Connection to an existing audit: read-only, or in WAL mode with every commit written to disk at once.

    After each commit the write-ahead log is copied into the file, so that a copy of the file alone lacks at most the
    change being written. Threads may share a connection if they take turns. Raises DataError for a file that is not an
    audit or has another format.
    """
    if not path.is_file():
        raise DataError("does not exist", file=path, hint=_MAKE)
    with sentences(path):
        if not writing:
            return open_reading(path, lambda connection: _check(connection, path), autocommit=True, shared=True)
        with closed_on_error(connect(path, autocommit=True, shared=True, wait=10)) as connection:
            _check(connection, path)
            use_wal(connection, "FULL")
            # People answer every few seconds: a checkpoint each time costs them nothing, and never waits for a reader.
            connection.execute("PRAGMA wal_autocheckpoint = 1")
            connection.execute("PRAGMA foreign_keys = ON")
            return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    row = None
    if "meta" in tables:
        row = connection.execute("SELECT value FROM meta WHERE key = 'audit_format'").fetchone()
    if row is None:
        content = "a run's journal" if "attempts" in tables else "a SQLite file of something else"
        raise DataError(f"is {content}, not an audit", file=path, hint=_MAKE)
    for kind, name in strange(connection):
        raise DataError(f"holds a {kind} {name!r}, which no audit of ours does", file=path, hint=_MAKE)
    if str(row[0]) != str(FORMAT):
        raise DataError(
            f"is an audit of format {row[0]}; this program reads format {FORMAT}",
            file=path,
            hint="open it with the version of storyjudge that made it",
        )


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Context in which errors of SQLite and of the file system become `DataError`s with a readable message."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        for word, sentence, hint in _TROUBLES:
            if word in text:
                raise DataError(sentence, file=path, hint=hint) from error
        if isinstance(error, sqlite3.OperationalError):
            raise DataError(
                f"reading or writing failed ({text}); every answer before is kept", file=path, hint="check the disk"
            ) from error
        raise
    except OSError as error:
        raise DataError(f"cannot be used: {error.strerror}", file=path) from error


_TROUBLES = (
    ("not a database", "is not a SQLite file, so it is no audit", _MAKE),
    ("malformed", "is damaged", "restore it from a copy"),
    ("full", "the disk is full; every answer before is kept", "free some space and answer again"),
    ("readonly", "cannot be written", "check the permissions of the file and of its folder"),
    ("unable to open", "cannot be opened", "check the permissions of the file and of its folder"),
    ("locked", "is being written by another program", "wait a moment and answer again"),
)
