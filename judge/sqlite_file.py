"""Connections to SQLite files in the modes that the program needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

WAIT = 5.0
"""Seconds to wait for another program's lock."""


def connect(
    path: Path | None, *, autocommit: bool = False, shared: bool = False, wait: float = WAIT
) -> sqlite3.Connection:
    """A connection that may write; it makes the file where there is none.

    Parameters
    ----------
    path : Path or None
        None is a database in memory.
    autocommit : bool
        Transactions begin where the caller says BEGIN; otherwise with the first change.
    shared : bool
        Threads may use it in turns.
    """
    level: Literal["DEFERRED"] | None = None if autocommit else "DEFERRED"
    return _wary(sqlite3.connect(path or ":memory:", timeout=wait, isolation_level=level, check_same_thread=not shared))


def use_wal(connection: sqlite3.Connection, synchronous: Literal["FULL", "NORMAL"]) -> None:
    """Switch to a write-ahead log, so that readers can go on; with FULL, a commit is on the disk when it returns."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")


def read_only(
    path: Path, *, immutable: bool = False, autocommit: bool = False, shared: bool = False, wait: float = WAIT
) -> sqlite3.Connection:
    """Open a connection that cannot write. `immutable` reads the file alone, without looking for a log or a lock."""
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
    level: Literal["DEFERRED"] | None = None if autocommit else "DEFERRED"
    return _wary(sqlite3.connect(address, uri=True, timeout=wait, isolation_level=level, check_same_thread=not shared))


def _wary(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, taking nothing in the file's own schema for trusted: the file may be a stranger's."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def strange(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(kind, name) of everything in a file other than plain tables and indexes: code that would run on reading or
    writing rows.
    """
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
    """Open a connection that cannot write and has passed `check`; works during another process' writing, and in a
    read-only folder.

    A log needs a writable folder for its index; a file without one, which nobody writes, is read as it is instead.
    """
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
    """Close the connection where the block raises an error."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise
