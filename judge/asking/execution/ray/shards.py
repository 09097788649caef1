"""Shards: Parquet files of attempts that Ray workers write whole and never change,
`derived/ray/<session>/part-<block>-<writer>-<n>.parquet`. One is written under another name (`.parquet.new`),
synchronised to the disk, and renamed. An incomplete one is refused with a message and left unchanged."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import BackendError, MissingExtraError, RunFolderError
from judge.base.records import Commission, Outcome, Request, Response

FORMAT = "judge-shard/1"
# Not `whole_file.draft`: what a worker that was killed left is found, and told, by this ending.
UNFINISHED = ".parquet.new"

# Seconds between two shards of a block: at most this much of its work is asked again after a worker is killed.
#
# A day on 64 clients makes 370,000 files of them; fewer seconds would make more.
FLUSH_SECONDS = 15.0

_TEXT = ("query_key", "story", "criterion", "eval_prompt", "flags", "outcome", "error_kind", "error")
_TEXT_OF_RESPONSE = ("text", "finish_reason", "reasoning", "logprobs", "model")
_COUNTS = ("repeat", "status", "prompt_tokens", "completion_tokens", "cached_tokens")
_TIMES = ("started", "seconds")
# Columns of shards in which some answer has one of them; other shards are as they were before there were these.
_USAGE = ("reasoning_tokens", "cache_write_tokens", "cost")


# Columns of shards of a run that compares: the pair, and the story shown second.
_COMPARED = ("pair", "second")


def attempt_row(query: Request, repeat: int, *, started: float, seconds: float) -> dict[str, Any]:
    """Fields that rows of answers and failures share. `started` is in seconds since 1970, `seconds` the duration."""
    story, criterion, eval_prompt = query.journal_names
    return {
        "query_key": query.key,
        "story": story,
        "criterion": criterion,
        "eval_prompt": eval_prompt,
        "flags": ";".join(query.flags),
        "repeat": repeat,
        "started": started,
        "seconds": seconds,
        **_compared(query),
    }


def _compared(query: Request) -> dict[str, Any]:
    if isinstance(query, Commission) or query.other is None:
        return {}
    return {"pair": query.pair, "second": query.other.id}


def answered_row(
    query: Request, repeat: int, response: Response, *, started: float, seconds: float, status: int | None
) -> dict[str, Any]:
    """Row of an accepted answer. `status` is the HTTP status; None without HTTP."""
    return attempt_row(query, repeat, started=started, seconds=seconds) | {
        "outcome": "answered",
        "final": True,
        "status": status,
        "text": response.text,
        "finish_reason": response.finish_reason,
        "reasoning": response.reasoning,
        "prompt_tokens": response.prompt_tokens,
        "completion_tokens": response.completion_tokens,
        "cached_tokens": response.cached_tokens,
        "logprobs": None if response.logprobs is None else orjson.dumps(response.logprobs).decode(),
        "model": response.model,
        **{name: value for name in _USAGE if (value := getattr(response, name)) is not None},
    }


def failed_row(
    query: Request, repeat: int, error: BackendError, *, started: float, seconds: float, final: bool
) -> dict[str, Any]:
    """Row of an attempt without an answer. `final`: the repeat was given up."""
    outcome: Outcome = "provider_error"
    if error.kind in ("timeout", "filtered"):
        outcome = "timeout" if error.kind == "timeout" else "filtered"
    return attempt_row(query, repeat, started=started, seconds=seconds) | {
        "outcome": outcome,
        "final": final,
        "status": error.status,
        "error_kind": error.kind,
        "error": str(error)[:2000],
    }


def write_shard(folder: Path, name: str, rows: Sequence[dict[str, Any]], judge_key: str) -> Path:
    """Write rows as `<name>.parquet`, marked with `judge_key`; its path once the file is durable."""
    arrow, parquet = _arrow()
    has_usage = any(name in row for row in rows for name in _USAGE)
    compared = any("pair" in row for row in rows)
    table = arrow.Table.from_pylist(list(rows), schema=_schema(judge_key, usage=has_usage, compared=compared))
    path, unfinished = folder / f"{name}.parquet", folder / f"{name}{UNFINISHED}"
    with unfinished.open("wb") as stream:
        parquet.write_table(table, stream, compression="zstd")
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.replace(path)
    with contextlib.suppress(OSError):  # a file system that cannot sync a folder keeps names in its own way
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return path


def read_shard(path: Path, judge_key: str) -> list[dict[str, Any]]:
    """All rows of a shard. Raises RunFolderError for an incomplete one, or another judge's."""
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise RunFolderError(
            f"{path} is half-written or not Parquet ({str(error).splitlines()[0][:120]}); it was left alone and what "
            f"it may hold is asked again",
            hint="delete it, or put a whole copy in its place and run again",
        ) from error
    metadata = table.schema.metadata or {}
    if metadata.get(b"judge.format") != FORMAT.encode() or not any(
        table.schema.equals(_schema(judge_key, usage=has_usage, compared=compared))
        for has_usage in (False, True)
        for compared in (False, True)
    ):
        raise RunFolderError(f"{path} is not a shard of this version; it was left alone")
    if metadata.get(b"judge.judge_key") != judge_key.encode():
        raise RunFolderError(
            f"{path} holds the answers of another judge; it was left alone", hint="move it back to the run it is from"
        )
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def shards_in(folder: Path) -> list[Path]:
    """The shards in the session folders below `folder`, the oldest session's first."""
    return sorted(folder.glob("*/part-*.parquet"))


