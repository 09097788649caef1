"""Counts of a journal's rows (answered repeats, failures, tokens), updated while a run goes on. Each update reads only
the rows added since the last one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judge.answers.journal import database
from judge.answers.journal.spending import Spending, spending

_LATELY = 2_000
"""Attempts from which the present rate is taken."""

_FAILED = """
SELECT coalesce(a.error_kind, a.outcome), count(*) FROM attempts a
WHERE a.final = 1 AND a.outcome != 'answered' AND NOT EXISTS
    (SELECT 1 FROM attempts b WHERE b.query_key = a.query_key AND b.repeat = a.repeat AND b.id > a.id)
GROUP BY 1 ORDER BY 2 DESC
"""


def queries_of(definition: Mapping[str, Any]) -> int:
    """Number of queries about each story or pair, from the plan definition stored in a journal.

    A query that rates several criteria in one answer counts once. A run that writes stories has one query for each
    writer prompt.
    """
    if definition.get("writes"):
        return len(definition["eval_prompts"])
    joint = definition.get("joint", {})
    alone = len(definition["eval_prompts"]) - len(joint)
    return alone * len(definition["criteria_records"]) + len(joint)


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of a journal up to attempt number `attempt` and response row `response`.

    `answered`: repeats with an accepted answer. `failed`: kind of error -> number of repeats that were given up.
    `tried_in_vain`: number of failed attempts. `replaced`: number of answers that were requested again. Token sums are
    over accepted answers, and None where the server reported no tokens. `spending` has the tokens and cost by kind of
    charge (live calls, batch API, cost reported by the server). `rate` is in repeats per second over the newest
    attempts of the last session; None if no repeat was answered or given up in these attempts.

    `first_request` and `last_commit` are in seconds since 1970. `ended` is the outcome recorded at the end of the last
    session; it is None while the session runs or after it was killed. `executor` names the way in which the last
    session sent its requests.
    """

    attempt: int = 0
    response: int = 0
    replaced: int = 0
    answered: int = 0
    tried_in_vain: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    spending: Spending = field(default_factory=Spending)
    rate: float | None = None
    first_request: float | None = None
    last_commit: float | None = None
    ended: str | None = None
    executor: str | None = None

    @property
    def settled(self) -> int:
        """Number of the journal's repeats that are answered or given up."""
        return self.answered + sum(self.failed.values())


def count(path: Path, before: Counted | None = None) -> Counted:
    """Current counts of a journal.

    With `before` (earlier counts of this journal), only newer rows are read and added to them. All rows are read if
    answers were replaced since. Raises RunFolderError where the file is no readable journal.
    """
    db = database.open_reading(path)
    try:
        with database.sentences(path):
            db.execute("BEGIN")  # one snapshot: attempts and responses are counted up to the same moment
            return _count(db, before or Counted())
    finally:
        db.close()


def _count(db: sqlite3.Connection, before: Counted) -> Counted:
    attempt = db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()[0]
    replaced = db.execute("SELECT count(*) FROM replaced").fetchone()[0]
    if attempt < before.attempt or replaced != before.replaced:
        before = Counted()  # another journal took its place, or answers were exchanged: sums start again
    now = replace(before, attempt=attempt, replaced=replaced, **_session(db))
    if attempt == before.attempt:
        return now
    answered, vain = db.execute(
        "SELECT coalesce(sum(outcome = 'answered'), 0), coalesce(sum(outcome != 'answered'), 0) FROM attempts"
        " WHERE id > ? AND id <= ?",
        (before.attempt, attempt),
    ).fetchone()
    last, *tokens = db.execute(
        "SELECT coalesce(max(rowid), :last), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens)"
        " FROM responses WHERE rowid > :last",
        {"last": before.response},
    ).fetchone()
    vain += before.tried_in_vain
    return replace(
        now,
        response=last,
        # An answer that was exchanged has two answered attempts and stands once.
        answered=answered + (before.answered or -replaced),
        tried_in_vain=vain,
        failed=dict(db.execute(_FAILED).fetchall()) if vain else {},
        prompt_tokens=_sum(before.prompt_tokens, tokens[0]),
        completion_tokens=_sum(before.completion_tokens, tokens[1]),
        cached_tokens=_sum(before.cached_tokens, tokens[2]),
        # Where answers were exchanged, what was charged for the old ones is found only by going through all.
        spending=spending(db) if replaced else before.spending + spending(db, before.attempt, before.response),
        rate=_rate(db),
    )


def _session(db: sqlite3.Connection) -> dict[str, Any]:
    """Times and outcome of a journal's sessions, by name: `first_request` and `last_commit` over all sessions; `ended`
    and `executor` of the newest session that sent requests.
    """
    first, last = db.execute("SELECT min(first_request), max(last_commit) FROM sessions").fetchone()
    newest = db.execute(
        "SELECT ended, executor FROM sessions WHERE executor != 'prepare' ORDER BY id DESC LIMIT 1"
    ).fetchone()
    ended, executor = newest or (None, None)
    return {"first_request": first, "last_commit": last, "ended": ended, "executor": executor}


def _rate(db: sqlite3.Connection) -> float | None:
    """Repeats settled (answered or given up) per second over the newest attempts of the newest session. None where
    these attempts settled no repeat or took no time.
    """
    settled, began, ended = db.execute(
        "SELECT sum(final), min(started), max(started + seconds) FROM"
        " (SELECT * FROM attempts ORDER BY id DESC LIMIT ?) WHERE session = (SELECT max(session) FROM"
        " (SELECT session FROM attempts ORDER BY id DESC LIMIT 1))",
        (_LATELY,),
    ).fetchone()
    return settled / (ended - began) if settled and ended > began else None


def _sum(before: int | None, new: int | None) -> int | None:
    return before if new is None else (before or 0) + new
