"""Journal tables of a run that compares stories, created on first use: `comparisons` (the pair and the story shown
second; `queries.story` is shown first), `pairs` (the plan) and `preferences` (people's)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from judge.answers.journal import database
from judge.answers.journal.database import COMPARISONS, PAIRS, PREFERENCES, SHARDS
from judge.base.errors import RunFolderError
from judge.base.records import PREFERRED, Commission, Comparison, Pair, Preference, Request, Story

# Request key, pair, and the story shown second.
Compared = tuple[str, str, str]

_PAGE = 64
# A story stands in many pairs, so it is read once for several; the bound keeps memory flat.
_KEPT_STORIES = 256

_PLANNED = """
SELECT position, pair, first, second FROM pairs WHERE position > :after AND (:limit IS NULL OR number < :limit)
ORDER BY position LIMIT :page
"""
_STORY = "SELECT id, story_prompt, system, text, reference FROM stories WHERE id = ?"
_GIVEN = "SELECT pair, first, second, criterion, rater, value FROM preferences ORDER BY rowid"

# Rules between tables of a journal that holds comparisons.
RULES = {
    "comparisons of no known query": """
        SELECT count(*) FROM comparisons WHERE query_key NOT IN (SELECT key FROM queries)""",
    "comparisons with no known second story": """
        SELECT count(*) FROM comparisons WHERE second NOT IN (SELECT id FROM stories)""",
    "queries that compare nothing": """
        SELECT count(*) FROM queries WHERE key NOT IN (SELECT query_key FROM comparisons)""",
}


def compared(query: Request) -> Compared | None:
    """Row of the table `comparisons` for a query; None for a query that does not compare stories."""
    if isinstance(query, Commission) or query.pair is None or query.other is None:
        return None
    return query.key, query.pair, query.other.id


def keep(db: sqlite3.Connection, rows: Iterable[Compared]) -> None:
    rows = list(rows)
    if rows:
        db.execute(COMPARISONS)
        db.executemany("INSERT OR IGNORE INTO comparisons VALUES (?, ?, ?)", rows)


def add_pairs(db: sqlite3.Connection, planned: Iterable[tuple[int, str, str, str]]) -> int:
    """Store (number of the pair, pair, first story, second story) in plan order, within the caller's transaction; the
    count."""
    db.execute(PAIRS)
    count = 0
    for count, row in enumerate(planned, 1):
        db.execute("INSERT INTO pairs VALUES (?, ?, ?, ?, ?)", (count - 1, *row))
    return count


def add_preferences(db: sqlite3.Connection, pairs: Iterable[Pair]) -> None:
    """Store people's preferences, within the caller's transaction."""
    has_table = False
    for pair in pairs:
        for given in pair.preferences:
            if not has_table:
                db.execute(PREFERENCES)
                has_table = True
            db.execute(
                "INSERT INTO preferences VALUES (?, ?, ?, ?, ?, ?)",
                (pair.id, pair.first, pair.second, given.criterion, given.rater, given.value),
            )


def has_pairs(db: sqlite3.Connection) -> bool:
    """Whether the journal belongs to a run that compares stories."""
    return database.has_table(db, "pairs")


def count(db: sqlite3.Connection, limit: int | None = None) -> int:
    """Number of planned comparisons; with `limit`, only those of the plan's first `limit` pairs."""
    (total,) = db.execute("SELECT count(*) FROM pairs WHERE ?1 IS NULL OR number < ?1", (limit,)).fetchone()
    return int(total)


def planned(db: sqlite3.Connection, limit: int | None = None) -> Iterator[Comparison]:
    """The planned comparisons in the order of requests; with `limit`, only those of the plan's first `limit` pairs."""
    stories: dict[str, Story] = {}
    after = -1
    while True:
        # Pages, not one open cursor, as for stories: see `JournalReader.stories`.
        page = db.execute(_PLANNED, {"after": after, "limit": limit, "page": _PAGE}).fetchall()
        for number, pair, first, second in page:
            after = number
            if len(stories) > _KEPT_STORIES:
                stories.clear()
            for story in (first, second):
                if story not in stories:
                    stories[story] = Story(*db.execute(_STORY, (story,)).fetchone())
            yield Comparison(stories[first], stories[second], pair)
        if len(page) < _PAGE:
            return