def unfinished_in(folder: Path) -> list[Path]:
    """Files in the session folders that were incomplete when their writer ended."""
    return sorted(folder.glob(f"*/part-*{UNFINISHED}"))


class ShardWriter:
    """Stores a Ray worker's attempts in shards, one every few seconds and one at the end, like the journal's writer."""

    def __init__(self, folder: Path, block: str, judge_key: str) -> None:
        self.rows = 0
        self._folder = folder
        self._judge_key = judge_key
        # Two workers may have the same block after one was given up for dead: names are each writer's own.
        self._name = f"part-{block}-{uuid.uuid4().hex[:8]}"
        self._written = 0
        self._waiting: list[dict[str, Any]] = []
        self._task: asyncio.Task[None] | None = None
        self._begun: asyncio.Task[None] | None = None

    def answered(self, query: Request, repeat: int, response: Response, *, started: float, seconds: float) -> None:
        """Store an accepted answer, whatever its content."""
        self._waiting.append(answered_row(query, repeat, response, started=started, seconds=seconds, status=200))

    def failed(
        self, query: Request, repeat: int, error: BackendError, *, started: float, seconds: float, final: bool
    ) -> None:
        """Store an attempt without an answer. `final`: the repeat was given up."""
        self._waiting.append(failed_row(query, repeat, error, started=started, seconds=seconds, final=final))

    def start(self) -> None:
        """Start writing shards in the background; call inside the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._write_often())

    async def room(self) -> None:
        """Raise the error that stopped the background writer. Never waits: a shard's length is not limited."""
        if self._task is not None and self._task.done():
            self._task.result()

    async def finish(self, ended: str) -> None:  # noqa: ARG002  a shard holds attempts; the journal notes how it ended
        """Write the remaining attempts to a last shard."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._begun is not None:  # a shard just begun: its rows are no longer among those that wait
            await self._begun
        await self._write()

    async def _write_often(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self._begun = asyncio.get_running_loop().create_task(self._write())
            await asyncio.shield(self._begun)

    async def _write(self) -> None:
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        name = f"{self._name}-{self._written}"
        self._written += 1
        self.rows += len(rows)
        await asyncio.to_thread(write_shard, self._folder, name, rows, self._judge_key)


def settled_in(folder: Path, block: str, judge_key: str) -> set[tuple[str, int]]:
    """(query key, repeat) that an earlier worker settled in a block, by its complete shards in `folder`."""
    settled: set[tuple[str, int]] = set()
    for path in folder.glob(f"part-{block}-*.parquet"):
        with contextlib.suppress(RunFolderError):
            settled |= {(row["query_key"], row["repeat"]) for row in read_shard(path, judge_key) if row["final"]}
    return settled


def _schema(judge_key: str, *, usage: bool, compared: bool) -> Any:
    arrow, _ = _arrow()
    fields = [
        *((name, arrow.string()) for name in (*_TEXT, *_TEXT_OF_RESPONSE)),
        *((name, arrow.int64()) for name in _COUNTS),
        *((name, arrow.float64()) for name in _TIMES),
        ("final", arrow.bool_()),
        *((name, arrow.float64() if name == "cost" else arrow.int64()) for name in _USAGE if usage),
        *((name, arrow.string()) for name in _COMPARED if compared),
    ]
    return arrow.schema(fields, metadata={"judge.format": FORMAT, "judge.judge_key": judge_key})


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("a shard in Parquet", "ray") from None
    return pyarrow, pyarrow.parquet
