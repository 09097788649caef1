"""SQLite files of what can be computed again. Never holds what cannot."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from judge.errors import SpecError

_Read = TypeVar("_Read")


def open_cache(path: Path | None, table: str) -> sqlite3.Connection:
    """A cache that has the table of this CREATE TABLE IF NOT EXISTS; `None` as path keeps it in memory only."""
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        base = sqlite3.connect(path or ":memory:")
        try:
            base.execute(table)
        except BaseException:
            base.close()
            raise
    except (OSError, sqlite3.Error) as error:
        hint = "delete it: it can be computed again"
        raise SpecError(f"the cache {path} cannot be used: {error}", hint=hint) from error
    return base


@contextmanager
def reading(path: Path, read: Callable[[sqlite3.Connection], _Read]) -> Iterator[_Read | None]:
    """What `read` makes of the file, for as long as the block lasts; None where nothing can be read yet."""
    try:
        base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
    except sqlite3.OperationalError:
        yield None
        return
    with closing(base):
        try:
            found: _Read | None = read(base)
        except (sqlite3.DatabaseError, KeyError):
            found = None
        yield found
