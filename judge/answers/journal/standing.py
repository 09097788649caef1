"""A journal's current answers in the order of its file, block by block, which is faster than the search for each
repeat's last attempt in `JournalReader.answers`; and the detection of changes of the file."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from judge.base.records import Answer, Response

# Places in a block: block n holds the responses whose rowid lies above n * ROWS, up to (n + 1) * ROWS.
ROWS = 16_384

# The largest rowid that SQLite gives.
_LAST = (1 << 63) - 1

Row = tuple[Any, ...]
# Place of the Eval-Prompt's name in a row.
EVAL_PROMPT = 3

# Nanoseconds after which a file's times tell every later change: some systems count them in seconds.
_SETTLING = 2_000_000_000

_NEXT = "SELECT min(rowid) FROM responses WHERE rowid > ?"
_BLOCK = """
SELECT r.query_key, q.story, q.criterion, q.eval_prompt, q.flags, r.repeat, r.text, r.finish_reason, r.reasoning,
       r.prompt_tokens, r.completion_tokens, r.cached_tokens, r.logprobs, r.model
FROM responses r JOIN queries q ON q.key = r.query_key WHERE r.rowid > ? AND r.rowid <= ? ORDER BY r.rowid
"""
_UNANSWERED = """
SELECT a.query_key, q.story, q.criterion, q.eval_prompt, q.flags, a.repeat, last.outcome
FROM (SELECT query_key, repeat, max(id) AS id FROM attempts t GROUP BY query_key, repeat HAVING NOT EXISTS
      (SELECT 1 FROM responses r WHERE r.query_key = t.query_key AND r.repeat = t.repeat)) a
JOIN attempts last ON last.id = a.id LEFT JOIN queries q ON q.key = a.query_key
"""
_TRIED = "SELECT count(*) FROM (SELECT DISTINCT query_key, repeat FROM attempts)"


def _end(number: int) -> int:
    return min((number + 1) * ROWS, _LAST)


class BlocksReader:
    """The part of `JournalReader` that reads answers block by block."""

    _db: sqlite3.Connection

    def blocks(self) -> list[int]:
        """Numbers of the blocks (16,384 row ids each) with an answer; negative only in a file of another program."""
        page_numbers: list[int] = []
        (first,) = self._db.execute("SELECT min(rowid) FROM responses").fetchone()
        while first is not None:
            page_numbers.append((first - 1) // ROWS)
            (first,) = self._db.execute(_NEXT, (_end(page_numbers[-1]),)).fetchone()
        return page_numbers

    def block(self, number: int) -> list[Row]:
        """The answers of a block as rows, joined with story, criterion, Eval-Prompt and flags of their queries."""
        return self._db.execute(_BLOCK, (number * ROWS, _end(number))).fetchall()

    def unanswered(self) -> Iterator[Answer | None]:
        """The repeats that were tried and have no answer; None where the query is missing from the journal."""
        for key, story, criterion, eval_prompt, flags, repeat, outcome in self._db.execute(_UNANSWERED):
            yield (
                None
                if story is None
                else Answer(
                    key, story, criterion, eval_prompt, repeat, outcome, flags=tuple(flags.split(";")) if flags else ()
                )
            )

    def tried(self) -> tuple[int, int]:
        """(Number of repeats tried, number of current answers)."""
        (repeats,) = self._db.execute(_TRIED).fetchone()
        (answers,) = self._db.execute("SELECT count(*) FROM responses").fetchone()
        return int(repeats), int(answers)


def content(row: Row) -> bytes:
    """Hash of 16 bytes that identifies an answer together with its query, from a row of `block`."""
    try:
        plain = orjson.dumps(row)
    except TypeError:  # what only another program writes: bytes, numbers beyond 64 bits
        plain = repr(row).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(plain, digest_size=16).digest()


def answer(row: Row) -> Answer:
    """The answer in a row of `block`, without reasoning tokens, cost and number of attempts."""
    key, story, criterion, eval_prompt, flags, repeat, text, finish, reasoning, prompt, completion, cached = row[:12]
    logprobs = None if row[12] is None else orjson.loads(row[12])
    response = Response(text, finish, reasoning, prompt, completion, cached, logprobs, row[13])
    flagged = tuple(flags.split(";")) if flags else ()
    return Answer(key, story, criterion, eval_prompt, repeat, "answered", response, flags=flagged)


def file_state(path: Path) -> str | None:
    """A string that changes with the file or its log. None where the file cannot be examined, or is less than two
    seconds old: a further change might not show."""
    states: list[list[int] | None] = []
    try:
        for suffix in ("", "-wal", "-journal"):
            file = path.with_name(path.name + suffix)
            status = file.stat() if not suffix or file.exists() else None
            if status is None or (suffix and not status.st_size):
                states.append(None)
                continue
            times = [status.st_mtime_ns, status.st_ctime_ns]
            if time.time_ns() - max(times) < _SETTLING:
                return None
            states.append([status.st_dev, status.st_ino, status.st_size, *times])
    except OSError:
        return None
    return orjson.dumps(states).decode()
