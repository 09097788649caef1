"""Class 7, in processes: a full disk at each write, two processes at once, annotators under kill -9, a storm of 429."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from judge.asking.execution.progress import Progress
from judge.asking.execution.sending import stopping as breaker
from judge.asking.run_folder import lock
from judge.base.errors import BackendError
from judge.explanations.audit.store import AuditStore
from tests.hardening.conftest import Call, Make, held
from tests.hardening.forks import files_end_at, forked
from tests.hardening.test_answers import Server, send
from tests.web.audits import make_audit

ROOT = Path(__file__).parents[2]


def forked_full(folder: Path, size: int, *arguments: object) -> tuple[int, str]:
    """A command in a process that may write no file longer than that, as on a full disk: (exit code, output)."""
    folder.mkdir(exist_ok=True)
    said = forked(folder, *arguments, before=files_end_at(size))
    return said.code, said.text


SIZES = [1, 4096, 12_288, 32_768, 57_344, 69_632, 90_112, 110_592]


def test_a_disk_that_is_full_at_any_write_loses_nothing(make: Make, call: Call, tmp_path: Path) -> None:
    reached = set()
    for number, size in enumerate(SIZES):
        place = make(f"run{number}", repeats=20)
        code, error = forked_full(tmp_path / "said", size, "run", place, "--quiet")
        assert "Traceback" not in error, (size, error)
        assert code in (0, 1, 3), (size, error)
        journal = place / "surface" / "journal.sqlite"
        reached.add(journal.stat().st_size if journal.is_file() else -1)
        again, _, error = call("run", place, "--quiet")
        assert (again, error) == (0, ""), (size, error)
        assert call("status", place)[0] == 0
    assert len(reached) >= 3


OUTPUTS = [
    ("ratings", "--format", "csv", "-o", "x"),
    ("ratings", "-o", "x.parquet"),
    ("ratings", "-o", "x.jsonl"),
    ("coverage", "--format", "json", "-o", "x"),
    ("report", "--resamples", "200", "-o", "x"),
    ("export", "--as", "bundle", "-o", "x.zip"),
    ("export", "--as", "irw", "-o", "x"),
    ("export", "--as", "hub", "-o", "x"),
]


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda one: " ".join(one[:-2]))
def test_an_output_is_whole_or_not_there(ran: Make, tmp_path: Path, output: tuple[str, ...]) -> None:
    place = ran(repeats=60)
    *command, name = output
    words = [command[0], place, *command[1:]]
    target = tmp_path / name
    for size in (0, 700):
        code, error = forked_full(tmp_path / "said", size, *words, target)
        if code == 2 and "No such option" in error:
            pytest.fail(error)
        # /dev/null-like logs are cut too, where the size is 0: only what is there counts then.
        assert code != 70 or size == 0, error
        left = [one for one in [target, *target.rglob("*")] if one.is_file()]
        assert all(one.stat().st_size < 700 and not one.name.endswith(".new") for one in left), left


def test_two_processes_do_not_write_one_folder(ran: Make, call: Call) -> None:
    place = ran()
    code = (
        "from pathlib import Path; from judge.asking.run_folder import lock; import time\n"
        f"with lock(Path({str(place / 'surface')!r})): print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "held\n"
        before = (place / "surface" / "journal.sqlite").read_bytes()
        held(call("run", place, "--quiet", "--set", "repeats=2"), "in use by another process")
        held(call("run", place, "--retry", "--quiet"), "in use by another process")
        # Whoever only reads is not held up.
        assert call("ratings", place)[0] == 0
        assert (place / "surface" / "journal.sqlite").read_bytes() == before
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    # A process that was killed holds nothing.
    with lock(place / "surface"):
        pass
    assert call("run", place, "--quiet", "--set", "repeats=2")[0] == 0


_SERVING = """
import sys
from pathlib import Path
from judge.explanations.audit.store import AuditStore
from judge.show.web.audit_annotators import Annotators
from judge.show.web.audit_pages import application
from judge.show.web.server import serve
store = AuditStore.open(Path(sys.argv[1]))
def build(access):
    print(access.token, flush=True)
    return application(store, access)
