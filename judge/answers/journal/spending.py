"""Sums of a journal's tokens and costs by kind of charge: live calls, batch API, costs reported by the server."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from judge.answers.journal import database
from judge.base.choices import MOST_PLAUSIBLE_COST

# Executor of sessions whose answers came through a provider's batch API.
BATCH = "batch"

# How the executor of a session begins whose answers were copied from another run, and not charged again.
REUSED = "reused from "


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token sums over calls charged alike. `prompt` and `completion` are None where none was reported, `cached` and
    `written` are prompt tokens from and to the provider's cache, and `longest` is the longest prompt."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    written: int = 0
    longest: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            _sum(self.prompt, other.prompt),
            _sum(self.completion, other.completion),
            self.cached + other.cached,
            self.written + other.written,
            max(self.longest, other.longest),
        )


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and cost of answers, by kind of charge. Answers that were later replaced are included.

    `live` and `batch` are token sums. `reported` is the cost in dollars of `reported_calls` calls. The tokens of
    `reused` answers (copied from another run) are in no sum. `implausible` calls have a reported cost above
    `MOST_PLAUSIBLE_COST`, which is in no sum, while their tokens are among the others. `last` is the newest answer's
    time, in seconds since 1970."""

    live: Tokens = Tokens()
    batch: Tokens = Tokens()
    reported: float = 0.0
    reported_calls: int = 0
    answers: int = 0
    reused: int = 0
    implausible: int = 0
    last: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        both = (self, other)
        sums = {field.name: [getattr(spent, field.name) for spent in both] for field in fields(self)}
        last = max(sums.pop("last"))
        return Spending(**{name: a + b for name, (a, b) in sums.items()}, last=last)


_APART = f"SELECT 1 FROM sessions WHERE executor = '{BATCH}' OR executor LIKE '{REUSED}%' LIMIT 1"  # noqa: S608
_LAST = "SELECT coalesce(max(last_commit), 0.0) FROM sessions WHERE executor NOT LIKE ?"
_TOKENS = "SELECT prompt_tokens, completion_tokens, cached_tokens FROM responses WHERE rowid > ?"
_REPLACED = " UNION ALL SELECT prompt_tokens, completion_tokens, cached_tokens FROM replaced"
_PLAIN_SUMS = """
count(*), count(prompt_tokens), sum(prompt_tokens), sum(completion_tokens), coalesce(sum(cached_tokens), 0),
coalesce(max(prompt_tokens), 0)
"""
_KNOWN = f"CASE WHEN {{cost}} <= {MOST_PLAUSIBLE_COST} THEN {{cost}} END"
_USAGE_SUMS = f"""
SELECT count({_KNOWN.format(cost="cost")}), coalesce(sum({_KNOWN.format(cost="cost")}), 0.0),
       coalesce(sum(cache_write_tokens), 0), coalesce(sum(cost > {MOST_PLAUSIBLE_COST}), 0)
FROM usage WHERE attempt > ?
"""  # noqa: S608  numbers of this program

_KIND = f"""
CASE WHEN {{cost}} IS NOT NULL THEN 'reported' WHEN s.executor = '{BATCH}' THEN 'batch'
     WHEN s.executor LIKE '{REUSED}%' THEN 'reused' ELSE 'live' END
"""

_SUMS = """
SELECT {kind} AS kind, count(*), sum(r.prompt_tokens), sum(r.completion_tokens), coalesce(sum(r.cached_tokens), 0),
       {written}, coalesce(max(r.prompt_tokens), 0), {costs}, count({cost}), {implausible}
FROM {answers} JOIN sessions s ON s.id = a.session {usage}
{where} GROUP BY 1
"""
_OF_ONE = "WHERE a.query_key IN (SELECT key FROM queries WHERE eval_prompt = :eval_prompt)"