def comparisons(db: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Map from query key to (pair, story shown second), for every comparison that was tried."""
    if not database.has_table(db, "comparisons"):
        return {}
    return {key: (pair, second) for key, pair, second in db.execute("SELECT * FROM comparisons")}


def comparison(db: sqlite3.Connection, query_key: str) -> tuple[str, str] | None:
    """(pair, story shown second) of a query that was tried and compares two stories; None for any other query."""
    row: tuple[str, str] | None = db.execute(
        "SELECT pair, second FROM comparisons WHERE query_key = ?", (query_key,)
    ).fetchone()
    return row


def pair_at(db: sqlite3.Connection, number: int) -> tuple[str, str, str] | None:
    """(pair, story shown first, story shown second) at a position, in the plan's first order; None past the plan's
    end."""
    row: tuple[str, str, str] | None = db.execute(
        "SELECT pair, first, second FROM pairs WHERE number = ? ORDER BY position LIMIT 1", (number,)
    ).fetchone()
    return row


def number_of(db: sqlite3.Connection, pair: str) -> int | None:
    """Position of a pair in the plan; None where the plan does not contain it."""
    row = db.execute("SELECT number FROM pairs WHERE pair = ? LIMIT 1", (pair,)).fetchone()
    return None if row is None else int(row[0])


def pair_count(db: sqlite3.Connection) -> int:
    """Number of pairs in the plan; a pair shown in both orders counts once."""
    (total,) = db.execute("SELECT count(DISTINCT number) FROM pairs").fetchone()
    return int(total)


def asked_of(db: sqlite3.Connection, pair: str) -> list[tuple[str, str, str, str, str]]:
    """(query key, story shown first, story shown second, criterion, Eval-Prompt) of each tried query on a pair."""
    if not database.has_table(db, "comparisons"):
        return []
    sql = (
        "SELECT q.key, q.story, c.second, q.criterion, q.eval_prompt FROM comparisons c"
        " JOIN queries q ON q.key = c.query_key WHERE c.pair = ? ORDER BY q.key"
    )
    return db.execute(sql, (pair,)).fetchall()


def preferences(db: sqlite3.Connection) -> list[Pair]:
    """The pairs that people compared, with their preferences; the story-prompt of a pair is left out."""
    if not database.has_table(db, "preferences"):
        return []
    pairs = []
    for (pair, first, second), rows in groupby(db.execute(_GIVEN), key=lambda row: row[:3]):
        given = tuple(Preference(row[3], PREFERRED[PREFERRED.index(row[5])], row[4]) for row in rows)
        pairs.append(Pair(pair, "", first, second, given))
    return pairs


# Merges shards into a journal: each attempt enters exactly once, and an answer is never replaced.

_RESPONSE = (
    "query_key",
    "repeat",
    "text",
    "finish_reason",
    "reasoning",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "logprobs",
    "model",
)
_ATTEMPT = ("query_key", "repeat", "outcome", "final", "started", "seconds", "status", "error_kind", "error")


@dataclass(frozen=True, slots=True)
class Merged:
    """Counts of a merge: repeats answered, repeats given up, and rows left out because their repeat had an answer."""

    answered: int = 0
    failed: int = 0
    duplicates: int = 0


class JournalMerger:
    """The only writer of a journal while shards (files of attempts from workers) are merged into it."""

    def __init__(self, path: Path, *, executor: str) -> None:
        self.path = path
        self._db = database.open_writing(path)
        with database.sentences(path):
            self._db.execute(SHARDS)
            cursor = self._db.execute("INSERT INTO sessions (started, executor) VALUES (?, ?)", (time.time(), executor))
        self.session = cursor.lastrowid

    def __enter__(self) -> JournalMerger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def names(self) -> set[str]:
        """Names of the shards that are already merged into this journal."""
        return {row[0] for row in self._db.execute("SELECT name FROM shards")}

    def merge(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Merged:
        """Copy a shard's rows in one transaction. Rows on a repeat with an answer are left out. A shard merged before
        is skipped, with counts of 0."""
        with database.sentences(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                merged = self._merge(name, rows)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        return merged

    def finish(self, ended: str) -> None:
        """Record how the session that merges shards ended."""
        with database.sentences(self.path):
            self._db.execute("UPDATE sessions SET ended = ? WHERE id = ?", (ended, self.session))

    def _merge(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Merged:
        if self._db.execute("SELECT 1 FROM shards WHERE name = ?", (name,)).fetchone():
            return Merged()
        for story in {row["story"] for row in rows} | {row["second"] for row in rows if row.get("second")}:
            if not self._db.execute("SELECT 1 FROM stories WHERE id = ?", (story,)).fetchone():
                raise RunFolderError(
                    f"{name} holds answers about a story that this run does not have: {story!r}",
                    hint="it belongs to another run: move it back there",
                )
        self._db.executemany("INSERT OR IGNORE INTO queries VALUES (?, ?, ?, ?, ?)", set(map(_query, rows)))
        keep(self._db, {(row["query_key"], row["pair"], row["second"]) for row in rows if row.get("pair") is not None})
        fresh = list(self._fresh(rows))
        with_usage = (
            (index, row) for index, row in enumerate(fresh) if any(row.get(key) is not None for key in database.KEYS)
        )
        database.keep(self._db, [(index, *database.usage_in(row)) for index, row in with_usage])
        self._db.executemany(
            "INSERT INTO attempts (query_key, repeat, outcome, final, started, seconds, status, error_kind, error,"
            " session) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*(row[key] for key in _ATTEMPT), self.session) for row in fresh],
        )
        now = time.time()
        self._db.execute("INSERT INTO shards VALUES (?, ?, ?)", (name, len(fresh), now))
        if fresh:
            self._db.execute(
                "UPDATE sessions SET first_request = min(coalesce(first_request, :first), :first), last_commit = :now"
                " WHERE id = :session",
                {"first": min(row["started"] for row in fresh), "now": now, "session": self.session},
            )
        answered = sum(row["outcome"] == "answered" for row in fresh)
        given_up = sum(row["outcome"] != "answered" and row["final"] for row in fresh)
        return Merged(answered, given_up, len(rows) - len(fresh))

    def _fresh(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        placeholders = ", ".join("?" * len(_RESPONSE))
        for row in rows:
            if row["outcome"] == "answered":
                values = tuple(row[key] for key in _RESPONSE)
                if self._db.execute(f"INSERT OR IGNORE INTO responses VALUES ({placeholders})", values).rowcount:  # noqa: S608
                    yield row
            elif not self._db.execute(
                "SELECT 1 FROM responses WHERE query_key = ? AND repeat = ?", (row["query_key"], row["repeat"])
            ).fetchone():
                yield row


def _query(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["query_key"], row["story"], row["criterion"], row["eval_prompt"], row["flags"])
