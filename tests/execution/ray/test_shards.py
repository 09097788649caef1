"""Shards: whole or not at all, read back equal, refused where they are cut, of another judge or not ours."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from judge.asking.execution.ray import shards
from judge.asking.execution.ray.shards import ShardWriter, read_shard, settled_in, shards_in, unfinished_in
from judge.base.errors import BackendError, RunFolderError
from judge.base.records import Criterion, Generation, Message, Query, Response, Story

QUERY = Query(
    "b2:1", Story("s1", "p", "A", "t"), Criterion("Overall", "OV", "d"), "ep1", (Message("user", "q"),), Generation()
)
FULL = Response("Räting: 4\n", "stop", "thinking", 5, 3, 2, [{"token": "4"}], "m")


@pytest.fixture
def sitting(tmp_path: Path) -> Path:
    folder = tmp_path / "ray" / "sitting"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, block: str = "0000000", pause: float = 0.0) -> None:
    async def session() -> None:
        writer = ShardWriter(folder, block, "b2:judge")
        writer.start()
        writer.answered(QUERY, 0, FULL, started=1.0, seconds=0.25)
        await asyncio.sleep(pause)
        await writer.room()
        slow = BackendError("no answer within 5 s", kind="timeout", retryable=True)
        writer.failed(QUERY, 1, slow, started=2.0, seconds=5.0, final=False)
        refused = BackendError("HTTP 400", kind="context", retryable=False, status=400)
        writer.failed(QUERY, 2, refused, started=3.0, seconds=0.5, final=True)
        await writer.finish("done")
        assert writer.rows == 3

    asyncio.run(session())


def test_what_is_written_is_read_back_equal(sitting: Path) -> None:
    write(sitting)
    (path,) = shards_in(sitting.parent)
    answered, failed, given_up = read_shard(path, "b2:judge")
    told = (answered["text"], answered["finish_reason"], answered["reasoning"], answered["logprobs"])
    assert told == (FULL.text, "stop", "thinking", '[{"token":"4"}]')
    assert (answered["prompt_tokens"], answered["completion_tokens"], answered["cached_tokens"]) == (5, 3, 2)
    assert (failed["outcome"], failed["final"], failed["text"], failed["status"]) == ("timeout", False, None, None)
    assert (given_up["outcome"], given_up["final"], given_up["status"]) == ("provider_error", True, 400)
    assert given_up["error_kind"] == "context"
    assert settled_in(sitting, "0000000", "b2:judge") == {("b2:1", 0), ("b2:1", 2)}
    assert settled_in(sitting, "0000001", "b2:judge") == set()
    assert unfinished_in(sitting.parent) == []


def test_a_long_block_is_written_as_it_goes(sitting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "FLUSH_SECONDS", 0.05)
    write(sitting, pause=0.4)
    counts = [len(read_shard(path, "b2:judge")) for path in shards_in(sitting.parent)]
    assert (counts[0], sum(counts)) == (1, 3)


def test_the_end_of_a_block_waits_for_a_shard_that_is_being_written(
    sitting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, write_shard = threading.Event(), shards.write_shard

    def slowly(*given: Any) -> Path:
        begun.set()
        time.sleep(0.3)
        return write_shard(*given)

    async def session() -> list[Path]:
        writer = ShardWriter(sitting, "0000000", "b2:judge")
        writer.start()
        writer.answered(QUERY, 0, FULL, started=1.0, seconds=0.25)
        await asyncio.to_thread(begun.wait, 10)
        await writer.finish("done")
        return shards_in(sitting.parent)

    monkeypatch.setattr(shards, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(shards, "write_shard", slowly)
    (path,) = asyncio.run(session())
    assert len(read_shard(path, "b2:judge")) == 1


def test_a_shard_cut_anywhere_is_refused_and_stays_as_it_is(sitting: Path) -> None:
    write(sitting)
    (path,) = shards_in(sitting.parent)
    whole = path.read_bytes()
    for length in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(RunFolderError, match="half-written"):
            read_shard(path, "b2:judge")
        assert path.read_bytes() == whole[:length]
    assert settled_in(sitting, "0000000", "b2:judge") == set()


def test_what_a_killed_writer_left_is_no_shard(sitting: Path) -> None:
    left = sitting / "part-0000000-abc-0.parquet.new"
    left.write_bytes(b"PAR1")
    assert shards_in(sitting.parent) == []
    assert unfinished_in(sitting.parent) == [left]


def test_shards_of_another_judge_and_other_tables_are_refused(sitting: Path) -> None:
    write(sitting)
    (path,) = shards_in(sitting.parent)
    with pytest.raises(RunFolderError, match="another judge"):
        read_shard(path, "b2:other")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), path)
    with pytest.raises(RunFolderError, match="not a shard of this version"):
        read_shard(path, "b2:judge")