# Answers that stand, each with the one attempt that brought it.
_ONCE = """
attempts a JOIN responses r ON r.query_key = a.query_key AND r.repeat = a.repeat AND a.outcome = 'answered'
    AND a.id > :after
    AND (a.query_key, a.repeat) NOT IN (SELECT query_key, repeat FROM replaced)
"""

# Answers of repeats that were asked again on demand: the n-th attempt brought the n-th of them.
_AGAIN = """
(SELECT *, row_number() OVER (PARTITION BY query_key, repeat ORDER BY id) AS turn FROM attempts
    WHERE outcome = 'answered' AND (query_key, repeat) IN (SELECT query_key, repeat FROM replaced)) a
JOIN (SELECT *, row_number() OVER (PARTITION BY query_key, repeat ORDER BY stands, place) AS turn FROM
    (SELECT 0 AS stands, rowid AS place, * FROM replaced UNION ALL
     SELECT 1, rowid, * FROM responses WHERE (query_key, repeat) IN (SELECT query_key, repeat FROM replaced))) r
    USING (query_key, repeat, turn)
"""


def spending(db: sqlite3.Connection, attempt: int = 0, response: int = 0) -> Spending:
    """Tokens and cost of the answers after an attempt number and a response row. Answers to repeats requested again are
    always included, so sums over two ranges add only where there are none."""
    again = db.execute("SELECT 1 FROM replaced LIMIT 1").fetchone() is not None
    total = None if db.execute(_APART).fetchone() else _uniform_spending(db, attempt, response, again=again)
    if total is None:
        usage = database.has_usage(db)
        total = _sums(db, _ONCE, usage, {"after": attempt})
        total += _sums(db, _AGAIN, usage, {}) if again else Spending()
    (last,) = db.execute(_LAST, (f"{REUSED}%",)).fetchone()
    return replace(total, last=last)


def _spending_of(db: sqlite3.Connection, eval_prompt: str) -> Spending:
    usage, values = database.has_usage(db), dict[str, int | str](after=0, eval_prompt=eval_prompt)
    total = _sums(db, _ONCE, usage, values, _OF_ONE) + _sums(db, _AGAIN, usage, values, _OF_ONE)
    (last,) = db.execute(_LAST, (f"{REUSED}%",)).fetchone()
    return replace(total, last=last)


def _uniform_spending(db: sqlite3.Connection, attempt: int, response: int, *, again: bool) -> Spending | None:
    # Without a search for each answer's attempt; None unless all answers were charged in the same way.
    both = _TOKENS + _REPLACED if again else _TOKENS
    count, calls, *sums = db.execute(f"SELECT {_PLAIN_SUMS} FROM ({both})", (response,)).fetchone()  # noqa: S608
    costs, cost, written, implausible = 0, 0.0, 0, 0
    if database.has_usage(db):
        costs, cost, written, implausible = db.execute(_USAGE_SUMS, (attempt,)).fetchone()
    if costs not in (0, calls):
        return None
    prompt, completion, cached, longest = sums
    tokens = Tokens(prompt, completion, cached, written, longest)
    live = Tokens() if costs else tokens
    return Spending(live, reported=cost, reported_calls=costs, answers=count, implausible=implausible)


def _sums(
    db: sqlite3.Connection, answers: str, usage: bool, values: Mapping[str, int | str], where: str = ""
) -> Spending:
    cost = f"({_KNOWN.format(cost='u.cost')})" if usage else "NULL"
    sql = _SUMS.format(
        kind=_KIND.format(cost=cost),
        written="coalesce(sum(u.cache_write_tokens), 0)" if usage else "0",
        costs=f"coalesce(sum({cost}), 0.0)" if usage else "0.0",
        implausible=f"coalesce(sum(u.cost > {MOST_PLAUSIBLE_COST}), 0)" if usage else "0",
        cost=cost,
        answers=answers,
        where=where,
        usage="LEFT JOIN usage u ON u.attempt = a.id" if usage else "",
    )
    spending = Spending()
    for kind, count, prompt, completion, cached, written, longest, costs, calls, implausible in db.execute(sql, values):
        tokens = Tokens(prompt, completion, cached, written, longest)
        spending += Spending(
            live=tokens if kind == "live" else Tokens(),
            batch=tokens if kind == "batch" else Tokens(),
            reported=costs,
            reported_calls=calls,
            answers=count,
            reused=count if kind == "reused" else 0,
            implausible=implausible,
        )
    return spending


