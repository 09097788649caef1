"""Sums of the tokens and costs in a journal by kind of charge: live calls, batch API, or costs reported by the
server.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from judge.answers.journal import database
from judge.base.records import MOST_PLAUSIBLE_COST

BATCH = "batch"
"""Executor of sessions whose answers came through a provider's batch API."""

REUSED = "reused from "
"""How the executor of a session begins whose answers were copied from another run, and not charged again."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Sums of tokens over calls with the same kind of charge.

    `prompt` and `completion` are None where the server reported none. `cached` and `written` are prompt tokens read
    from and written to the provider's cache. `longest` is the number of tokens of the longest prompt.
    """

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
    """Tokens and cost of answers, by kind of charge: live calls, batch API, and calls whose cost the server reported.

    `live` and `batch` are the token sums of live calls and of the batch API. `answers` is the number of answers;
    answers that were later replaced are included. `reported` is the cost in dollars of `reported_calls` calls. `reused`
    is the number of answers copied from another run; their tokens are in no sum. `implausible` is the number of calls
    with a reported cost above `MOST_PLAUSIBLE_COST`: it is in no sum, and their tokens are among the others. `last` is
    the time of the newest answer, in seconds since 1970.
    """

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
    """Tokens and cost of the answers after attempt number `attempt` and response row `response`; by default of all
    answers. Answers to repeats that were requested again are always included.

    Sums over two ranges of attempts may be added only if no answer was requested again.
    """
    again = db.execute("SELECT 1 FROM replaced LIMIT 1").fetchone() is not None
    total = None if db.execute(_APART).fetchone() else _uniform_spending(db, attempt, response, again=again)
    if total is None:
        usage = database.has_usage(db)
        total = _sums(db, _ONCE, usage, {"after": attempt})
        total += _sums(db, _AGAIN, usage, {}) if again else Spending()
    (last,) = db.execute(_LAST, (f"{REUSED}%",)).fetchone()
    return replace(total, last=last)


def spending_of(db: sqlite3.Connection, eval_prompt: str) -> Spending:
    """Tokens and cost of the answers to one Eval-Prompt, including answers that were later requested again."""
    usage, values = database.has_usage(db), dict[str, int | str](after=0, eval_prompt=eval_prompt)
    total = _sums(db, _ONCE, usage, values, _OF_ONE) + _sums(db, _AGAIN, usage, values, _OF_ONE)
    (last,) = db.execute(_LAST, (f"{REUSED}%",)).fetchone()
    return replace(total, last=last)


def _uniform_spending(db: sqlite3.Connection, attempt: int, response: int, *, again: bool) -> Spending | None:
    """Tokens and cost of the answers after attempt number `attempt` and response row `response`, computed without a
    search for each answer's attempt. This is possible only if all answers were charged in the same way; otherwise None.

    `again` says that some answers were requested again; the replaced answers are then included.
    """
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
