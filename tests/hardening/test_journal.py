"""Class 7: failing machines: cut and flipped journals, lost logs, few descriptors, full disks, signals."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.hardening.conftest import Call, Make, held


def table_of(call: Call, place: Path) -> tuple[int, str, str]:
    return call("ratings", place, "--format", "csv")


TRIALS = int(os.environ.get("JUDGE_DAMAGES", "10"))
"""Of each seed; the whole bar of 200 is `JUDGE_DAMAGES=50`."""


def damaged(whole: bytes, rng: random.Random) -> bytes:
    """A cut, a flipped bit, several, a page of zeros, or a page that took the place of another."""
    content = bytearray(whole)
    kind = rng.choice(["cut", "bit", "bit", "bits", "zeros", "page"])
    if kind == "cut":
        del content[rng.randrange(len(content)) :]
    elif kind in ("bit", "bits"):
        for _ in range(1 if kind == "bit" else 8):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    else:
        page, other = (4096 * rng.randrange(len(content) // 4096) for _ in range(2))
        content[page : page + 4096] = bytes(4096) if kind == "zeros" else content[other : other + 4096]
    return bytes(content)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_and_flips_give_a_sentence_or_the_same_table(ran: Make, call: Call, seed: int) -> None:
    place = ran(repeats=3, eval_prompts=["ep1", "ep2"])
    code, good, _ = table_of(call, place)
    assert code == 0
    file = place / "surface" / "journal.sqlite"
    whole = file.read_bytes()
    rng = random.Random(seed)
    refused = 0
    for _ in range(TRIALS):
        shutil.rmtree(place / "surface" / "derived", ignore_errors=True)
        file.write_bytes(damaged(whole, rng))
        code, shown, error = table_of(call, place)
        assert "Traceback" not in error
        assert (code == 1 and "journal.sqlite" in error) or (code == 0 and shown == good)
        refused += code
    assert refused > TRIALS / 2
    file.write_bytes(whole)
    assert table_of(call, place)[:2] == (0, good)


def flipped_text(place: Path) -> Path:
    """The journal with another letter in a story, which nothing but a sum tells."""
    file = place / "surface" / "journal.sqlite"
    content = file.read_bytes()
    assert content.count(b"The lamp went out 1 times.") == 1
    file.write_bytes(content.replace(b"The lamp went out 1 times.", b"The lamp went out 3 times."))
    return file


@pytest.mark.parametrize(
    "command",
    [
        ("ratings",),
        ("coverage",),
        ("status",),
        ("run",),
        ("run", "--retry"),
        ("status", "--verify"),
        ("export", "--as", "bundle", "--output", "x.zip"),
    ],
)
def test_a_flipped_letter_is_no_other_text(
    ran: Make, call: Call, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    place = ran()
    monkeypatch.chdir(place)
    file = flipped_text(place)
    before = file.read_bytes()
    held(call(command[0], place, *command[1:]), "is damaged")
    # Nobody puts the sum of the damage in the place of the old one.
    assert file.read_bytes() == before
    held(call("ratings", place), "is damaged")
    file.with_name("journal.sqlite.sum").unlink()
    assert call("ratings", place)[0] == 0


def test_what_another_program_or_version_wrote_is_no_damage(ran: Make, call: Call) -> None:
    place = ran()
    file = place / "surface" / "journal.sqlite"
    base = sqlite3.connect(file)
    base.execute("UPDATE sessions SET ended = 'x'")
    base.commit()
    base.close()
    assert call("ratings", place)[0] == 0
    assert call("run", place, "--quiet", "--set", "repeats=2")[0] == 0
    flipped_text(place)
    held(call("ratings", place), "is damaged")


def test_a_journal_in_the_place_of_another_is_no_damage(make: Make, call: Call) -> None:
    mine, other = make("mine"), make("other", name="mine")
    for place in (mine, other):
        assert call("run", place, "--quiet")[0] == 0
    shutil.copy(other / "surface" / "journal.sqlite", mine / "surface" / "journal.sqlite")
    assert call("ratings", mine)[0] == 0
    (mine / "surface" / "journal.sqlite").unlink()
    assert call("run", mine, "--quiet")[0] == 0
    assert call("ratings", mine)[0] == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b'{"changes": "x"}'])
def test_a_damaged_sum_is_a_sentence_or_none(ran: Make, call: Call, content: bytes) -> None:
    place = ran()
    (place / "surface" / "journal.sqlite.sum").write_bytes(content)
    assert call("ratings", place)[0] == 0


@pytest.mark.parametrize("cut", ["lost", "halved", "garbage"])
def test_a_lost_or_cut_log_leaves_what_was_before_it(ran: Make, call: Call, cut: str) -> None:
    place = ran()
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


def answers(file: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as base:
        return base.execute("SELECT key, text FROM queries JOIN responses ON key = query_key").fetchall()


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
def test_a_definition_edited_between_sittings_is_refused_or_kept_apart(
    make: Make, ran: Make, call: Call, change: dict
) -> None:  # type: ignore[type-arg]
    place = ran()
    file = place / "surface" / "journal.sqlite"
    before = answers(file)
    make(**change)
    (place / "ep.jinja").write_text("{{ story }} {{ criterion.name }}")
    lines = (place / "stories.jsonl").read_text()
    (place / "other.jsonl").write_text(lines.replace("went out", "came on"))
    code, _, error = call("run", place, "--quiet")
    assert "Traceback" not in error
    after = answers(file)
    assert set(before) <= set(after)
    assert code in (0, 1)
    if "dataset" in change or "generation" in change:
        assert "changed since it was started" in error


def test_a_text_that_changed_under_its_id_is_refused(ran: Make, call: Call) -> None:
    place = ran()
    stories = place / "stories.jsonl"
    stories.write_text(stories.read_text().replace("went out 1 times", "came on"))
    held(call("run", place, "--quiet", "--set", "repeats=2"), "the dataset's content")


def test_a_journal_without_a_definition_but_with_attempts_is_never_deleted(ran: Make, call: Call) -> None:
    place = ran()
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    base.execute("DELETE FROM meta WHERE key = 'definition'")
    base.execute("DELETE FROM responses")
    base.commit()
    attempts = base.execute("SELECT * FROM attempts").fetchall()
    base.close()
    held(call("run", place, "--quiet"), "nothing was changed")
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    assert base.execute("SELECT * FROM attempts").fetchall() == attempts
    assert attempts
    base.close()


def child(place: Path, before: str, *arguments: str) -> subprocess.Popen[str]:
    code = f"import resource, signal, sys\n{before}\nfrom judge.cli.main import main\nmain(sys.argv[1:])"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place)


@pytest.mark.parametrize(
    "limit",
    [
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))",
    ],
    ids=["64 files", "16 files"],
)
def test_few_descriptors_end_in_a_sentence(make: Make, call: Call, limit: str) -> None:
    place = make(repeats=10)
    ended = child(place, limit, "run", ".", "--quiet")
    _, error = ended.communicate(timeout=60)
    assert "Traceback" not in error
    assert ended.returncode in (0, 1, 3)
    # With room again, the same command goes on, or says what is wrong.
    code, _, error = call("run", place, "--quiet")
    assert (code, "Traceback" in error) == (0, False), error


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"x"', '{"judge": 4, "in_force": []}', '{"sittings": 4}'])
@pytest.mark.parametrize("command", ["status", "coverage"])
def test_a_damaged_manifest_ends_in_a_sentence(ran: Make, call: Call, content: str, command: str) -> None:
    place = ran()
    (place / "surface" / "manifest.json").write_text(content)
    code, _, error = call(command, place)
    assert code in (0, 1)
    assert "Traceback" not in error


_SIGNALLED = """
import asyncio, os, signal
from judge.asking.execution.sending.runner import Interruption
async def pressed(number, before):
    signal.signal(number, before)
    told = Interruption()
    with told.caught():
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.1)
    return told._pressed
for name in ("SIGTERM", "SIGINT", "SIGHUP"):
    before = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    print(name, asyncio.run(pressed(getattr(signal, name), before)))
print("nohup", asyncio.run(pressed(signal.SIGHUP, signal.SIG_IGN)))
"""


def test_signals_end_a_run_well_and_nohup_is_respected(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SIGNALLED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["SIGTERM 1", "SIGINT 1", "SIGHUP 1", "nohup 0"], done.stderr
    assert done.stderr.count("stopping") == 3
