"""The journal: what is committed stays, what is not is not counted, and its errors are sentences."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judge.answers.journal import Committed, JournalReader, JournalWriter
from judge.base.errors import BackendError, RunFolderError
from judge.base.records import Criterion, Generation, Message, Query, Rating, Response, Story

STORY = Story(
    "s1", "A prompt", "GPT", "A text.", "A reference.", (Rating("Overall", 4.0), Rating("Overall", 2.0, "r7"))
)
CRITERION = Criterion("Overall", "OV", "how good")


def query(number: int) -> Query:
    return Query(
        f"b2:{number:032x}", STORY, CRITERION, "ep1", (Message("user", "Rate it."),), Generation(), flags=("f",)
    )


def write(path: Path, *steps: object, replacing: bool = False) -> list[Committed]:
    """Apply (query, repeat, response or error[, final]) steps in one session; returns what each commit made durable."""
    commits: list[Committed] = []

    async def session() -> None:
        with JournalWriter(path, on_commit=commits.append, replacing=replacing) as writer:
            writer.start()
            for step in steps:
                asked, repeat, result, *final = step  # type: ignore[misc]
                if isinstance(result, BackendError):
                    writer.failed(asked, repeat, result, started=1.0, seconds=0.5, final=bool(final and final[0]))
                else:
                    writer.answered(asked, repeat, result, started=1.0, seconds=0.5)
            await writer.finish("done")

    if not path.exists():
        with JournalWriter(path) as writer:
            writer.add_stories([STORY])
    asyncio.run(session())
    return commits


def error(kind: str = "server", retryable: bool = True) -> BackendError:
    return BackendError("HTTP 500: boom", kind=kind, retryable=retryable, status=500)  # type: ignore[arg-type]


def test_stories_and_peoples_ratings_come_back_equal(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j.sqlite") as writer:
        assert writer.add_stories([STORY, Story("s2", "", "Human", "Ä\x00 text")]) == 2
        writer.set_meta({"notes": {"a": [1, None, "ü"]}})
    with JournalReader(tmp_path / "j.sqlite") as reader:
        assert list(reader.stories()) == [STORY, Story("s2", "", "Human", "Ä\x00 text")]
        assert [s.id for s in reader.stories(by_prompt=True)] == ["s2", "s1"]
        assert reader.meta() == {"notes": {"a": [1, None, "ü"]}}


def test_a_failed_import_of_stories_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> object:
        yield STORY
        raise ValueError("the file ended")

    with JournalWriter(tmp_path / "j.sqlite") as writer:
        with pytest.raises(ValueError, match="ended"):
            writer.add_stories(broken())  # type: ignore[arg-type]
        assert writer.add_stories([STORY]) == 1


def test_answers_keep_everything_the_server_said(tmp_path: Path) -> None:
    response = Response("4\n\nwhy", "stop", "hmm", 10, 5, 3, {"content": [0.5]}, "m-1")
    commits = write(tmp_path / "j.sqlite", (query(1), 0, response), (query(1), 1, Response("")))
    assert sum(c.answered for c in commits) == 2
    with JournalReader(tmp_path / "j.sqlite") as reader:
        first, second = sorted(reader.answers(), key=lambda a: a.repeat)
        assert (first.response, first.outcome, first.flags) == (response, "answered", ("f",))
        assert second.response == Response("")
        assert (first.story, first.criterion, first.eval_prompt) == ("s1", "Overall", "ep1")
        assert reader.recorded(query(1).key) == {0: response, 1: Response("")}
        totals = reader.totals()
        assert (totals.answered, totals.prompt_tokens, totals.completion_tokens, totals.cached_tokens) == (2, 10, 5, 3)
        assert totals.last_commit is not None
        assert totals.first_request is not None
        assert reader.check_integrity() == []


def test_only_final_failures_count_as_settled_and_retry_finds_them(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (query(1), 0, error()), (query(1), 1, error("timeout"), True), (query(1), 2, Response("3")))
    with JournalReader(path) as reader:
        assert reader.settled(query(1).key) == {1, 2}
        assert reader.failed(query(1).key) == {1}
        assert reader.settled_total() == 2
        assert reader.totals().failed == {"timeout": 1}
        outcomes = {a.repeat: (a.outcome, a.error_kind) for a in reader.answers()}
        assert outcomes == {0: ("provider_error", "server"), 1: ("timeout", "timeout"), 2: ("answered", None)}
        assert reader.latest_error() == ("timeout", "HTTP 500: boom")
    write(path, (query(1), 1, Response("5")))
    with JournalReader(path) as reader:
        assert reader.failed(query(1).key) == set()
        assert reader.totals().failed == {}
        assert reader.totals().attempts == 4


def test_a_repeat_has_one_accepted_response_and_a_replaced_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (query(1), 0, Response("no number")))
    with pytest.raises(sqlite3.IntegrityError):
        write(path, (query(1), 0, Response("4")))
    write(path, (query(1), 0, Response("4")), replacing=True)
    with JournalReader(path) as reader:
        assert reader.recorded(query(1).key) == {0: Response("4")}
        assert reader.replaced_total() == 1
        assert reader.check_integrity() == []


def test_rows_are_grouped_into_few_commits_and_counted_only_after_them(tmp_path: Path) -> None:
    commits = write(tmp_path / "j.sqlite", *((query(i), 0, Response("3")) for i in range(500)))
    assert sum(c.answered for c in commits) == 500
    assert len(commits) <= 3


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.journal.test_journal import STORY, query
from judge.answers.journal import JournalWriter
from judge.base.records import Response

async def main():
    with JournalWriter(Path(sys.argv[1])) as writer:
        writer.add_stories([STORY])
        counted = 0
        def committed(done):
            nonlocal counted
            counted += done.answered
            print(counted, flush=True)
            if counted >= 300:
                os.kill(os.getpid(), signal.SIGKILL)
        writer._on_commit = committed
        writer.start()
        for i in range(10_000):
            writer.answered(query(i), 0, Response("3"), started=0.0, seconds=0.0)
            if i % 100 == 0:
                await asyncio.sleep(0.02)
asyncio.run(main())
"""


