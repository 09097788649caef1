"""A SQLite file of people's work: made whole or not at all, every commit on disk at once, errors as sentences."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from judge.base.errors import DataError
from judge.base.files import clear_left, draft_name
from judge.base.foreign import reading
from judge.base.sqlite_file import closed_on_error, connect, open_reading, strange, use_wal


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file: what it is ("audit"), with its article; the key of its format's number in the table `meta`;
    the SQL of its tables; and the hint that says how one is made."""

    noun: str
    article: str
    key: str
    format: int
    tables: str
    make: str

    @property
    def named(self) -> str:
        """The noun with its article."""
        return f"{self.article} {self.noun}"


@contextmanager
def creating(path: Path, kind: FileKind) -> Iterator[sqlite3.Connection]:
    """Context with a connection to a new file, which is created as a whole or not at all. Raises DataError if the file
    exists. Work is never overwritten, even if two programs create the file at the same time; hence `files.draft`, which
    would replace an existing file, is not used."""
    hidden = path.with_name(f".{path.name}")
    draft = draft_name(hidden)
    with sentences(path, kind):
        if path.exists():
            raise DataError(
                "exists already", file=path, hint=f"choose another name with -o; {kind.named} is never overwritten"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_left(hidden)
        try:
            connection = connect(draft, autocommit=True)
            try:
                connection.executescript("BEGIN IMMEDIATE;" + kind.tables)
                connection.execute("INSERT INTO meta VALUES (?, ?)", (kind.key, str(kind.format)))
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


def open_file(path: Path, kind: FileKind, *, writing: bool) -> sqlite3.Connection:
    """Connection to an existing file: read-only, or in WAL mode with every commit written to disk at once.

    After each commit the write-ahead log is copied into the file, so that a copy of the file alone lacks at most the
    change being written. Threads may share a connection if they take turns. Raises DataError for a file of another kind
    or format.
    """
    if not path.is_file():
        raise DataError("does not exist", file=path, hint=kind.make)
    with sentences(path, kind):
        if not writing:
            return open_reading(path, lambda connection: _check(connection, path, kind), autocommit=True, shared=True)
        with closed_on_error(connect(path, autocommit=True, shared=True, wait=10)) as connection:
            _check(connection, path, kind)
            use_wal(connection, "FULL")
            # People answer every few seconds: a checkpoint each time costs them nothing, and never waits for a reader.
            connection.execute("PRAGMA wal_autocheckpoint = 1")
            connection.execute("PRAGMA foreign_keys = ON")
            return connection


def _check(connection: sqlite3.Connection, path: Path, kind: FileKind) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    row = None
    if "meta" in tables:
        row = connection.execute("SELECT value FROM meta WHERE key = ?", (kind.key,)).fetchone()
    if row is None:
        content = "a run's journal" if "attempts" in tables else "a SQLite file of something else"
        raise DataError(f"is {content}, not {kind.named}", file=path, hint=kind.make)
    for entry, name in strange(connection):
        raise DataError(f"holds a {entry} {name!r}, which no {kind.noun} of ours does", file=path, hint=kind.make)
    if str(row[0]) != str(kind.format):
        raise DataError(
            f"is {kind.named} of format {row[0]}; this program reads format {kind.format}",
            file=path,
            hint="open it with the version of storyjudge that made it",
        )


@contextmanager
def sentences(path: Path, kind: FileKind) -> Iterator[None]:
    """Context in which errors of SQLite and of the file system become `DataError`s with a readable message."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "not a database" in text:
            raise DataError(f"is not a SQLite file, so it is no {kind.noun}", file=path, hint=kind.make) from error
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
    ("malformed", "is damaged", "restore it from a copy"),
    ("full", "the disk is full; every answer before is kept", "free some space and answer again"),
    ("readonly", "cannot be written", "check the permissions of the file and of its folder"),
    ("unable to open", "cannot be opened", "check the permissions of the file and of its folder"),
    ("locked", "is being written by another program", "wait a moment and answer again"),
)


class WorkFile:
    """An open file of people's work. All methods may be called from any thread."""

    kind: FileKind

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._lock = threading.RLock()
        rows = self.select("SELECT key, value FROM meta WHERE key != ?", self.kind.key)
        self.meta: dict[str, Any] = {key: orjson.loads(value) for key, value in rows}

    @classmethod
    def located(cls, path: Path) -> Path:
        """The file that a path names, such as that of a folder. Raises DataError where there is none."""
        return path

    @classmethod
    def open(cls, path: Path | str, *, writing: bool = True) -> Self:
        """An existing file, which may be read-only without `writing`. Raises DataError for a file that is missing, of
        another kind or of another format."""
        path = cls.located(Path(path))
        connection = open_file(path, cls.kind, writing=writing)
        try:
            with sentences(path, cls.kind), reading(path, cls.kind.named):
                return cls(path, connection)
        except BaseException:
            connection.close()
            raise

    def keep(self, key: str, value: Any) -> None:
        """Keep a value of `meta`, in place of an earlier one."""
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, orjson.dumps(value).decode()))

    def close(self) -> None:
        """Close the file. Everything is already on disk."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def select(self, sql: str, *values: Any) -> list[Any]:
        """Rows that a SQL query returns; for the modules of the file's own package only."""
        with self._lock, sentences(self.path, self.kind):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Context in which all reads see the file at one moment, even if others write during it."""
        with self._lock, sentences(self.path, self.kind):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Context of a transaction, written as a whole or not at all; for the modules of the file's own package."""
        with self._lock, sentences(self.path, self.kind):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
