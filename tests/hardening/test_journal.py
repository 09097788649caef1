"""Class 7: failing machines: cut and flipped journals, lost logs, few descriptors, full disks, signals."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hardening.conftest import Call, Make, held


def table_of(call: Call, place: Path) -> tuple[int, str, str]:
    return call("ratings", place, "--format", "csv")


@pytest.mark.parametrize("seed", range(4))
def test_cuts_and_flips_give_a_sentence_or_what_stood_before(make: Make, call: Call, seed: int) -> None:
    place = make(repeats=3, eval_prompts=["ep1", "ep2"])
    assert call("run", place, "--quiet")[0] == 0
    code, good, _ = table_of(call, place)
    assert code == 0
    file = place / "surface" / "journal.sqlite"
    whole = file.read_bytes()
    rng = random.Random(seed)
    for number in range(50):
        shutil.rmtree(place / "surface" / "derived", ignore_errors=True)
        content = bytearray(whole)
        if number % 2:
            del content[rng.randrange(len(content)) :]
        else:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(bytes(content))
        code, shown, error = table_of(call, place)
        assert "Traceback" not in error
        # A flipped bit within a stored text is another text: SQLite keeps no sums, see SECURITY.md.
        assert code == 1 or shown == good or not number % 2


@pytest.mark.parametrize("cut", ["lost", "halved", "garbage"])
def test_a_lost_or_cut_log_leaves_what_was_before_it(make: Make, call: Call, cut: str) -> None:
    place = make()
    assert call("run", place, "--quiet")[0] == 0
    file = place / "surface" / "journal.sqlite"
    base = sqlite3.connect(file)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("UPDATE sessions SET ended = 'x'")
    base.commit()
    log = file.with_name(file.name + "-wal")
    kept = log.read_bytes()
    copy = place / "copy"
    copy.mkdir()
    shutil.copy(file, copy / file.name)
    base.close()
    for name in (file.name + "-wal", file.name + "-shm"):
        (file.parent / name).unlink(missing_ok=True)
    shutil.copy(copy / file.name, file)
    if cut != "lost":
        log.write_bytes(kept[: len(kept) // 2] if cut == "halved" else os.urandom(len(kept)))
    code, _, error = call("status", place)
    assert code in (0, 1)
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "change",
    [
        {"generation": {"temperature": 0.5}},
        {"eval_prompts": "./ep.jinja"},
        {"criteria": "hanna"},
        {"system": "You are a critic."},
        {"structured": "json"},
        {"dataset": "other.jsonl"},
        {"revision": "2"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_definition_edited_between_sittings_is_refused_or_kept_apart(make: Make, call: Call, change: dict) -> None:  # type: ignore[type-arg]
    place = make()
    assert call("run", place, "--quiet")[0] == 0
    file = place / "surface" / "journal.sqlite"
    before = sqlite3.connect(file).execute("SELECT key, text FROM queries JOIN responses ON key = query_key").fetchall()
    make(**change)
    (place / "ep.jinja").write_text("{{ story }} {{ criterion.name }}")
    lines = (place / "stories.jsonl").read_text()
    (place / "other.jsonl").write_text(lines.replace("went out", "came on"))
    code, _, error = call("run", place, "--quiet")
    assert "Traceback" not in error
    after = sqlite3.connect(file).execute("SELECT key, text FROM queries JOIN responses ON key = query_key").fetchall()
    assert set(before) <= set(after)
    assert code in (0, 1)
    if "dataset" in change or "generation" in change:
        assert "changed since it was started" in error


def test_a_text_that_changed_under_its_id_is_refused(make: Make, call: Call) -> None:
    place = make()
    assert call("run", place, "--quiet")[0] == 0
    stories = place / "stories.jsonl"
    stories.write_text(stories.read_text().replace("went out 1 times", "came on"))
    held(call("run", place, "--quiet", "--set", "repeats=2"), "the dataset's content")


def test_a_journal_without_a_definition_but_with_attempts_is_never_deleted(make: Make, call: Call) -> None:
    place = make()
    call("run", place, "--quiet")
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    base.execute("DELETE FROM meta WHERE key = 'definition'")
    base.execute("DELETE FROM responses")
    base.commit()
    base.close()
    held(call("run", place, "--quiet"), "nothing was changed")


def child(place: Path, before: str, *arguments: str) -> subprocess.Popen[str]:
    code = f"import resource, signal, sys\n{before}\nfrom judge.cli.main import main\nmain(sys.argv[1:])"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place)


@pytest.mark.parametrize(
    "limit",
    [
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
    ],
    ids=["64 files", "16 files", "disk full later", "disk full"],
)
def test_few_descriptors_and_full_disks_end_in_a_sentence(make: Make, call: Call, limit: str) -> None:
    place = make(repeats=100)
    ended = child(place, limit, "run", ".", "--quiet")
    _, error = ended.communicate(timeout=60)
    assert "Traceback" not in error
    assert ended.returncode in (0, 1, 3)
    # With room again, the same command goes on, or says what is wrong.
    code, _, error = call("run", place, "--quiet")
    assert (code, "Traceback" in error) == (0, False), error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_a_run_well(make: Make, number: signal.Signals) -> None:
    place = make(judge="openai/x", base_url="http://127.0.0.1:9/v1", api_key_env="none")
    code = (
        "import asyncio, os, signal, sys\n"
        "from judge.execution.interruption import Interruption\n"
        "async def go():\n"
        "    told = Interruption()\n"
        "    with told.caught():\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        await asyncio.sleep(0.2)\n"
        "    sys.exit(7 if told._pressed == 1 else 8)\n"
        "asyncio.run(go())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 7, done.stderr
    assert "stopping" in done.stderr


def test_nohup_is_respected(tmp_path: Path) -> None:
    code = (
        "import asyncio, os, signal\n"
        "from judge.execution.interruption import Interruption\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "async def go():\n"
        "    told = Interruption()\n"
        "    with told.caught():\n"
        "        os.kill(os.getpid(), signal.SIGHUP)\n"
        "        await asyncio.sleep(0.1)\n"
        "    assert told._pressed == 0\n"
        "asyncio.run(go())"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"x"', '{"judge": 4, "in_force": []}', '{"sittings": 4}'])
@pytest.mark.parametrize("command", ["status", "coverage"])
def test_a_damaged_manifest_ends_in_a_sentence(make: Make, call: Call, content: str, command: str) -> None:
    place = make()
    assert call("run", place, "--quiet")[0] == 0
    (place / "surface" / "manifest.json").write_text(content)
    code, _, error = call(command, place)
    assert code in (0, 1)
    assert "Traceback" not in error


def test_a_clock_that_jumps_back_loses_nothing(make: Make, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make()
    assert call("run", place, "--quiet")[0] == 0
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert call("run", place, "--quiet", "--set", "repeats=2")[0] == 0
    assert call("status", place)[0] == 0
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    assert base.execute("SELECT count(*) FROM responses").fetchone()[0] == 6
    base.close()