def test_what_was_counted_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    root = str(Path(__file__).resolve().parents[2])
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), root], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == -9, process.stderr
    counted = int(process.stdout.split()[-1])
    with JournalReader(path) as reader:
        assert reader.totals().answered >= counted >= 300
        assert reader.check_integrity() == []


_OUTSIDER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    print(connection.execute("SELECT count(*) FROM responses").fetchone()[0])
connection.close()
"""


@pytest.mark.parametrize("reads", ["first", "later", "both", "never"])
def test_another_program_that_opens_the_journal_takes_no_answer_away(tmp_path: Path, reads: str) -> None:
    """SQLite deletes the log at the last close: whoever else closes must see that the writer is there."""
    path = tmp_path / "j.sqlite"
    write(path, (query(0), 0, Response("1")))

    async def session() -> list[str]:
        before = JournalReader(path) if reads in ("first", "both") else None
        counts = []
        with JournalWriter(path) as writer:
            writer.start()
            after = JournalReader(path) if reads in ("later", "both") else None
            for number in range(1, 4):
                writer.answered(query(number), 0, Response("4"), started=1.0, seconds=0.5)
                await asyncio.sleep(0.2)
                done = await asyncio.create_subprocess_exec(
                    sys.executable, "-c", _OUTSIDER, str(path), stdout=subprocess.PIPE
                )
                counts.append((await done.communicate())[0].decode().strip())
            await writer.finish("done")
        for reader in (before, after):
            if reader is not None:
                reader.close()
        return counts

    assert asyncio.run(session()) == ["2", "3", "4"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM responses").fetchone() == (4,)
        assert connection.execute("SELECT ended FROM sessions ORDER BY id DESC LIMIT 1").fetchone() == ("done",)


def test_a_journal_of_another_format_and_a_file_that_is_none_are_named(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    JournalWriter(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    db.close()
    with pytest.raises(RunFolderError, match="format 99; this program reads format 1"):
        JournalReader(path)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    with pytest.raises(RunFolderError, match="not a journal"):
        JournalReader(other)
    text = tmp_path / "text.sqlite"
    text.write_text("this is not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(RunFolderError, match="not a readable journal"):
        JournalReader(text)
    with pytest.raises(RunFolderError, match="does not exist"):
        JournalReader(tmp_path / "none.sqlite")


def test_a_full_disk_is_told_in_a_sentence_and_keeps_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (query(0), 0, Response("3")))

    async def fill() -> None:
        with JournalWriter(path) as writer:
            pages = writer._db.execute("PRAGMA page_count").fetchone()[0]
            # SQLite's own limit answers as a full disk does: SQLITE_FULL.
            writer._db.execute(f"PRAGMA max_page_count = {pages + 8}")
            writer.start()
            for i in range(1, 200):
                writer.answered(query(i), 0, Response("x" * 4000), started=0.0, seconds=0.0)
            await writer.finish("done")

    with pytest.raises(RunFolderError, match="the disk is full; everything answered before is kept"):
        asyncio.run(fill())
    with JournalReader(path) as reader:
        assert reader.totals().answered == 1


def test_adding_rows_fails_at_once_when_the_writer_broke(tmp_path: Path) -> None:
    async def broken() -> None:
        with JournalWriter(tmp_path / "j.sqlite") as writer:
            writer.start()
            writer._db.execute("PRAGMA query_only = 1")
            writer.answered(query(1), 0, Response("3"), started=0.0, seconds=0.0)
            await asyncio.sleep(0.2)
            await writer.room()

    with pytest.raises(RunFolderError, match="read-only"):
        asyncio.run(broken())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is not stopped by permissions; others test the folder below")
def test_reading_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (query(0), 0, Response("3")))
    path.chmod(0o400)
    with JournalReader(path) as reader:
        assert reader.totals().answered == 1


def test_a_journal_that_cannot_be_made_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="cannot be written"):
        JournalWriter(tmp_path / "missing" / "j.sqlite")


def test_reading_stories_holds_no_snapshot_so_the_log_can_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    stories = [Story(f"s{i}", f"prompt {i % 7}", "x", f"text {i}") for i in range(300)]
    with JournalWriter(path) as writer:
        writer.add_stories(stories)
    with JournalReader(path) as reader:
        reading = reader.stories(by_prompt=True)
        first = [next(reading) for _ in range(3)]
        write(path, (query(1), 0, Response("3")))
        assert reader.totals().answered == 1
        order = [*first, *reading]
        assert order == sorted(stories, key=lambda s: (s.story_prompt, int(s.id[1:])))
        assert list(reader.stories()) == stories
