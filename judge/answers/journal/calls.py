"""Number, tokens and cost of the calls for each query in a journal, from which forecasts are made."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from judge.answers.journal import database
from judge.answers.journal.spending import REUSED

_MOST = 100_000
"""Attempts that are read at most: a forecast needs no more."""

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
    """Calls (requests to the server) for one query: the numbers of calls and answers, and sums of tokens (of prompts
    and of answers, `completion_tokens`) over the `counted` calls whose tokens are known. `cached_tokens` and
    `written_tokens` are prompt tokens read from and written to the provider's cache.

    `second` is the story shown second; None unless the query compares two stories. `cost` is in dollars, over the
    `costs` calls whose cost the server reported.
    """

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


def called(db: sqlite3.Connection) -> list[Called]:
    """Calls for each query that this run sent and that was answered. Only the journal's first 100,000 attempts are
    read.
    """
    compares = database.has_table(db, "comparisons")
    sql = _CALLS.format(
        each=_each_sql(db),
        second="c.second" if compares else "NULL",
        compared="LEFT JOIN comparisons c ON c.query_key = t.query_key" if compares else "",
    )
    return [Called(*row) for row in db.execute(sql, (_MOST,))]


@dataclass(frozen=True, slots=True)
class Taken:
    """Number of calls for the answers to one Eval-Prompt, and their tokens; None where the server reported no
    tokens.
    """

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None


def taken(db: sqlite3.Connection) -> dict[str, Taken]:
    """Map from each Eval-Prompt to the number of calls and tokens for its answers. Answers copied from another run are
    left out.
    """
    rows = db.execute(_TAKEN.format(each=_each_sql(db)), (_ALL,)).fetchall()
    return {
        name: Taken(calls, *((prompt, completion) if counted else (None, None)))
        for name, calls, counted, prompt, completion in rows
    }


def _each_sql(db: sqlite3.Connection) -> str:
    usage = database.has_usage(db)
    return _EACH.format(
        told=_TOLD if usage else "0 AS written, 0 AS cost, 0 AS costs",
        usage="LEFT JOIN usage u ON u.attempt = a.id" if usage else "",
        reused=REUSED,
    )


def seconds_of_work(db: sqlite3.Connection) -> float:
    """Seconds between a session's first request and its last stored answer, summed over the sessions that sent
    requests.
    """
    sql = "SELECT coalesce(sum(last_commit - first_request), 0.0) FROM sessions WHERE executor NOT LIKE ?"
    return float(db.execute(sql, (f"{REUSED}%",)).fetchone()[0])
