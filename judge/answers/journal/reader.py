"""Reads stories, answers and counts from a journal, also while another process writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import database
from judge.answers.journal.comparing import RULES, ComparisonsReader
from judge.answers.journal.database import checked_definition
from judge.answers.journal.spending import CallsReader
from judge.answers.journal.standing import BlocksReader
from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.records import Answer, Rating, Response, Story, StoryPrompt, Subject

# Stories read at a time: texts may be long.
_PAGE = 64

_BY_PROMPT = "SELECT * FROM stories WHERE (story_prompt, position) > (?, ?) ORDER BY story_prompt, position LIMIT ?"
_BY_POSITION = "SELECT * FROM stories WHERE position > ? ORDER BY position LIMIT ?"

_SETTLED = "SELECT DISTINCT repeat FROM attempts WHERE query_key = ? AND final = 1"
_ANSWERED = "SELECT DISTINCT repeat FROM attempts WHERE query_key = ? AND outcome = 'answered'"

_ANSWERS = """
SELECT q.key, q.story, q.criterion, q.eval_prompt, q.flags, a.repeat, a.tries, r.query_key IS NOT NULL,
       r.text, r.finish_reason, r.reasoning, r.prompt_tokens, r.completion_tokens, r.cached_tokens, r.logprobs, r.model,
       {told}, last.outcome, last.error_kind, last.error
FROM (SELECT query_key, repeat, count(*) AS tries, max(id) AS id FROM attempts {where} GROUP BY query_key, repeat) a
JOIN queries q ON q.key = a.query_key
LEFT JOIN responses r ON r.query_key = a.query_key AND r.repeat = a.repeat
JOIN attempts last ON last.id = a.id {usage}
"""
_NOTHING_TOLD = {"told": "NULL, NULL, NULL", "usage": ""}
_TOLD = {
    "told": "u.reasoning_tokens, u.cache_write_tokens, u.cost",
    "usage": "LEFT JOIN usage u ON u.attempt = last.id\n",
}
_OF_A_QUERY = "WHERE query_key = ?"
_TRIED_LATELY = "WHERE (query_key, repeat) IN (SELECT query_key, repeat FROM attempts WHERE id > ? AND id <= ?)"

_RECORDED = """
SELECT repeat, text, finish_reason, reasoning, prompt_tokens, completion_tokens, cached_tokens, logprobs, model
FROM responses WHERE query_key = ?
"""

_RULES = {
    "responses of no known query": "SELECT count(*) FROM responses WHERE query_key NOT IN (SELECT key FROM queries)",
    "responses without an answered attempt": """
        SELECT count(*) FROM responses r WHERE NOT EXISTS (SELECT 1 FROM attempts a
        WHERE a.query_key = r.query_key AND a.repeat = r.repeat AND a.outcome = 'answered')""",
    "answered attempts without a response": """
        SELECT count(*) FROM attempts a WHERE a.outcome = 'answered' AND NOT EXISTS (SELECT 1 FROM responses r
        WHERE a.query_key = r.query_key AND a.repeat = r.repeat)""",
    "attempts of no known query": "SELECT count(*) FROM attempts WHERE query_key NOT IN (SELECT key FROM queries)",
    "queries of no known story": "SELECT count(*) FROM queries WHERE story NOT IN (SELECT id FROM stories)",
}


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts and token sums over a journal. `failed` is kind of error -> repeats given up. Token sums are None where
    the server reported none; times are in seconds since 1970, None before the first request."""

    answered: int
    failed: Mapping[str, int]
    attempts: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    first_request: float | None
    last_commit: float | None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None