serve(build, port=0, quiet=True)
"""


def test_several_annotators_lose_no_confirmed_answer_to_kill_9(tmp_path: Path) -> None:
    names = ["Ada", "Bo", "Cy", "Di"]
    path = tmp_path / "audit.sqlite"
    with make_audit(path) as store:
        from judge.show.web.audit_annotators import Annotators

        for name in names:
            store.register(name)
        own = {name: Annotators(store).key(name) for name in names}
        audit, items = store.audit_id, store.item_count
    told: dict[tuple[str, int], str] = {}
    for turn in range(3):
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVING, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert server.stdout is not None
        token, address = server.stdout.readline().strip(), server.stdout.readline().strip()

        def annotate(name: str, token: str = token, address: str = address, turn: int = turn) -> None:
            for number in range(100_000):
                item, note = 1 + number % items, f"{turn}.{number}"
                said = {"audit": audit, "annotator": name, "own": own[name], "round": 1, "item": item}
                said |= {"values": {"poor_syntax": number % 2}, "note": note, "seconds": 1, "message": note}
                request = urllib.request.Request(f"{address}answers", json.dumps(said).encode(), method="POST")
                request.add_header("X-Judge-Token", token)
                try:
                    with urllib.request.urlopen(request, timeout=20) as answer:
                        assert answer.status == 200
                except OSError:
                    return
                told[name, item] = note

        threads = [threading.Thread(target=annotate, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while time.monotonic() < until and (
            len(told) < len(names) * items if turn == 0 else time.monotonic() < until - 19.5
        ):
            time.sleep(0.02)
        server.kill()
        for thread in threads:
            thread.join()
        server.wait()
        server.stdout.close()
    assert {name for name, _ in told} == set(names)
    with AuditStore.open(path, writing=False) as store:
        for (name, item), note in told.items():
            kept = store.state(name, item).note
            # One more may have been committed and the kill come before it was told.
            assert tuple(map(int, kept.split("."))) >= tuple(map(int, note.split("."))), (name, item, note, kept)


def test_a_storm_of_429_says_why(make: Make, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setitem(breaker._PATIENCE, "rate", 1.0)
    monkeypatch.setattr("judge.asking.execution.sending.stopping._IN_A_ROW", 4)
    monkeypatch.setattr("judge.asking.execution.progress._EVERY", 0.2)
    why = {"error": {"message": "Your quota of 40 requests a day is used up", "type": "requests", "code": "rate_limit"}}
    server = Server(lambda _, handler: send(handler, why, 429))
    try:
        place = make(judge="openai/mock", base_url=server.url, api_key_env="none", max_attempts=2)
        code, _, error = call("run", place)
        assert code in (1, 3)
        # On the progress line while it waits, and in the sentence at the end.
        assert "no answers: " in error
        assert "Your quota of 40 requests a day is used up" in error
    finally:
        server.close()
    assert call("status", place)[0] == 0


def test_the_progress_line_says_why_nothing_comes() -> None:
    trouble: list[str | None] = [None]
    line = Progress(10, parser=None, quiet=True, trouble=lambda: trouble[0])
    assert "no answers" not in line.line()
    trouble[0] = "http://x: 429\x1b[2J: your quota is used up\nand so on"
    assert "no answers: http://x: 429\\x1b[2J: your quota is used up and so on" in line.line()
    fuse = breaker.Breaker()
    for _ in range(3):
        assert fuse.trouble is None
        fuse.failed(BackendError("429: your quota is used up", kind="rate", retryable=True))
    assert fuse.trouble == "429: your quota is used up"
    fuse.answered()
    assert fuse.trouble is None


def test_refused_attempts_are_put_aside_and_not_deleted(make: Make, ran: Make, call: Call) -> None:
    place = ran()
    journal = place / "surface" / "journal.sqlite"
    base = sqlite3.connect(journal)
    base.execute("UPDATE attempts SET outcome = 'provider_error', final = 0, error_kind = 'refused', error = 'no'")
    base.execute("DELETE FROM responses")
    base.commit()
    before = base.execute("SELECT count(*) FROM attempts").fetchone()
    base.close()
    make(criteria="hanna")
    code, _, error = call("run", place, "--quiet", "--set", "generation.temperature=0.5")
    assert (code, error) == (0, "")
    base = sqlite3.connect(journal.with_name("journal.refused-1.sqlite"))
    assert base.execute("SELECT count(*) FROM attempts").fetchone() == before
    base.close()


@pytest.mark.parametrize("where", ["OPENAI_BASE_URL", "base_url"])
def test_a_password_in_an_address_is_in_no_file(
    make: Make, call: Call, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    address = "http://somebody:hunter2-hunter2@127.0.0.1:9/v1"
    changes = {"judge": "openai/mock", "api_key_env": "none", "max_attempts": 1}
    if where == "base_url":
        changes["base_url"] = address
    else:
        monkeypatch.setenv(where, address)
    place = make(**changes)
    code, shown, error = call("run", place)
    assert code in (1, 2, 3)
    assert "hunter2" not in shown + error
    for file in place.rglob("*"):
        if file.is_file() and file.name != "run.yaml":
            assert b"hunter2" not in file.read_bytes(), file


def test_a_batch_of_a_strangers_server_gets_no_key(make: Make, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567890abcdef")
    heard: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    port = listening.getsockname()[1]
    place = make(judge="openai/gpt-4o-mini")
    folder = place / "openai-gpt-4o-mini"
    folder.mkdir()
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({"judge": "openai/gpt-4o-mini", "asked": {"api_key_env": "OPENAI_API_KEY"}}))
    theirs = {
        "format": 1,
        "batches": [
            {"number": 1, "lines": 1, "repeats": 1, "base_url": f"http://127.0.0.1:{port}/v1", "status": "sent"}
            | {"id": "batch_1", "input_file_id": "file_1"}
        ],
    }
    (manifest.parent / "batches.json").write_text(json.dumps(theirs))
    stop = threading.Event()

    def hear() -> None:
        while not stop.is_set():
            try:
                line, _ = listening.accept()
            except TimeoutError:
                continue
            line.settimeout(2)
            heard.append(line.recv(65536).decode("latin-1"))
            line.close()

    thread = threading.Thread(target=hear)
    thread.start()
    try:
        for command in ("status", "collect"):
            code, shown, error = call("run", place, "--batch", command)
            assert "Traceback" not in error
            assert "sk-real" not in shown + error
            assert code in (1, 2), (shown, error)
    finally:
        stop.set()
        thread.join()
        listening.close()
    assert not any("sk-real" in one for one in heard), heard
