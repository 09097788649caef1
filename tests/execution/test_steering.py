"""A run is steered from another process: pause, go on, fewer at a time, another budget, stop, ask failed ones again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.sending.runner import Limiter
from judge.asking.execution.sending.stopping import Account, Budget
from judge.asking.run_folder import ResultFolder, folder_cost
from judge.asking.run_folder.steering import STEERING, Steering, read_steering, steer
from judge.base.errors import RunFolderError
from judge.cli.main import main
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
STORIES, REPEATS = 12, 4
ALL = STORIES * REPEATS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    lines = [
        {"id": f"s{i}", "story_prompt": f"Story-prompt {i}", "system": f"system{i % 3}", "text": f"Story {i}: a lamp."}
        for i in range(STORIES)
    ]
    (tmp_path / "stories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return tmp_path


def define(folder: Path, server: LoopbackServer, **more: object) -> Path:
    """The result folder of a run of 48 requests, two at a time."""
    run = {
        "name": "steered",
        "dataset": "stories.jsonl",
        "judge": "openai/mock",
        "base_url": server.url,
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": REPEATS,
        "concurrency": 2,
        # A seed makes each repeat a request of its own.
        "generation": {"temperature": 1.0, "seed": 1},
        "attempt_timeout": 5.0,
    }
    (folder / "run.yaml").write_text(json.dumps(run | more), encoding="utf-8")
    return folder / "openai-mock"


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "judge", "run", str(folder), "--no-summary"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(20)


def status(folder: Path, *words: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(["status", str(folder), *(part for word in words for part in ("--set", word))])
    assert not end.value.code


def settled(result: Path) -> tuple[int, int]:
    """Answered and given-up repeats."""
    with JournalReader(result / "journal.sqlite") as journal:
        totals = journal.totals()
    return totals.answered, sum(totals.failed.values())


def attempts(result: Path) -> int:
    with JournalReader(result / "journal.sqlite") as journal:
        return journal.totals().attempts


def quiet(server: LoopbackServer, seconds: float) -> bool:
    """Whether no request arrives for so long, once those in flight are through."""
    time.sleep(1.0)
    before = server.stats()["requests"]
    time.sleep(seconds)
    return bool(server.stats()["requests"] == before)


def test_a_run_pauses_outlives_a_kill_and_goes_on_without_asking_twice(loopback: Start, folder: Path) -> None:
    server = loopback(latency_ms=60)
    result = define(folder, server)
    with running(folder) as process:
        server.wait(requests=6)
        status(folder, "send=pause")
        assert quiet(server, 1.0)
        paused_at = settled(result)[0]
        assert 0 < paused_at < ALL
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    with running(folder) as process:
        # What was set last holds: nothing is sent, neither the first request, which goes ahead of the others.
        time.sleep(2.5)
        assert quiet(server, 0.5)
        assert settled(result)[0] == paused_at
        status(folder, "send=go")
        assert process.wait(60) == 0
    assert settled(result) == (ALL, 0)
    assert attempts(result) == ALL
    # Each session that asks learns by up to three requests of its own how the server takes seeds and repeats.
    assert server.stats()["requests"] <= ALL + 6


def test_a_judge_is_dropped_and_taken_up_again(loopback: Start, folder: Path) -> None:
    server = loopback(latency_ms=60)
    result = define(folder, server)
    with running(folder) as process:
        server.wait(requests=6)
        status(folder, "send=stop")
        assert process.wait(60) != 0
    asked = settled(result)[0]
    assert 0 < asked < ALL
    with running(folder) as process:
        assert process.wait(60) != 0
    assert settled(result)[0] == asked
    status(folder, "send=go")
    with running(folder) as process:
        assert process.wait(60) == 0
    assert settled(result) == (ALL, 0)
    assert attempts(result) == ALL
    # Each session that asks learns by up to three requests of its own how the server takes seeds and repeats.
    assert server.stats()["requests"] <= ALL + 6


def test_fewer_requests_are_in_flight(loopback: Start, folder: Path) -> None:
    server = loopback(latency_ms=100)
    define(folder, server, concurrency=8, repeats=20)
    with running(folder) as process:
        server.wait(requests=40)
        status(folder, "connections=1")
        time.sleep(1.5)
        seen = [server.stats()["in_flight"] for _ in range(20)]
        assert max(seen) <= 1
        status(folder, "connections=8")
        assert process.wait(60) == 0


def test_a_stop_sends_nothing_of_what_waited_for_a_place(loopback: Start, folder: Path) -> None:
    server = loopback(latency_ms=300)
    define(folder, server, concurrency=8, repeats=20)
    with running(folder) as process:
        server.wait(requests=20)
        status(folder, "connections=1")
        time.sleep(1.5)
        status(folder, "send=stop")
        before = server.stats()["requests"]
        process.wait(60)
    # One was in flight, and one more may have begun before the run read what was set.
    assert server.stats()["requests"] <= before + 2


def test_a_budget_is_set_while_the_run_goes_on_and_raised(loopback: Start, folder: Path) -> None:
    # A prompt of this judge costs some cents, whatever its length.
    (folder / "home").mkdir()
    (folder / "home" / "prices.yaml").write_text("openai/mock: {input: 1000, output: 0}\n", encoding="utf-8")
    server = loopback(latency_ms=250)
    result = define(folder, server)
    with running(folder) as process:
        server.wait(requests=6)
        time.sleep(0.5)
        spent = folder_cost(ResultFolder(result)).dollars
        assert spent
        status(folder, f"max_cost={2 * spent}")
        assert process.wait(60) != 0
    reached = folder_cost(ResultFolder(result)).dollars
    assert reached
    # What is in flight when it is read, a quarter of a second after it was set, is paid for.
    each = reached / settled(result)[0]
    assert spent <= reached <= 2 * spent + 4 * each
    assert settled(result)[0] < ALL
    status(folder, "max_cost=100000")
    with running(folder) as process:
        assert process.wait(60) == 0
    assert settled(result) == (ALL, 0)


def test_given_up_repeats_are_asked_again_after_the_rest(loopback: Start, folder: Path) -> None:
    # Half of the prompts fail, always, until the server is mended.
    server = loopback(latency_ms=60, p500=0.5, fault_mode="sticky")
    result = define(folder, server, max_attempts=1)
    with running(folder) as process:
        # The journal has its tables before the first request.
        while not server.stats()["requests"] or not settled(result)[1]:
            time.sleep(0.1)
        server.configure(p500=0.0)
        status(folder, "again=failed")
        assert process.wait(60) == 0
    assert settled(result) == (ALL, 0)


def test_what_is_set_stays_beside_what_was_and_another_file_is_told(tmp_path: Path) -> None:
    steer(tmp_path, send="pause")
    steer(tmp_path, max_cost=5.0)
    assert steer(tmp_path, again=True) == Steering(send="pause", max_cost=5.0, again=1)
    assert read_steering(tmp_path).words == "paused, max_cost $5.0000"
    for written in ("{", '{"send": "now"}', '{"max_cost": -1}', '{"other": 1}', '{"connections": 0}', "[]"):
        (tmp_path / STEERING).write_text(written, encoding="utf-8")
        with pytest.raises(RunFolderError, match=STEERING):
            read_steering(tmp_path)


def test_steering_of_imported_ratings_and_wrong_numbers_are_refused(
    folder: Path, loopback: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    define(folder, loopback())
    (folder / "imported").mkdir()
    (folder / "imported" / "imported.csv").write_text("story,rating\n", encoding="utf-8")
    (folder / "imported" / "manifest.json").write_text("{}", encoding="utf-8")
    for words, said in (
        ([folder / "imported", "--set", "send=pause"], "nothing is asked there"),
        ([folder, "--set", "send=now"], "go, pause, stop"),
    ):
        with pytest.raises(SystemExit):
            main(["status", *map(str, words)])
        assert said in capsys.readouterr().err


def test_a_budget_that_comes_later_counts_what_is_in_flight() -> None:
    async def later() -> tuple[bool, int, bool]:
        account = Account()
        assert await account.admit()
        assert await account.admit()
        account.called(0.4)
        account.charge(Budget(1.0))
        fits = account.budgets[0]._fits(account)
        await account.settle()
        await account.settle()
        return fits, account.in_flight, await account.admit()

    # 0.4 spent, two in flight and one more at 0.4 each come to more than 1.
    assert asyncio.run(later()) == (False, 0, True)


def test_a_raised_limit_wakes_all_that_wait() -> None:
    async def raised() -> int:
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        limiter.declare(4)
        await asyncio.wait_for(asyncio.gather(*waiting), 1.0)
        return limiter.in_flight

    assert asyncio.run(raised()) == 4
