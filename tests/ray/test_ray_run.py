"""Whole runs on real Ray against the loopback server: same journal, workers and drivers killed, shards cut."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.ray.engine import Cluster, sit_on_ray
from judge.asking.execution.ray.shards import read_shard
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.steering import steer
from judge.base.errors import JudgeError, SpecError
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
TWO = Cluster(actors=2)

# Ray leaves sockets and files to the end of the process, and warns of its own parts' futures.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(240)]


def definition(server: LoopbackServer, stories: Path, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1", "ep2", "ep3"],
        "repeats": 2,
        "generation": {"temperature": 1.0},
        "base_url": server.url,
        "concurrency": 4,
        "attempt_timeout": 5.0,
    }
    return data | changes


def sitting(server: LoopbackServer, stories: Path, folder: str = "results", **changes: Any) -> Sitting:
    limit = changes.pop("limit", None)
    spec = parse_run_spec(definition(server, stories, **changes), "test")
    return Sitting(spec, stories.parent, ResultFolder(stories.parent / folder), limit=limit, quiet=True)


def content(folder: Path) -> dict[tuple[str, int], tuple[Any, ...]]:
    """(query key, repeat) -> all that the answers of two executors must have in common."""
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.check_integrity() == []
        return {
            (a.query_key, a.repeat): (a.story, a.criterion, a.eval_prompt, a.outcome, a.flags, a.response)
            for a in journal.answers()
        }


def executors(folder: Path) -> set[str]:
    """Executors of the sessions that attempts belong to."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(folder / "journal.sqlite")) as db:
        return {r[0] for r in db.execute("SELECT executor FROM sessions WHERE id IN (SELECT session FROM attempts)")}


def test_a_run_on_ray_keeps_what_a_run_on_one_machine_keeps(ray: Any, loopback: Start, stories: Path) -> None:
    server = loopback(expected_repeats=2)
    # With a seed each repeat is a call of its own, and the server's answer depends on nothing else.
    alike = {"generation": {"temperature": 1.0, "seed": 7}}
    asked = sitting(server, stories, "on-ray", **alike)
    ended = sit_on_ray(asked, TWO)
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (360, 0, 360)
    assert (ended.totals.attempts, ended.outcomes.retries) == (360, 0)
    server.reset()
    sit(sitting(server, stories, "on-one-machine", **alike))
    assert content(stories.parent / "on-ray") == content(stories.parent / "on-one-machine")
    assert executors(stories.parent / "on-ray") == {"ray"}

    manifest = json.loads(asked.result.manifest.read_text())
    (note,) = manifest["sittings"]
    assert (note["executor"], note["ray"]["version"], note["ray"]["actors"]) == ("ray", ray.__version__, 2)
    assert note["ray"]["resources"]["CPU"] == 2.0
    assert note["stopped"] is None
    again = sit_on_ray(asked, TWO)
    assert (again.outcomes.answered, again.missing, again.totals.attempts) == (0, 0, 360)


