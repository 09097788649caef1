"""What a server said of a call beyond its tokens: kept in a table of its own, only where something was said."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from judge.journal import database
from judge.records import Response

Said = tuple[int | None, int | None, float | None]
"""Reasoning tokens, cache-write tokens, cost."""

KEYS = ("reasoning_tokens", "cache_write_tokens", "cost")


def said_in(row: Mapping[str, Any]) -> Said:
    """What is to be kept of an attempt that another file holds."""
    return row.get("reasoning_tokens"), row.get("cache_write_tokens"), row.get("cost")


def said(response: Response) -> Said | None:
    """What is to be kept of an answer; None where nothing is."""
    found = (response.reasoning_tokens, response.cache_write_tokens, response.cost)
    return None if found == (None, None, None) else found


def keep(db: sqlite3.Connection, rows: Iterable[tuple[int, *Said]]) -> None:
    """Store (place among the attempts that are inserted next, what was said), before those are, in one transaction."""
    rows = list(rows)
    if not rows:
        return
    database.migrate(db, 1)
    # Attempts have one writer, and SQLite numbers a new row one above the highest.
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
    values = [(last + 1 + place, *found) for place, *found in rows]
    db.executemany("INSERT INTO usage VALUES (?, ?, ?, ?)", values)