class JournalReader(ComparisonsReader, BlocksReader, CallsReader):
    """A read-only view of one journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = database.open_reading(path)

    def __enter__(self) -> JournalReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Context manager inside which all reads see the journal at one moment."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.rollback()

    def meta(self) -> dict[str, Any]:
        """The run's metadata: key -> JSON value. Raises RunFolderError for a definition with a missing or mistyped
        field."""
        rows = self._db.execute("SELECT key, value FROM meta WHERE key != 'format'")
        meta: dict[str, Any] = {}
        for key, value in rows:
            try:
                meta[key] = orjson.loads(value)
            except (orjson.JSONDecodeError, TypeError) as error:
                raise RunFolderError(f"{self.path}: {key} is not JSON", hint=TELLS_INTACT) from error
        if "definition" in meta:
            checked_definition(meta["definition"], self.path)
        return meta

    def created(self) -> float | None:
        """Start of the first session, in seconds since 1970; it tells the journal from an earlier one at the same
        path."""
        started: float | None = self._db.execute("SELECT min(started) FROM sessions").fetchone()[0]
        return started

    def story_count(self) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM stories").fetchone()
        return int(count)

    def stories(self, *, by_prompt: bool = False, ratings: bool = True) -> Iterator[Story]:
        """The run's stories in dataset order or, with `by_prompt`, grouped by story-prompt (sorted as text)."""
        last: tuple[str, int] | tuple[int] = ("", -1) if by_prompt else (-1,)
        while True:
            # Pages, not one open cursor: a cursor would hold its snapshot, and the write-ahead log could not be cut.
            page = self._db.execute(_BY_PROMPT if by_prompt else _BY_POSITION, (*last, _PAGE)).fetchall()
            for position, name, story_prompt, system, text, reference in page:
                given = self._ratings(position) if ratings else ()
                yield Story(name, story_prompt, system, text, reference, given)
                last = (story_prompt, position) if by_prompt else (position,)
            if len(page) < _PAGE:
                return

    def subjects(self, limit: int | None = None) -> Iterator[Subject]:
        """What the run asks about, in the order of requests: stories, or pairs per order shown; with `limit`, of the
        first `limit` stories or pairs."""
        if self.compares:
            return self.planned_comparisons(limit)
        return islice(self.stories(by_prompt=True, ratings=False), limit)

    @property
    def writes(self) -> bool:
        """Whether the run writes stories. The stories in its journal are then story-prompts without texts."""
        return bool((self.meta().get("definition") or {}).get("writes"))

    def story_prompts(self, limit: int | None = None) -> Iterator[StoryPrompt]:
        """The first `limit` story-prompts that stories are written for (all by default), in the order of requests."""
        for kept in islice(self.stories(by_prompt=True, ratings=False), limit):
            yield StoryPrompt(kept.id, kept.story_prompt, kept.reference)

    def subject_count(self, limit: int | None = None) -> int:
        """Number of `subjects(limit)`."""
        if self.compares:
            return self.comparison_count(limit)
        count = self.story_count()
        return min(count, limit or count)

    def words_left_out(self) -> dict[str, int]:
        """Story id -> number of words, for a journal whose texts were removed; empty for others."""
        has_table = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'texts_left_out'").fetchone()
        if not has_table:
            return {}
        return dict(self._db.execute("SELECT s.id, t.words FROM stories s JOIN texts_left_out t USING (position)"))

    def story_at(self, position: int) -> Story | None:
        """The story at a position in dataset order, from 0, with people's ratings; None past the end."""
        row = self._db.execute("SELECT * FROM stories WHERE position = ?", (position,)).fetchone()
        return None if row is None else self._story(row)[1]

    def find_stories(self, first: int, text: str = "", system: str = "", limit: int = 50) -> list[tuple[int, Story]]:
        """(position, story) of at most `limit` stories from position `first` on, with `text` in id, story-prompt or
        text."""
        sql = (
            "SELECT * FROM stories WHERE position >= :first AND (:system = '' OR system = :system) AND (:text = ''"
            " OR instr(id, :text) OR text LIKE :like ESCAPE '\\' OR story_prompt LIKE :like ESCAPE '\\')"
            " ORDER BY position LIMIT :limit"
        )
        like = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        given = {"first": first, "system": system, "text": text, "like": like, "limit": limit}
        rows = self._db.execute(sql, given)
        return [self._story(row) for row in rows.fetchall()]

    def names_holding(self, part: str, first: int = 0, limit: int = 500, *, backwards: bool = False) -> list[str]:
        """Ids of stories that contain `part`, from position `first` on; with `backwards`, towards the beginning."""
        sql = "SELECT id FROM stories WHERE position {} ? AND instr(id, ?) ORDER BY position {} LIMIT ?"
        sql = sql.format("<=", "DESC") if backwards else sql.format(">=", "ASC")
        return [str(row[0]) for row in self._db.execute(sql, (first, part, limit))]

    def _story(self, row: tuple[Any, ...]) -> tuple[int, Story]:
        position, name, story_prompt, system, text, reference = row
        return position, Story(name, story_prompt, system, text, reference, self._ratings(position))

    def text_of(self, story: str) -> str:
        """A story's text by its id; "" where there is no such story."""
        row = self._db.execute("SELECT text FROM stories WHERE id = ?", (story,)).fetchone()
        return "" if row is None else str(row[0])

    def position_of(self, story: str) -> int | None:
        """Position of a story in dataset order; None where there is no such story."""
        row = self._db.execute("SELECT position FROM stories WHERE id = ?", (story,)).fetchone()
        return None if row is None else int(row[0])

    def _ratings(self, position: int) -> tuple[Rating, ...]:
        rows = self._db.execute(
            "SELECT criterion, value, rater FROM ratings WHERE story = ? ORDER BY rowid", (position,)
        )
        ratings = [Rating(*row) for row in rows]
        if any(isinstance(rating.value, float) and not isfinite(rating.value) for rating in ratings):
            raise RunFolderError(f"{self.path}: a human rating is infinite, as no dataset's are", hint=TELLS_INTACT)
        if self._panelled:
            panels = dict(self._db.execute("SELECT place, panel FROM panels WHERE story = ?", (position,)))
            ratings = [replace(rating, panel=panels.get(index)) for index, rating in enumerate(ratings)]
        if self._commented:
            written = self._db.execute("SELECT place, comment FROM comments WHERE story = ?", (position,))
            for index, comment in written.fetchall():
                ratings[index] = replace(ratings[index], comment=comment)
        return tuple(ratings)

    # Stories and ratings are written in one transaction, before anything is asked.

    @cached_property
    def _panelled(self) -> bool:
        return database.has_table(self._db, "panels")

    @cached_property
    def _commented(self) -> bool:
        return database.has_table(self._db, "comments")

    def rating_ranges(self) -> dict[str, tuple[float, float]]:
        """Criterion -> (lowest, highest) human rating."""
        rows = self._db.execute("SELECT criterion, min(value), max(value) FROM ratings GROUP BY criterion")
        return {criterion: (low, high) for criterion, low, high in rows}

    def rating_counts(self) -> list[tuple[str, float, int]]:
        """(criterion, rating, number of human ratings with this value), for each criterion and value."""
        sql = "SELECT criterion, value, count(*) FROM ratings GROUP BY criterion, value ORDER BY min(rowid), value"
        return [(criterion, value, n) for criterion, value, n in self._db.execute(sql)]

    def mean_ratings(self) -> dict[tuple[str, str], float]:
        """(criterion, story) -> mean of the story's human ratings."""
        sql = (
            "SELECT r.criterion, s.id, avg(r.value) FROM ratings r JOIN stories s ON s.position = r.story"
            " GROUP BY r.criterion, s.id"
        )
        return {(criterion, story): mean for criterion, story, mean in self._db.execute(sql)}

    def settled(self, query_key: str, *, failed_too: bool = True) -> set[int]:
        """A query's repeats that need no further request: answered and, with `failed_too`, given up."""
        sql = _SETTLED if failed_too else _ANSWERED
        rows = self._db.execute(sql, (query_key,))
        return {row[0] for row in rows}

    def failed(self, query_key: str) -> set[int]:
        """Numbers of a query's repeats that were given up and have no answer."""
        return self.settled(query_key) - self.settled(query_key, failed_too=False)

    def errors(self, query_key: str) -> set[tuple[int, str]]:
        """(repeat, error sentence) of a query's failed attempts."""
        sql = "SELECT repeat, error FROM attempts WHERE query_key = ? AND outcome != 'answered'"
        return {(repeat, error) for repeat, error in self._db.execute(sql, (query_key,))}

    def recorded(self, query_key: str) -> dict[int, Response]:
        """Number of the repeat -> accepted response, for one query."""
        rows = self._db.execute(_RECORDED, (query_key,))
        return {row[0]: _response(row[1:]) for row in rows}

    def replaced_total(self) -> int:
        """Number of answers that were requested again on the user's demand."""
        return int(self._db.execute("SELECT count(*) FROM replaced").fetchone()[0])

    def settled_total(self) -> int:
        sql = "SELECT count(*) FROM (SELECT DISTINCT query_key, repeat FROM attempts WHERE final = 1)"
        return int(self._db.execute(sql).fetchone()[0])

    def answers(self) -> Iterator[Answer]:
        """A record for each repeat tried, with its response or the error of its last attempt."""
        for row in self._db.execute(self._answers("")):
            yield _answer(row)

    def answers_to(self, query_key: str) -> list[Answer]:
        """A record for each tried repeat of a query, by repeat; [] for a query that was not sent."""
        return [
            _answer(row) for row in self._db.execute(self._answers(_OF_A_QUERY) + "ORDER BY a.repeat", (query_key,))
        ]

    def answers_tried(self, after: int, upto: int) -> list[Answer]:
        """A record for each repeat with an attempt in (`after`, `upto`]: its current response or its last attempt's
        error."""
        return [_answer(row) for row in self._db.execute(self._answers(_TRIED_LATELY), (after, upto))]

    def tells_usage(self) -> bool:
        """Whether the journal has reasoning tokens, cache-write tokens and costs, which `block` does not return."""
        return database.has_usage(self._db)

    def _answers(self, where: str) -> str:
        return _ANSWERS.format(where=where, **(_TOLD if database.has_usage(self._db) else _NOTHING_TOLD))

    def models(self) -> dict[str, int]:
        """Model name as reported by the server -> number of answers. Reads every answer."""
        sql = "SELECT model, count(*) FROM responses WHERE model IS NOT NULL GROUP BY model ORDER BY min(rowid)"
        return {str(model): count for model, count in self._db.execute(sql)}

    def last_attempt(self) -> int:
        """Number of the newest attempt; 0 before the first. While this number is unchanged, no attempt was added."""
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()[0])

    def totals(self) -> Totals:
        (answered,) = self._db.execute("SELECT count(*) FROM responses").fetchone()
        (attempts,) = self._db.execute("SELECT count(*) FROM attempts").fetchone()
        failed = dict(
            self._db.execute(
                """SELECT coalesce(error_kind, outcome), count(*) FROM attempts WHERE final = 1 AND id IN
                   (SELECT max(id) FROM attempts GROUP BY query_key, repeat) AND outcome != 'answered'
                   GROUP BY 1 ORDER BY 2 DESC"""
            ).fetchall()
        )
        tokens = self._db.execute(
            "SELECT sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens) FROM responses"
        ).fetchone()
        first, last = self._db.execute("SELECT min(first_request), max(last_commit) FROM sessions").fetchone()
        reasoning = written = None
        if database.has_usage(self._db):
            sums = "SELECT sum(reasoning_tokens), sum(cache_write_tokens) FROM usage"
            reasoning, written = self._db.execute(sums).fetchone()
        return Totals(answered, failed, attempts, tokens[0], tokens[1], tokens[2], first, last, reasoning, written)

    def latest_error(self) -> tuple[str, str] | None:
        """(kind, message) of the newest failed attempt; None where no attempt failed."""
        row: tuple[str, str] | None = self._db.execute(
            "SELECT error_kind, error FROM attempts WHERE outcome != 'answered' ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return row

    def check_integrity(self) -> list[str]:
        """Sentences on faults, found by SQLite's own check or in tables that contradict each other; empty if sound."""
        try:
            problems = [row[0] for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        except sqlite3.DatabaseError as error:
            return [str(error)]
        for rule, sql in (_RULES | (RULES if database.has_table(self._db, "comparisons") else {})).items():
            (count,) = self._db.execute(sql).fetchone()
            if count:
                problems.append(f"{count} {rule}")
        return problems + list(self._unknown_queries())

    def _unknown_queries(self) -> Iterator[str]:
        definition = self.meta().get("definition")
        if definition is None or definition.get("writes"):
            return
        criteria = {record["name"] for record in definition["criteria_records"]}
        for criterion, prompt in self._db.execute("SELECT DISTINCT criterion, eval_prompt FROM queries"):
            if prompt not in definition["eval_prompts"]:
                yield f"queries of Eval-Prompt {prompt!r}, which its definition does not have"
            elif criterion not in criteria and prompt not in definition.get("joint", {}):
                yield f"queries of criterion {criterion!r}, which its definition does not have"

    def key_of(self, story: str, criterion: str, eval_prompt: str) -> str | None:
        """Key of a tried query; None if there is none. It searches all queries."""
        sql = "SELECT key FROM queries WHERE story = ? AND criterion = ? AND eval_prompt = ?"
        row = self._db.execute(sql, (story, criterion, eval_prompt)).fetchone()
        return None if row is None else str(row[0])

    def queries(self) -> Iterator[tuple[str, str, str, str]]:
        """(key, story id, criterion, eval_prompt) of every query that was tried."""
        yield from self._db.execute("SELECT key, story, criterion, eval_prompt FROM queries")


def _answer(row: tuple[Any, ...]) -> Answer:
    key, story, criterion, eval_prompt, flags, repeat, tries, has_response = row[:8]
    outcome, kind, error = row[19:]
    response = None
    if has_response:
        response = _response(row[8:19])
        outcome, kind, error = "answered", None, None
    return Answer(
        query_key=key,
        story=story,
        criterion=criterion,
        eval_prompt=eval_prompt,
        repeat=repeat,
        outcome=outcome,
        response=response,
        error_kind=kind,
        error=error,
        flags=tuple(flags.split(";")) if flags else (),
        attempts=tries,
    )


def _response(row: tuple[Any, ...]) -> Response:
    text, finish, reasoning, prompt_tokens, completion_tokens, cached, logprobs, model, *usage = row
    return Response(
        text,
        finish,
        reasoning,
        prompt_tokens,
        completion_tokens,
        cached,
        None if logprobs is None else orjson.loads(logprobs),
        model,
        *usage,
    )
