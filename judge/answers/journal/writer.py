"""The journal's only writer: it collects rows and commits them in groups. A repeat is settled only after its commit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import comparing, database
from judge.answers.journal.database import COMMENTS, PANELS
from judge.base.errors import BackendError, JudgeError
from judge.base.foreign import whole_characters
from judge.base.records import Outcome, Pair, Rating, Request, Response, Story

# Seconds between group commits: at most this much answered work is asked again after a kill -9.
COMMIT_WINDOW = 0.03

# Rows waiting for a commit beyond which those who add rows must wait.
BACKLOG = 4096

_KEEP_REPLACED = "INSERT INTO replaced SELECT * FROM responses WHERE query_key = ? AND repeat = ?"
_DROP_REPLACED = "DELETE FROM responses WHERE query_key = ? AND repeat = ?"


@dataclass(frozen=True, slots=True)
class Committed:
    """Answers and repeats given up that one commit saved to disk."""

    answered: int
    failed: int


class JournalWriter:
    """Inserts rows on the caller's thread and commits them on another: a commit is one call that releases the
    interpreter lock, whereas inserts there would pass it back and forth for every row."""

    def __init__(
        self,
        path: Path,
        *,
        executor: str = "async",
        replacing: bool = False,
        on_commit: Callable[[Committed], None] | None = None,
    ) -> None:
        self.path = path
        self._replacing = replacing
        self._db = database.open_writing(path) if path.exists() else database.create(path)
        self._on_commit = on_commit
        self._queries: list[tuple[str, str, str, str, str]] = []
        self._attempts: list[tuple[Any, ...]] = []
        self._responses: list[tuple[Any, ...]] = []
        self._usage: list[tuple[Any, ...]] = []
        self._compared: list[comparing.Compared] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._stop = False
        self._failure: BaseException | None = None
        self._last_commit: float | None = None
        with database.sentences(path):
            cursor = self._db.execute("INSERT INTO sessions (started, executor) VALUES (?, ?)", (time.time(), executor))
            self.session = cursor.lastrowid
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Rows that are written once, before anything is asked.

    def set_meta(self, values: dict[str, Any]) -> None:
        """Store metadata, replacing earlier values, and commit at once."""
        rows = [(key, orjson.dumps(value).decode()) for key, value in values.items()]
        with database.transaction(self._db, self.path):
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def add_stories(self, stories: Iterable[Story]) -> int:
        """Store stories with people's ratings in one transaction, reading them one by one; the number of stories."""
        count = 0

        def rows() -> Iterator[tuple[int, str, str, str, str, str | None]]:
            nonlocal count
            for story in stories:
                yield count, story.id, story.story_prompt, story.system, story.text, story.reference
                # The story's own row is in the table by now.
                if story.ratings:
                    self._add_ratings(count, story.ratings)
                count += 1

        with database.transaction(self._db, self.path):
            self._db.executemany("INSERT INTO stories VALUES (?, ?, ?, ?, ?, ?)", rows())
        return count

    def add_pairs(self, planned: Iterable[tuple[int, str, str, str]]) -> int:
        """Store (number of the pair, pair, first story, second story) in plan order; the number of rows."""
        with database.transaction(self._db, self.path):
            return comparing.add_pairs(self._db, planned)

    def add_preferences(self, pairs: Iterable[Pair]) -> None:
        """Store people's preferences. Pairs without any are not stored."""
        with database.transaction(self._db, self.path):
            comparing.add_preferences(self._db, pairs)

    def _add_ratings(self, position: int, ratings: Sequence[Rating]) -> None:
        self._db.executemany(
            "INSERT INTO ratings VALUES (?, ?, ?, ?)", [(position, r.criterion, r.rater, r.value) for r in ratings]
        )
        written = [(position, index, rating.comment) for index, rating in enumerate(ratings) if rating.comment]
        if written:
            self._db.execute(COMMENTS)
            self._db.executemany("INSERT INTO comments VALUES (?, ?, ?)", written)
        panels = [(position, index, rating.panel) for index, rating in enumerate(ratings) if rating.panel is not None]
        if panels:
            self._db.execute(PANELS)
            self._db.executemany("INSERT INTO panels VALUES (?, ?, ?)", panels)

    # Rows that come while the run goes on.

    def answered(self, query: Request, repeat: int, response: Response, *, started: float, seconds: float) -> None:
        """Queue an accepted answer, whatever its content. `started` is in seconds since 1970, `seconds` the
        duration."""
        self._add_query(query)
        reported = database.reported(response)
        if reported is not None:
            self._usage.append((len(self._attempts), *reported))
        self._attempts.append((query.key, repeat, "answered", 1, started, seconds, self.session, 200, None, None))
        self._responses.append(
            (
                query.key,
                repeat,
                whole_characters(response.text),
                response.finish_reason,
                None if response.reasoning is None else whole_characters(response.reasoning),
                response.prompt_tokens,
                response.completion_tokens,
                response.cached_tokens,
                None if response.logprobs is None else orjson.dumps(response.logprobs).decode(),
                response.model,
            )
        )
        self._notify()

    def failed(
        self, query: Request, repeat: int, error: BackendError, *, started: float, seconds: float, final: bool
    ) -> None:
        """Queue an attempt without an answer. With `final` the repeat is given up: only asking for failed repeats
        requests it again."""
        outcome: Outcome = "provider_error"
        if error.kind in ("timeout", "filtered"):
            outcome = "timeout" if error.kind == "timeout" else "filtered"
        self._add_query(query)
        self._attempts.append(
            (
                query.key,
                repeat,
                outcome,
                int(final),
                started,
                seconds,
                self.session,
                error.status,
                error.kind,
                str(error)[:2000],
            )
        )
        self._notify()

    async def room(self) -> None:
        """Wait while too many rows are uncommitted. Raises the error that stopped the writer."""
        if self._failure is not None:
            raise self._failure
        if self._task is not None and self._task.done():
            self._task.result()
        if len(self._attempts) >= BACKLOG:
            self._drained.clear()
            await self._drained.wait()

    def start(self) -> None:
        """Begin to commit in the background. Must be called inside the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._commit_groups())

    async def finish(self, ended: str) -> None:
        """Commit the remaining rows and record how the session ended."""
        self._stop = True
        self._wake.set()
        if self._task is not None:
            await self._task
        if self._failure is not None:
            raise self._failure
        with database.sentences(self.path):
            values = (ended, self._last_commit, self.session)
            self._db.execute("UPDATE sessions SET ended = ?, last_commit = ? WHERE id = ?", values)

    def close(self) -> None:
        """Close the file. Rows not yet committed are dropped: `finish` commits them."""
        self._thread.shutdown(wait=True)
        self._db.close()

    # Group commit.

    def _add_query(self, query: Request) -> None:
        self._queries.append((query.key, *query.journal_names, ";".join(query.flags)))
        if (compared := comparing.compared(query)) is not None:
            self._compared.append(compared)

    def _notify(self) -> None:
        if len(self._attempts) == 1:
            self._wake.set()

    async def _commit_groups(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if not self._stop:
                    await asyncio.sleep(COMMIT_WINDOW)
                while self._attempts:
                    done = self._insert()
                    with database.sentences(self.path):
                        await loop.run_in_executor(self._thread, self._db.commit)
                    self._last_commit = time.time()
                    if self._on_commit is not None:
                        self._on_commit(done)
                    self._drained.set()
                if self._stop:
                    return
        except JudgeError as error:
            self._failure = error
            self._drained.set()

    def _insert(self) -> Committed:
        queries, self._queries = self._queries, []
        attempts, self._attempts = self._attempts, []
        responses, self._responses = self._responses, []
        usage_rows, self._usage = self._usage, []
        compared, self._compared = self._compared, []
        with database.sentences(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            database.keep(self._db, usage_rows)
            self._db.executemany("INSERT OR IGNORE INTO queries VALUES (?, ?, ?, ?, ?)", queries)
            comparing.keep(self._db, compared)
            self._db.executemany(
                "INSERT INTO attempts (query_key, repeat, outcome, final, started, seconds, session, status,"
                " error_kind, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                attempts,
            )
            if self._replacing:
                self._db.executemany(_KEEP_REPLACED, [row[:2] for row in responses])
                self._db.executemany(_DROP_REPLACED, [row[:2] for row in responses])
            self._db.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", responses)
            self._db.execute(
                "UPDATE sessions SET first_request = coalesce(first_request, ?), last_commit = ? WHERE id = ?",
                (min(row[4] for row in attempts), self._last_commit, self.session),
            )
        failed = sum(1 for row in attempts if row[2] != "answered" and row[3])
        return Committed(answered=len(responses), failed=failed)
