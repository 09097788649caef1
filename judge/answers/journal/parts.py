"""Merges answers into a journal: shards of workers by `JournalMerger`, and journals of parts by `take`.

A part is a share of the plan that is run separately. Its new rows enter in one transaction with a row that records the
last attempt copied, so that a merge can be repeated at any time and each attempt is copied once. A repeat that has an
answer in the whole journal keeps it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.answers.journal import database
from judge.answers.journal.comparing import has_pairs, keep
from judge.answers.journal.database import COMPARISONS, SHARDS
from judge.base.errors import RunFolderError

# Merges shards into a journal: each attempt enters exactly once, and an answer is never replaced.

_RESPONSE_KEYS = (
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

_ATTEMPT_KEYS = ("query_key", "repeat", "outcome", "final", "started", "seconds", "status", "error_kind", "error")


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
        with database.transaction(self._db, self.path):
            return self._merge(name, rows)

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
        usages = enumerate(map(database.usage_in, fresh))
        database.keep(self._db, [(index, *usage) for index, usage in usages if usage != (None, None, None)])
        self._db.executemany(
            f"INSERT INTO attempts ({', '.join(_ATTEMPT_KEYS)}, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(*(row[key] for key in _ATTEMPT_KEYS), self.session) for row in fresh],
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
        placeholders = ", ".join("?" * len(_RESPONSE_KEYS))
        for row in rows:
            if row["outcome"] == "answered":
                values = tuple(row[key] for key in _RESPONSE_KEYS)
                if self._db.execute(f"INSERT OR IGNORE INTO responses VALUES ({placeholders})", values).rowcount:  # noqa: S608
                    yield row
            elif not self._db.execute(
                "SELECT 1 FROM responses WHERE query_key = ? AND repeat = ?", (row["query_key"], row["repeat"])
            ).fetchone():
                yield row


def _query(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["query_key"], row["story"], row["criterion"], row["eval_prompt"], row["flags"])


_ATTEMPT_COLUMNS, _RESPONSE_COLUMNS = ", ".join(_ATTEMPT_KEYS), ", ".join(_RESPONSE_KEYS)
_SESSION = "started, first_request, last_commit, executor, ended"

_FRESH = """
INSERT INTO temp.fresh (id) SELECT a.id FROM part.attempts a WHERE a.id > :after AND a.id <= :upto AND NOT EXISTS
    (SELECT 1 FROM main.responses r WHERE r.query_key = a.query_key AND r.repeat = a.repeat) ORDER BY a.id
"""
_ANSWERED = """
SELECT DISTINCT query_key, repeat FROM part.attempts JOIN temp.fresh USING (id) WHERE outcome = 'answered'
"""
_BEYOND = """
SELECT count(*) FROM (SELECT w.query_key, w.repeat FROM {rows} w {of_this_part}
    EXCEPT SELECT query_key, repeat FROM {own})
"""
_STORIES = "JOIN whole.queries q ON q.key = w.query_key WHERE q.story IN (SELECT id FROM main.stories)"
_PAIRS = "JOIN whole.comparisons c ON c.query_key = w.query_key WHERE c.pair IN (SELECT pair FROM main.pairs)"
_SETTLED = "(SELECT DISTINCT query_key, repeat FROM {db}.attempts WHERE final = 1)"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Progress of a part: its `subjects` (stories, or pairs per order shown), and its repeats answered and `settled`
    (answered or given up), in either journal."""

    subjects: int
    answered: int
    settled: int


def coverage(part: Path, whole: Path | None) -> Coverage:
    """Progress of a part. A repeat in both journals counts once; with `whole` None only the part's is read."""
    with database.sentences(part), closing(database.open_reading(part)) as db:
        compares = has_pairs(db)
        tables = ("pairs" if compares else "stories", "responses")
        subjects, answered = (_single_count(db, f"SELECT count(*) FROM {table}") for table in tables)  # noqa: S608
        settled = _single_count(db, f"SELECT count(*) FROM {_SETTLED.format(db='main')}")  # noqa: S608
        if whole is not None and whole.is_file() and not database.is_blank(whole):
            db.execute("ATTACH ? AS whole", (f"{whole.resolve().as_uri()}?mode=ro",))
            if not compares or _in_whole(db, "comparisons"):
                mine = _PAIRS if compares else _STORIES
                rows, own = _SETTLED.format(db="whole"), _SETTLED.format(db="main")
                answered += _single_count(
                    db, _BEYOND.format(rows="whole.responses", own="main.responses", of_this_part=mine)
                )
                settled += _single_count(db, _BEYOND.format(rows=rows, own=own, of_this_part=mine))
    return Coverage(subjects, answered, settled)


def _in_whole(db: sqlite3.Connection, table: str) -> bool:
    return bool(db.execute("SELECT 1 FROM whole.sqlite_master WHERE name = ?", (table,)).fetchone())


def taken(whole: Path) -> set[str]:
    """Labels of the parts from which rows were copied; empty where the whole run's journal is missing or has no tables
    yet."""
    if not whole.is_file() or database.is_blank(whole):
        return set()
    with database.sentences(whole), closing(database.open_reading(whole)) as db:
        if not _single_count(db, "SELECT count(*) FROM sqlite_master WHERE name = 'shards'"):
            return set()
        return {name.split(" ")[0] for (name,) in db.execute("SELECT name FROM shards") if " " in name}