def workers_of_this_process() -> list[int]:
    """Process ids of Ray's workers that run our stage, below this process."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if (entry / "cmdline").read_bytes().startswith(b"ray::MapWorker"):
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue

    def below(pid: int) -> bool:
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parents.get(pid, 0)
        return False

    return [pid for pid in found if below(pid)]


def test_a_worker_killed_by_its_id_loses_nothing_that_was_written(ray: Any, loopback: Start, stories: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server = loopback(latency_ms=120)
    asked = sitting(server, stories, repeats=1)
    block = 180 // (4 * 2) + 2  # rounded up to whole prefix groups, of three queries here

    def kill_one() -> int:
        server.wait(timeout=120, answered=60)
        pid = workers_of_this_process()[0]
        os.kill(pid, signal.SIGKILL)
        return pid

    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill_one)
        ended = sit_on_ray(asked, TWO)
        killed = killing.result()
    assert killed > 0
    assert (ended.totals.answered, ended.missing, ended.totals.failed) == (180, 0, {})
    assert len(content(asked.result.path)) == 180
    # Only what the killed worker had answered and not yet written is asked twice: its block at most.
    assert server.stats()["repeats_after_answer"] <= block


def rows_in(folder: Path, judge_key: str) -> set[tuple[str, int]]:
    return {
        (row["query_key"], row["repeat"])
        for path in folder.glob("derived/ray/*/part-*.parquet")
        for row in read_shard(path, judge_key)
    }


def test_a_driver_killed_and_a_shard_cut_short(ray: Any, loopback: Start, stories: Path) -> None:
    server = loopback(latency_ms=120)
    asked = sitting(server, stories, repeats=1)
    run = stories.parent / "run.yaml"
    run.write_text(json.dumps(definition(server, stories, repeats=1)))
    command = [sys.executable, "-m", "judge", "run", str(run), "--engine", "ray", "--ray-actors", "2", "--quiet"]
    driver = subprocess.Popen(
        [*command, "--output", str(asked.result.path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        server.wait(timeout=120, answered=100)
    finally:
        driver.kill()
        driver.communicate(timeout=20)
    time.sleep(2)  # Workers that lost their driver end by themselves.
    judge_key = asked.spec.judge_key()
    written = rows_in(asked.result.path, judge_key)
    assert written
    shards = sorted(asked.result.path.glob("derived/ray/*/part-*.parquet"))
    half = shards[0].with_name("part-9999999-cutshort-0.parquet")
    half.write_bytes(shards[0].read_bytes()[:400])
    in_flight = server.stats()["answered"] - len(written)
    assert in_flight <= 2 * (180 // (4 * 2) + 2)

    ended = sit_on_ray(asked, TWO)
    assert (ended.totals.answered, ended.missing) == (180, 0)
    kept = content(asked.result.path)
    assert len(kept) == 180
    assert written <= set(kept)
    assert server.stats()["repeats_after_answer"] <= in_flight
    notices = json.loads(asked.result.manifest.read_text())["sittings"][-1]["notices"]
    assert any(str(half) in notice and "half-written" in notice for notice in notices)
    assert half.stat().st_size == 400


def test_a_quota_stops_all_workers_and_failures_keep_their_type(ray: Any, loopback: Start, stories: Path) -> None:
    server = loopback(quota=20)
    ended = sit_on_ray(sitting(server, stories, repeats=1), TWO)
    assert ended.outcomes.cause is not None
    assert ended.outcomes.cause.kind == "quota"
    assert ended.totals.failed == {}
    assert 0 < ended.totals.answered <= 20
    assert ended.missing == 180 - ended.totals.answered
    # Some proper answers first, so that the failures are the queries' and stop nobody.
    server.configure(quota=None, p500=0.5, fault_mode="sticky")
    broken = sit_on_ray(sitting(server, stories, "sticky", repeats=1, max_attempts=1, limit=4), TWO)
    assert broken.totals.failed == {"server": broken.missing}
    assert 0 < broken.missing < 12


def test_a_run_is_paused_narrowed_and_stopped_from_another_terminal(ray: Any, loopback: Start, stories: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server = loopback(latency_ms=100)
    asked = sitting(server, stories, repeats=1)
    asked.result.path.mkdir(parents=True)
    steer(asked.result.path, send="pause")
    sent: list[int] = []

    def steered() -> None:
        # Paused from the start: nothing is sent, however long the workers are there.
        latest = time.monotonic() + 90
        try:
            while len(workers_of_this_process()) < 2:
                assert time.monotonic() < latest, "the workers did not come"
                time.sleep(0.2)
            time.sleep(4)
            sent.append(server.stats()["choices"])
            steer(asked.result.path, send="go", connections=2)
            server.wait(timeout=90, answered=20)
            steer(asked.result.path, send="pause")
            time.sleep(3)
            sent.append(server.stats()["choices"])
            time.sleep(3)
            sent.append(server.stats()["choices"])
        finally:
            # A run that stays paused would never end.
            steer(asked.result.path, send="stop")

    with ThreadPoolExecutor(1) as pool:
        steering = pool.submit(steered)
        ended = sit_on_ray(asked, TWO)
        steering.result()
    assert sent[0] == 0
    assert 20 <= sent[1] == sent[2] < 180
    assert ended.outcomes.stopped == "by judge status"
    assert ended.totals.answered == sent[2] == len(content(asked.result.path))
    # Two workers share what is allowed: one request each, though the definition says four.
    assert server.stats()["max_in_flight"] == 2
    steer(asked.result.path, send="go")
    again = sit_on_ray(asked, TWO)
    assert (again.totals.answered, again.missing, server.stats()["repeats_after_answer"]) == (180, 0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"judge": "surface"}, "not surface"),
        ({"max_cost": 1.0}, "max_cost cannot be kept"),
        ({"judge": "vllm/m", "structured": "json"}, "structured"),
        ({"judge": "vllm/m"}, "max_tokens"),
    ],
)
def test_what_ray_cannot_do_is_said(loopback: Start, stories: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        sit_on_ray(sitting(loopback(), stories, **changes), TWO)


def test_a_cluster_that_is_not_there_is_named(ray_installed: None, loopback: Start, stories: Path) -> None:
    server = loopback()
    run = stories.parent / "run.yaml"
    run.write_text(json.dumps(definition(server, stories)))
    command = [sys.executable, "-m", "judge", "run", str(run), "--engine", "ray", "--ray-address", "127.0.0.1:9"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1
    assert "no Ray cluster at 127.0.0.1:9" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert server.stats()["choices"] == 0


def test_without_ray_the_extra_is_named(loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(JudgeError, match=r"pip install .*\[ray\]"):
        sit_on_ray(sitting(loopback(), stories), TWO)