def _sum(first: int | None, other: int | None) -> int | None:
    return first if other is None else (first or 0) + other


# Number, tokens and cost of the calls for each query in a journal, from which forecasts are made.

# Attempts that are read at most: a forecast needs no more.
_MOST = 100_000

# The largest integer of SQLite: as a limit it leaves nothing out.
_ALL = (1 << 63) - 1

# The repeats of one call have one time of asking; a batch API, which tells seconds, may give that time to several calls
# about one query, each of which has its own tokens.
_EACH = """(
    SELECT a.query_key, count(*) AS answers, count(r.prompt_tokens) AS counted,
           coalesce(sum(r.prompt_tokens), 0) AS prompt, coalesce(sum(r.completion_tokens), 0) AS completion,
           coalesce(sum(r.cached_tokens), 0) AS cached, {told}
    FROM attempts a
    JOIN responses r ON r.query_key = a.query_key AND r.repeat = a.repeat
    JOIN sessions s ON s.id = a.session {usage}
    WHERE a.outcome = 'answered' AND a.id <= ? AND s.executor NOT LIKE '{reused}%'
    GROUP BY a.query_key, a.session, a.started, a.seconds
)"""
_CALLS = """
SELECT q.story, {second}, q.criterion, q.eval_prompt, sum(answers), sum(max(counted, 1)), sum(counted),
       sum(prompt), sum(completion), sum(cached), sum(written), sum(cost), sum(costs)
FROM {each} t JOIN queries q ON q.key = t.query_key {compared}
GROUP BY t.query_key
"""
_TAKEN = """
SELECT q.eval_prompt, sum(max(counted, 1)), sum(counted), sum(prompt), sum(completion)
FROM {each} t JOIN queries q ON q.key = t.query_key GROUP BY q.eval_prompt
"""
_TOLD = "coalesce(sum(u.cache_write_tokens), 0) AS written, coalesce(sum(u.cost), 0) AS cost, count(u.cost) AS costs"


@dataclass(frozen=True, slots=True)
class Called:
    """Calls for one query. Token sums are over the `counted` calls whose tokens are known, `cost` (in dollars) over the
    `costs` calls that reported one. `second` is the story shown second, None unless two are compared."""

    story: str
    second: str | None
    criterion: str
    eval_prompt: str
    answers: int
    calls: int
    counted: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    written_tokens: int
    cost: float
    costs: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Calls for the answers to one Eval-Prompt; tokens are None where the server reported none."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None


def _each_sql(db: sqlite3.Connection) -> str:
    usage = database.has_usage(db)
    return _EACH.format(
        told=_TOLD if usage else "0 AS written, 0 AS cost, 0 AS costs",
        usage="LEFT JOIN usage u ON u.attempt = a.id" if usage else "",
        reused=REUSED,
    )


class CallsReader:
    """The part of `JournalReader` about calls, their tokens and their costs."""

    _db: sqlite3.Connection

    def spending(self, eval_prompt: str | None = None) -> Spending:
        """Tokens and cost by kind of charge, of all answers or of those to one Eval-Prompt, replaced ones included."""
        return spending(self._db) if eval_prompt is None else _spending_of(self._db, eval_prompt)

    def called(self) -> list[Called]:
        """Calls for each answered query that this run sent; of the journal's first 100,000 attempts."""
        compares = database.has_table(self._db, "comparisons")
        sql = _CALLS.format(
            each=_each_sql(self._db),
            second="c.second" if compares else "NULL",
            compared="LEFT JOIN comparisons c ON c.query_key = t.query_key" if compares else "",
        )
        return [Called(*row) for row in self._db.execute(sql, (_MOST,))]

    def taken(self) -> dict[str, Taken]:
        """Eval-Prompt -> its calls and tokens, without answers copied from another run."""
        rows = self._db.execute(_TAKEN.format(each=_each_sql(self._db)), (_ALL,)).fetchall()
        return {
            name: Taken(calls, *((prompt, completion) if counted else (None, None)))
            for name, calls, counted, prompt, completion in rows
        }

    def seconds_of_work(self) -> float:
        """Seconds from first request to last stored answer, summed over the sessions that sent requests."""
        sql = "SELECT coalesce(sum(last_commit - first_request), 0.0) FROM sessions WHERE executor NOT LIKE ?"
        return float(self._db.execute(sql, (f"{REUSED}%",)).fetchone()[0])


