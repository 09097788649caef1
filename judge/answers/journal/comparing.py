"""Journal tables of a run that compares stories, created on first use: `comparisons` (the pair and the story shown
second; `queries.story` is shown first), `pairs` (the plan) and `preferences` (people's)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby

from judge.answers.journal import database
from judge.answers.journal.database import COMPARISONS, PAIRS, PREFERENCES
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


class ComparisonsReader:
    """The part of `JournalReader` about a run that compares stories."""

    _db: sqlite3.Connection

    @property
    def compares(self) -> bool:
        """Whether the run compares pairs of stories."""
        return has_pairs(self._db)

    def planned_pairs(self) -> Iterator[tuple[int, str, str, str]]:
        """(number of the pair, pair, story shown first, story shown second) for each planned comparison, in plan
        order."""
        yield from self._db.execute("SELECT number, pair, first, second FROM pairs ORDER BY position")

    def comparison_count(self, limit: int | None = None) -> int:
        """Number of planned comparisons; with `limit`, only those of the plan's first `limit` pairs."""
        below = "SELECT count(*) FROM pairs WHERE :limit IS NULL OR number < :limit"
        (total,) = self._db.execute(below, {"limit": limit}).fetchone()
        return int(total)

    def planned_comparisons(self, limit: int | None = None) -> Iterator[Comparison]:
        """The planned comparisons in the order of requests; with `limit`, those of the plan's first `limit` pairs."""
        stories: dict[str, Story] = {}
        after = -1
        while True:
            # Pages, not one open cursor, as for stories: see `JournalReader.stories`.
            page = self._db.execute(_PLANNED, {"after": after, "limit": limit, "page": _PAGE}).fetchall()
            for number, pair, first, second in page:
                after = number
                if len(stories) > _KEPT_STORIES:
                    stories.clear()
                for story in (first, second):
                    if story not in stories:
                        stories[story] = Story(*self._db.execute(_STORY, (story,)).fetchone())
                yield Comparison(stories[first], stories[second], pair)
            if len(page) < _PAGE:
                return

    def comparisons(self) -> dict[str, tuple[str, str]]:
        """Map from query key to (pair, story shown second), for every comparison that was tried."""
        if not database.has_table(self._db, "comparisons"):
            return {}
        return {key: (pair, second) for key, pair, second in self._db.execute("SELECT * FROM comparisons")}

    def comparison(self, query_key: str) -> tuple[str, str] | None:
        """(pair, story shown second) of a query that was tried and compares two stories; None for any other query."""
        row: tuple[str, str] | None = self._db.execute(
            "SELECT pair, second FROM comparisons WHERE query_key = ?", (query_key,)
        ).fetchone()
        return row

    def pair_at(self, number: int) -> tuple[str, str, str] | None:
        """(pair, story shown first, story shown second) at a position from 0, in the plan's first order; None past the
        plan's end."""
        row: tuple[str, str, str] | None = self._db.execute(
            "SELECT pair, first, second FROM pairs WHERE number = ? ORDER BY position LIMIT 1", (number,)
        ).fetchone()
        return row

    def number_of(self, pair: str) -> int | None:
        """Position of a pair in the plan, from 0; None where the plan does not contain it."""
        row = self._db.execute("SELECT number FROM pairs WHERE pair = ? LIMIT 1", (pair,)).fetchone()
        return None if row is None else int(row[0])

    def pair_count(self) -> int:
        """Number of pairs in the plan; a pair shown in both orders counts once."""
        (total,) = self._db.execute("SELECT count(DISTINCT number) FROM pairs").fetchone()
        return int(total)

    def asked_of(self, pair: str) -> list[tuple[str, str, str, str, str]]:
        """(query key, story shown first, story shown second, criterion, Eval-Prompt) of each tried query on a pair."""
        if not database.has_table(self._db, "comparisons"):
            return []
        sql = (
            "SELECT q.key, q.story, c.second, q.criterion, q.eval_prompt FROM comparisons c"
            " JOIN queries q ON q.key = c.query_key WHERE c.pair = ? ORDER BY q.key"
        )
        return self._db.execute(sql, (pair,)).fetchall()

    def preferences(self) -> list[Pair]:
        """The pairs that people compared, with their preferences; the story-prompt of a pair is left out."""
        if not database.has_table(self._db, "preferences"):
            return []
        pairs = []
        for (pair, first, second), rows in groupby(self._db.execute(_GIVEN), key=lambda row: row[:3]):
            given = tuple(Preference(row[3], PREFERRED[PREFERRED.index(row[5])], row[4]) for row in rows)
            pairs.append(Pair(pair, "", first, second, given))
        return pairs
