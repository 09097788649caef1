"""Merges the journal of a part (a share of the plan that is run separately) into the whole plan's journal. New rows
enter in one transaction with a row that records the last attempt copied, so that a merge can be repeated at any time
and each attempt is copied once. A repeat that has an answer in the whole journal keeps it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from judge.answers.journal import database
from judge.answers.journal.comparing import Merged, has_pairs
from judge.answers.journal.database import COMPARISONS, SHARDS
from judge.base.errors import RunFolderError

_ATTEMPT = "query_key, repeat, outcome, final, started, seconds, status, error_kind, error"
_RESPONSE = (
    "query_key, repeat, text, finish_reason, reasoning, "
    "prompt_tokens, completion_tokens, cached_tokens, logprobs, model"
)
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
        db.execute("BEGIN IMMEDIATE")
        try:
            merged = _take(db, part, label)
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
    return merged


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
            f"INSERT INTO main.{table} ({_RESPONSE}) SELECT {_RESPONSE} FROM part.{table}"  # noqa: S608
            f" WHERE (query_key, repeat) IN ({_ANSWERED}) ORDER BY rowid"
        )
    db.execute(
        f"INSERT INTO main.attempts (id, {_ATTEMPT}, session)"  # noqa: S608
        f" SELECT ? + place, {_ATTEMPT}, new FROM part.attempts JOIN temp.fresh USING (id)"
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
