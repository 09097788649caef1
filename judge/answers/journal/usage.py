"""Journal table of the reasoning tokens, cache-write tokens and cost of a call. It exists only where a server reports
any of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from judge.answers.journal import database
from judge.base.records import Response

Usage = tuple[int | None, int | None, float | None]
"""Reasoning tokens, cache-write tokens, cost."""

KEYS = ("reasoning_tokens", "cache_write_tokens", "cost")


def usage_in(row: Mapping[str, Any]) -> Usage:
    """(Reasoning tokens, cache-write tokens, cost) of an attempt, from a row of another journal; None for each value
    that the server did not report.
    """
    return row.get("reasoning_tokens"), row.get("cache_write_tokens"), row.get("cost")


def reported(response: Response) -> Usage | None:
    """Reasoning tokens, cache-write tokens and cost that the server reported with an answer; None where it reported
    none.
    """
    counts = (response.reasoning_tokens, response.cache_write_tokens, response.cost)
    return None if counts == (None, None, None) else counts


def keep(db: sqlite3.Connection, rows: Iterable[tuple[int, *Usage]]) -> None:
    """Store the usage that servers reported for the attempts that are inserted next in the same transaction.

    Each row is (position among these attempts, reasoning tokens, cache-write tokens, cost).
    """
    rows = list(rows)
    if not rows:
        return
    database.migrate(db, 1)
    # Attempts have one writer, and SQLite numbers a new row one above the highest.
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
    values = [(last + 1 + index, *counts) for index, *counts in rows]
    db.executemany("INSERT INTO usage VALUES (?, ?, ?, ?)", values)
