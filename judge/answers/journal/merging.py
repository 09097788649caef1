"""Merges shards into a journal: each attempt enters exactly once, and an answer is never replaced.

A shard is a complete file of attempts that a worker process elsewhere wrote. All rows of a shard and its name enter in
one transaction, so a killed process leaves the shard either entirely in the journal or not at all. A shard whose name
is already in the journal is skipped. Rows about a repeat that already has an answer are counted as duplicates and left
out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.answers.journal import comparing, database, usage
from judge.answers.journal.schema import SHARDS
from judge.base.errors import RunFolderError

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
    """Result of a merge into a journal: number of repeats answered, of repeats given up, and of rows left out because
    their repeat already had an answer.
    """

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
        """Close the journal's file."""
        self._db.close()

    def names(self) -> set[str]:
        """Names of the shards (files of attempts from workers) that are already merged into this journal."""
        return {row[0] for row in self._db.execute("SELECT name FROM shards")}

    def merge(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Merged:
        """Copy the rows of a shard into the journal in one transaction, and return the counts of this merge.

        Rows about a repeat that already has an answer are left out. A shard whose name was merged before is skipped,
        and all counts are then 0.
        """
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
        """Record in the journal how the session that merges shards ended."""
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
        comparing.keep(
            self._db, {(row["query_key"], row["pair"], row["second"]) for row in rows if row.get("pair") is not None}
        )
        fresh = list(self._fresh(rows))
        with_usage = (
            (index, row) for index, row in enumerate(fresh) if any(row.get(key) is not None for key in usage.KEYS)
        )
        usage.keep(self._db, [(index, *usage.usage_in(row)) for index, row in with_usage])
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
        """Rows of a shard about repeats that have no answer yet. A row with an answer is yielded after the answer was
        stored in the journal.
        """
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