# Counts of a journal's rows (answered repeats, failures, tokens), updated while a run goes on. Each update reads only
# the rows added since the last one.

# Attempts from which the present rate is taken.
_LATELY = 2_000

_FAILED = """
SELECT coalesce(a.error_kind, a.outcome), count(*) FROM attempts a
WHERE a.final = 1 AND a.outcome != 'answered' AND NOT EXISTS
    (SELECT 1 FROM attempts b WHERE b.query_key = a.query_key AND b.repeat = a.repeat AND b.id > a.id)
GROUP BY 1 ORDER BY 2 DESC
"""


def queries_of(definition: Mapping[str, Any]) -> int:
    """Queries per story or pair. Criteria rated in one answer count once; a run that writes has one query per writer
    prompt."""
    if definition.get("writes"):
        return len(definition["eval_prompts"])
    joint = definition.get("joint", {})
    alone = len(definition["eval_prompts"]) - len(joint)
    return alone * len(definition["criteria_records"]) + len(joint)


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts up to an attempt number and a response row.

    `failed` is kind of error -> repeats given up, `tried_in_vain` the failed attempts, and `replaced` the answers
    requested again. Token sums are over accepted answers, None where none was reported. `rate` is repeats settled per
    second lately in the last session, or None. Times are in seconds since 1970. `ended` is the last session's outcome,
    None while it runs or after it was killed; `executor` is how it sent its requests."""

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
        return self.answered + sum(self.failed.values())


def count(path: Path, before: Counted | None = None) -> Counted:
    """Current counts. With `before`, only newer rows are read, unless answers were replaced since. Raises
    RunFolderError for no readable journal."""
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
        prompt_tokens=_counting_sum(before.prompt_tokens, tokens[0]),
        completion_tokens=_counting_sum(before.completion_tokens, tokens[1]),
        cached_tokens=_counting_sum(before.cached_tokens, tokens[2]),
        # Where answers were exchanged, what was charged for the old ones is found only by going through all.
        spending=spending(db) if replaced else before.spending + spending(db, before.attempt, before.response),
        rate=_rate(db),
    )


def _session(db: sqlite3.Connection) -> dict[str, Any]:
    first, last = db.execute("SELECT min(first_request), max(last_commit) FROM sessions").fetchone()
    newest = db.execute(
        "SELECT ended, executor FROM sessions WHERE executor != 'prepare' ORDER BY id DESC LIMIT 1"
    ).fetchone()
    ended, executor = newest or (None, None)
    return {"first_request": first, "last_commit": last, "ended": ended, "executor": executor}


def _rate(db: sqlite3.Connection) -> float | None:
    settled, began, ended = db.execute(
        "SELECT sum(final), min(started), max(started + seconds) FROM"
        " (SELECT * FROM attempts ORDER BY id DESC LIMIT ?) WHERE session = (SELECT max(session) FROM"
        " (SELECT session FROM attempts ORDER BY id DESC LIMIT 1))",
        (_LATELY,),
    ).fetchone()
    return settled / (ended - began) if settled and ended > began else None


def _counting_sum(before: int | None, new: int | None) -> int | None:
    return before if new is None else (before or 0) + new
