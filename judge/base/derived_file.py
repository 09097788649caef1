"""SQLite cache files for data that can be computed again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from judge.base.errors import SpecError
from judge.base.sqlite_file import closed_on_error, connect, read_only

_Read = TypeVar("_Read")


def open_cache(path: Path | None, table: str) -> sqlite3.Connection:
    """Open a cache file and create its table with `table`, a CREATE TABLE IF NOT EXISTS statement. With `None` as path
    the cache is in memory only. Raises SpecError if the file cannot be used.
    """
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
    """Execute the SQL statement `change` for each row. The data is on disk when the call returns. Raises SpecError if
    the cache cannot be written.
    """
    try:
        with base:
            base.executemany(change, rows)
    except sqlite3.Error as error:
        raise SpecError(f"the cache {path} cannot be written: {error}") from error


@contextmanager
def reading(path: Path, read: Callable[[sqlite3.Connection], _Read]) -> Iterator[_Read | None]:
    """Context manager that yields the result of `read` on an SQLite file, which stays open in the block. Yields None if
    the file cannot be read.
    """
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
