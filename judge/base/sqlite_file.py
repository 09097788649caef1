"""Connections to SQLite files: for writing, for reading only, and with checks of files from other people."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from judge.base.errors import SpecError

# Seconds to wait for another program's lock.
WAIT = 5.0

# Number of this process's open connections to each file.
_open: Counter[Path] = Counter()

# A connection may be deleted, and count itself, wherever memory is collected: also while this thread counts.
_counting = threading.RLock()


class _Connection(sqlite3.Connection):
    # Counted as open until it is closed.
    file: Path | None = None

    def close(self) -> None:
        super().close()
        self._forget()

    def __del__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            with _counting:
                _open[file] -= 1


def is_open(path: Path) -> bool:
    """Whether this process has a connection to the file, which must then not be read in any other way.

    Closing any descriptor of a file takes away all the process's POSIX locks on it. Another program would then delete
    the write-ahead log of a connection that seems to have ended, and later commits would be lost ("How To Corrupt An
    SQLite Database File", section 2.2, sqlite.org/howtocorrupt.html)."""
    with _counting:
        return _open[path.resolve()] > 0


def connect(
    path: Path | None, *, autocommit: bool = False, shared: bool = False, wait: float = WAIT
) -> sqlite3.Connection:
    """A connection that may write, to a file (made if necessary) or, with None, in memory. With `autocommit`, a
    transaction begins only with BEGIN. `shared`: several threads use it in turn. `wait` is in seconds, for another
    process's lock."""
    level: Literal["DEFERRED"] | None = None if autocommit else "DEFERRED"
    return _opened(path, str(path or ":memory:"), level, wait=wait, shared=shared)


def use_wal(connection: sqlite3.Connection, synchronous: Literal["FULL", "NORMAL"]) -> None:
    """Switch to a write-ahead log, so that others can read during writing. With FULL, a commit is on disk when it
    returns."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")


def read_only(
    path: Path, *, immutable: bool = False, autocommit: bool = False, shared: bool = False
) -> sqlite3.Connection:
    """A connection that cannot write. `immutable` reads the file alone and ignores its log and locks."""
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
    level: Literal["DEFERRED"] | None = None if autocommit else "DEFERRED"
    return _opened(path, address, level, wait=WAIT, shared=shared)


def _opened(
    path: Path | None, address: str, level: Literal["DEFERRED"] | None, *, wait: float, shared: bool
) -> sqlite3.Connection:
    # The schema in the file is not trusted: it may come from another person.
    connection = sqlite3.connect(
        address,
        uri=address.startswith("file:"),
        timeout=wait,
        isolation_level=level,
        check_same_thread=not shared,
        factory=_Connection,
    )
    if path is not None:
        with _counting:
            _open[path.resolve()] += 1
        connection.file = path.resolve()
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def strange(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(kind, name) of schema objects but plain tables and indexes: views, triggers and virtual tables could run
    code."""
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    plain = ("table", "index")
    return [
        (str(kind), str(name))
        for kind, name, sql in rows
        if kind not in plain or str(sql).split()[1:2] == ["VIRTUAL"] or "virtual" in str(sql)[:20].casefold()
    ]


def open_reading(
    path: Path, check: Callable[[sqlite3.Connection], object], *, autocommit: bool = False, shared: bool = False
) -> sqlite3.Connection:
    """A connection that cannot write, on which `check` was called. It works while another process writes, and as
    immutable in a read-only folder without a write-ahead log."""
    for immutable in (False, True):
        try:
            connection = read_only(path, immutable=immutable, autocommit=autocommit, shared=shared)
            with closed_on_error(connection):
                check(connection)
        except sqlite3.OperationalError:
            if immutable or path.with_name(path.name + "-wal").exists():
                raise
        else:
            return connection
    raise AssertionError("the second way returns or raises")


@contextmanager
def closed_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Context manager that closes the connection if the `with` block raises an error."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


# SQLite cache files for data that can be computed again.

_Read = TypeVar("_Read")


def open_cache(path: Path | None, table: str) -> sqlite3.Connection:
    """A cache file (None: in memory) with its table, by the CREATE TABLE IF NOT EXISTS statement `table`. Raises
    SpecError if it cannot be used."""
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                raise OSError("it is a link, and nothing is written through it")
        with closed_on_error(connect(path)) as base:
            base.execute(table)
    except (OSError, sqlite3.Error) as error:
        hint = "delete it: it can be computed again"
        raise SpecError(f"the cache {path} cannot be used: {error}", hint=hint) from error
    return base


def keep(base: sqlite3.Connection, path: Path | None, change: str, rows: Iterable[Sequence[Any]]) -> None:
    """Execute the SQL statement `change` for each row, to disk. Raises SpecError if the cache cannot be written."""
    try:
        with base:
            base.executemany(change, rows)
    except sqlite3.Error as error:
        raise SpecError(f"the cache {path} cannot be written: {error}") from error


class KeyedCache:
    """Cache of values by two keys, such as those of a model and of a text, in one file that may be deleted at any time;
    with None as path in memory only. `table` has its name, and the columns of the keys and of the value."""

    table: ClassVar[tuple[str, str, str, str]]

    def __init__(self, path: Path | None) -> None:
        self.path = path
        name, first, second, value = self.table
        columns = f"{first} TEXT, {second} TEXT, {value} BLOB, PRIMARY KEY ({first}, {second})"
        self._base = open_cache(path, f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def keep(self, first: str, values: Iterable[tuple[str, bytes]]) -> None:
        """Store (second key, value) under a first key, on disk when the call returns."""
        change = f"INSERT OR REPLACE INTO {self.table[0]} VALUES (?, ?, ?)"  # noqa: S608  our own words
        keep(self._base, self.path, change, [(first, second, value) for second, value in values])


@contextmanager
def reading(path: Path, read: Callable[[sqlite3.Connection], _Read]) -> Iterator[_Read | None]:
    """Context manager that yields the result of `read` on a file, which stays open; None if it cannot be read."""
    try:
        base = read_only(path)
    except sqlite3.OperationalError:
        yield None
        return
    with closing(base):
        try:
            result: _Read | None = read(base)
        except (sqlite3.DatabaseError, KeyError):
            result = None
        yield result