def untaken(whole: Path, part: Path, label: str) -> bool:
    """Whether a part's journal has attempts not yet copied into the whole run's. `label` is, for example, "2-of-4"."""
    with database.sentences(part), closing(database.open_reading(part)) as db:
        upto = _single_count(db, "SELECT coalesce(max(id), 0) FROM attempts")
        mark = _mark(db, "main", label)
    if not upto or not whole.is_file() or database.is_blank(whole):
        return upto > 0
    with database.sentences(whole), closing(database.open_reading(whole)) as db:
        return upto > (_taken_upto(db, mark) if label in taken(whole) else 0)


def take(whole: Path, part: Path, label: str) -> Merged:
    """Copy the rows that only the part's journal has, in one transaction. No other process may write either journal."""
    with database.sentences(whole), closing(database.open_writing(whole)) as db:
        db.execute("ATTACH ? AS part", (str(part),))
        db.execute("CREATE TEMP TABLE fresh (place INTEGER PRIMARY KEY, id INTEGER UNIQUE)")
        db.execute("CREATE TEMP TABLE renamed (old INTEGER PRIMARY KEY, new INTEGER)")
        with database.transaction(db, whole):
            return _take(db, part, label)


def _take(db: sqlite3.Connection, part: Path, label: str) -> Merged:
    db.execute(SHARDS)
    mark = _mark(db, "part", label)
    after = _taken_upto(db, mark)
    upto = _single_count(db, "SELECT coalesce(max(id), 0) FROM part.attempts")
    if upto == after:
        return Merged()
    stranger = db.execute("SELECT story FROM part.queries WHERE story NOT IN (SELECT id FROM main.stories)").fetchone()
    if stranger:
        raise RunFolderError(f"{part} holds answers about a story that this run does not have: {stranger[0]!r}")
    db.execute(_FRESH, {"after": after, "upto": upto})
    db.execute("INSERT OR IGNORE INTO main.queries SELECT key, story, criterion, eval_prompt, flags FROM part.queries")
    if _single_count(db, "SELECT count(*) FROM part.sqlite_master WHERE name = 'comparisons'"):
        db.execute(COMPARISONS)
        db.execute("INSERT OR IGNORE INTO main.comparisons SELECT query_key, pair, second FROM part.comparisons")
    _sessions(db)
    _rows(db)
    fresh = _single_count(db, "SELECT count(*) FROM temp.fresh")
    db.execute("INSERT INTO shards VALUES (?, ?, ?)", (f"{mark}{after + 1}-{upto}", fresh, time.time()))
    answered = _single_count(db, f"SELECT count(*) FROM ({_ANSWERED})")  # noqa: S608
    failed = _single_count(
        db, "SELECT count(*) FROM part.attempts JOIN temp.fresh USING (id) WHERE outcome != 'answered' AND final = 1"
    )
    return Merged(answered, failed, upto - after - fresh)


def _mark(db: sqlite3.Connection, schema: str, label: str) -> str:
    # The first session's start is in the mark: a part deleted and started again has another.
    (begun,) = db.execute(f"SELECT coalesce(min(started), 0.0) FROM {schema}.sessions").fetchone()  # noqa: S608
    return f"{label} {begun:.6f} "


def _taken_upto(db: sqlite3.Connection, mark: str) -> int:
    names = [name for (name,) in db.execute("SELECT name FROM shards") if name.startswith(mark)]
    return max((int(name.rpartition("-")[2]) for name in names), default=0)


def _sessions(db: sqlite3.Connection) -> None:
    old = db.execute(
        "SELECT DISTINCT session FROM part.attempts JOIN temp.fresh USING (id) ORDER BY session"
    ).fetchall()
    for (session,) in old:
        cursor = db.execute(
            f"INSERT INTO main.sessions ({_SESSION}) SELECT {_SESSION} FROM part.sessions WHERE id = ?",  # noqa: S608
            (session,),
        )
        db.execute("INSERT INTO temp.renamed VALUES (?, ?)", (session, cursor.lastrowid))


def _rows(db: sqlite3.Connection) -> None:
    last = _single_count(db, "SELECT coalesce(max(id), 0) FROM main.attempts")
    for table in ("replaced", "responses"):
        db.execute(
            f"INSERT INTO main.{table} ({_RESPONSE_COLUMNS}) SELECT {_RESPONSE_COLUMNS} FROM part.{table}"  # noqa: S608
            f" WHERE (query_key, repeat) IN ({_ANSWERED}) ORDER BY rowid"
        )
    db.execute(
        f"INSERT INTO main.attempts (id, {_ATTEMPT_COLUMNS}, session)"  # noqa: S608
        f" SELECT ? + place, {_ATTEMPT_COLUMNS}, new FROM part.attempts JOIN temp.fresh USING (id)"
        " JOIN temp.renamed ON old = session ORDER BY place",
        (last,),
    )
    if _single_count(db, "SELECT count(*) FROM part.sqlite_master WHERE name = 'usage'"):
        database.migrate(db, 1)
        db.execute(
            "INSERT INTO main.usage SELECT ? + place, u.reasoning_tokens, u.cache_write_tokens, u.cost"
            " FROM part.usage u JOIN temp.fresh ON id = u.attempt",
            (last,),
        )


def _single_count(db: sqlite3.Connection, sql: str) -> int:
    (value,) = db.execute(sql).fetchone()
    return int(value)
