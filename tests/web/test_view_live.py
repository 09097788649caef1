"""`judge view` beside runs that are being written, killed, broken or not ours: figures follow, and nothing is a 500."""

from __future__ import annotations

import html
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Counted, count
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import load_run_spec
from judge.asking.run_folder import ResultFolder
from judge.show.web.view.app import view_app
from judge.show.web.view.runs import Runs
from tests.server.loopback import LoopbackServer
from tests.web.conftest import Served, working_here
from tests.web.view_runs import attempts, computed, define, finish, make_run, start, until

Serve = Callable[..., Served]
Loopback = Callable[..., LoopbackServer]
_ANSWERED = re.compile(r"<b>([\d,]+)</b> of ([\d,]+) answered")


def _answered(text: str) -> int:
    found = _ANSWERED.search(text)
    return int(found[1].replace(",", "")) if found else 0


def _api_run(runs: Path, server: LoopbackServer, **keys: object) -> Path:
    keys = {"judge": "openai/mock-judge", "base_url": f"{server.url}/v1", "concurrency": 2, "repeats": 1} | keys
    return define(runs, "live", **keys)


def test_a_run_appears_and_its_figures_follow_it(served: Serve, loopback: Loopback, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    server = served(lambda access: view_app(runs, access))
    assert "There are no runs" in server.ask()[2]
    mock = loopback(latency_ms=120, fixed_text="Rating: 4")
    run = _api_run(runs, mock)
    text = until(lambda: t if "no results yet" in (t := server.ask("/part/runs")[2]) else None)
    assert "There are no runs" not in text
    process = start(run)
    first = until(lambda: t if 0 < _answered(t := server.ask("/part/runs")[2]) < 54 else None)
    assert ">running</span>" in first
    assert "of 54 answered" in first
    assert re.search(r"<b>[\d.]+ s</b> left|<b>\d+ s</b> left", first), first
    later = until(lambda: t if _answered(t := server.ask("/part/runs")[2]) > _answered(first) else None)
    assert "<b>100 %</b> of the newest" in later
    assert server.ask("/run/live/judgments")[0] == 200
    finish(process)
    done = until(lambda: t if ">done</span>" in (t := server.ask("/run/live/part/standing")[2]) else None)
    assert _answered(done) == 54
    shown = computed(server, "/run/live")
    assert shown.count(">100 %</a>") == 6


def test_a_killed_run_is_stopped_and_goes_on(served: Serve, loopback: Loopback, tmp_path: Path) -> None:
    mock = loopback(latency_ms=100, fixed_text="Rating: 4")
    run = _api_run(tmp_path, mock)
    journal = run / "openai-mock-judge" / "journal.sqlite"
    process = start(run)
    until(lambda: attempts(journal) > 5)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    server = served(lambda access: view_app(tmp_path, access))
    text = until(lambda: t if ">stopped</span>" in (t := server.ask("/part/runs")[2]) else None)
    assert 0 < _answered(text) < 54
    finish(start(run))
    text = until(lambda: t if ">done</span>" in (t := server.ask("/part/runs")[2]) else None)
    assert _answered(text) == 54


@working_here()
def test_failures_are_counted_by_cause(served: Serve, loopback: Loopback, tmp_path: Path) -> None:
    mock = loopback(p500=0.4, fault_mode="sticky", seed=2)
    run = _api_run(tmp_path, mock, max_attempts=1, concurrency=8)
    finish(start(run), 3)
    journal = run / "openai-mock-judge" / "journal.sqlite"
    with JournalReader(journal) as reader:
        totals = reader.totals()
    counted = count(journal)
    assert counted.failed == dict(totals.failed)
    assert (counted.answered, counted.prompt_tokens) == (totals.answered, totals.prompt_tokens)
    assert counted.completion_tokens == totals.completion_tokens
    server = served(lambda access: view_app(tmp_path, access))
    text = until(lambda: t if "given up" in (t := server.ask("/part/runs")[2]) else None)
    assert f"{sum(totals.failed.values())} server" in text
    assert "done, some given up" in text
    shown = computed(server, "/run/live")
    assert "not_answered" in shown
    shown = computed(server, "/run/live/judgments?status=not_answered")
    assert shown.count(">not_answered</span>") == sum(totals.failed.values())


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_counting_goes_on_from_before(steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted piece by piece, while answers come, are exchanged and asked again: always what the journal's sums say."""
    run = define(tmp_path, "pieces", judge="scripted/script.jsonl", repeats=2)
    spec = load_run_spec(run / "run.yaml")
    folder = ResultFolder(run / "one")
    before: Counted | None = None
    monkeypatch.chdir(run)
    for step in range(1, steps + 1):
        sit(Sitting(spec, run, folder, limit=9 * step // steps, quiet=True))
        before = count(folder.journal, before)
        _same(before, folder)
    sit(Sitting(spec, run, folder, again="unparsed", quiet=True))
    after = count(folder.journal, before)
    assert after.replaced > 0
    _same(after, folder)
    assert after == count(folder.journal)


def _same(counted: Counted, folder: ResultFolder) -> None:
    with JournalReader(folder.journal) as reader:
        totals = reader.totals()
    assert (counted.answered, counted.failed) == (totals.answered, dict(totals.failed))
    assert counted.prompt_tokens == totals.prompt_tokens


@working_here()
def test_an_index_follows_answers_that_were_exchanged(
    served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = define(tmp_path, "again", judge="scripted/script.jsonl", repeats=1)
    monkeypatch.chdir(run)
    spec = load_run_spec(run / "run.yaml")
    folder = ResultFolder(run / "one")
    sit(Sitting(spec, run, folder, quiet=True))
    server = served(lambda access: view_app(tmp_path, access))
    before = computed(server, "/run/again/judgments?status=no_rating")
    assert before.count(">no_rating</span>") > 0
    (run / "script.jsonl").write_bytes(b'{"text": "Rating: 1"}\n')
    sit(Sitting(spec, run, folder, again="unparsed", quiet=True))
    until(lambda: "No judgment matches" in server.ask("/run/again/judgments?status=no_rating")[2])


@working_here()
def test_broken_and_foreign_folders_get_a_sentence(served: Serve, tmp_path: Path) -> None:
    whole = make_run(tmp_path, "whole") / "surface"
    for name, spoil in {
        "noise": lambda f: (f / "journal.sqlite").write_bytes(os.urandom(9000)),
        "short": lambda f: (f / "journal.sqlite").write_bytes((f / "journal.sqlite").read_bytes()[:5000]),
        "empty": lambda f: (f / "journal.sqlite").write_bytes(b""),
        "other": _other_database,
        "later": _later_format,
        "unsaid": _no_definition,
        "manifest": lambda f: (f / "manifest.json").write_text("{broken"),
        "gone": lambda f: (f / "manifest.json").unlink(),
        "odd": lambda f: (f / "manifest.json").write_text("[1, 2]"),
    }.items():
        shutil.copytree(whole, tmp_path / name / "surface", ignore=shutil.ignore_patterns("derived"))
        spoil(tmp_path / name / "surface")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "run.yaml").write_text("just: [some")
    server = served(lambda access: view_app(tmp_path, access))
    text = until(lambda: t if "being counted" not in (t := server.ask("/part/runs")[2]) else None)
    assert text.count("cannot be read</span>") == 9, text
    assert ">done</span>" in text
    for name in ("noise", "short", "empty", "other", "later", "unsaid", "manifest", "gone", "odd"):
        for page in (
            "",
            "/judgments",
            "/stories",
            "/story?story=p0-s0",
            "/prompts",
            "/map",
            "/tables",
            "/disagreements",
            "/audit",
        ):
            status, _, said = server.ask(f"/run/{name}{page}")
            assert status in (200, 404, 422), (name, page, said)
    problem = until(lambda: t if 'role="alert"' in (t := server.ask("/run/noise/tables")[2]) else None)
    assert "not a readable journal" in problem


def _other_database(folder: Path) -> None:
    (folder / "journal.sqlite").unlink()
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db, db:
        db.execute("CREATE TABLE meta (key TEXT, value TEXT)")


def _later_format(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'format'")


def _no_definition(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db, db:
        db.execute("DELETE FROM meta WHERE key = 'definition'")


@working_here()
def test_imported_ratings_have_tables_and_say_that_there_are_no_answers(served: Serve, tmp_path: Path) -> None:
    from judge.ratings.ratings_table import read

    whole = make_run(tmp_path / "elsewhere")
    folder = tmp_path / "runs" / "taken" / "judge"
    folder.mkdir(parents=True)
    read([whole / "surface"]).frame.to_csv(folder / "imported.csv", index=False)
    server = served(lambda access: view_app(tmp_path / "runs", access))
    text = until(lambda: t if ">imported</span>" in (t := server.ask("/part/runs")[2]) else None)
    assert "ratings were imported" in text
    assert "tau-b" in computed(server, "/run/taken/tables?show=correlate")
    for page in ("judgments", "stories", "prompts"):
        status, _, said = server.ask(f"/run/taken/{page}")
        assert status == 422
        assert "there are no answers to show" in said


def test_runs_are_found_by_keys_that_are_words(tmp_path: Path) -> None:
    for name in ("a/b c", "a/b-c", "plain", ".hidden/x", "derived/y"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.yaml").write_text("name: x")
    found = Runs(tmp_path).all()
    assert [run.name for run in found.values()] == ["a/b c", "a/b-c", "plain"]
    assert all(re.fullmatch(r"[\w.~-]+", key) for key in found)
    assert len(found) == 3
    assert [run.name for run in Runs(tmp_path / "plain").all().values()] == ["plain"]


def test_a_folder_that_cannot_be_written_is_left_alone(served: Serve, tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for path in (run / "surface", run):
        path.chmod(0o555)
    try:
        if os.access(run, os.W_OK):
            pytest.skip("this user may write everywhere")
        server = served(lambda access: view_app(tmp_path, access))
        assert "Straße" in computed(server, "/run/tale/judgments")
        assert not (run / "derived").exists()
    finally:
        for path in (run, run / "surface"):
            path.chmod(0o755)


@working_here()
def test_the_map_is_read_from_what_explain_left(served: Serve, tmp_path: Path) -> None:
    from judge.explanations.mapping.stored_map import POINT, StoredMap, write

    run = make_run(tmp_path)
    folder = ResultFolder(run / "surface")
    points = [
        dict(
            zip(
                POINT,
                ("surface", f"p{k % 3}-s0", "Human", "Coherence", "ep2", k % 2, 3.0, 2.5, k % 4 - 1, k / 7, k / 3),
                strict=True,
            )
        )
        for k in range(80)
    ]
    words = {"0": ["lamp", "<script>"], "1": ["ship"], "2": []}
    write(folder, StoredMap("a signature", "a model", "a method", points, [], words))
    server = served(lambda access: view_app(tmp_path, access))
    text = computed(server, "/run/tale/map")
    assert "80 explanations" in text
    assert "<script>" not in text.partition("<main")[2].partition("</main>")[0].replace('<script src="/static', "")
    assert "<mark" not in text.partition('class="dots"')[2]
    data = orjson.loads(server.ask("/run/tale/map.json?judge=surface")[2])
    assert (data["total"], len(data["x"]), data["names"]["criterion"]) == (80, 80, ["Coherence"])
    numbers: list[int] = []
    address: str | None = "/run/tale/map?cluster=1"
    while address is not None:
        text = server.ask(address)[2]
        numbers += map(int, re.findall(r'data-dot="(\d+)"', text))
        following = re.search(r'rel="next" href="([^"]+)"', text)
        address = html.unescape(following[1]) if following else None
    assert numbers == [k for k in range(80) if k % 4 - 1 == 1]
    status, _, part = server.ask("/run/tale/part/dot?judge=surface&number=7")
    assert status == 200
    assert "Control, not a language model" in part
    assert "p1-s0" in part
    points[0]["cluster"] = 5
    write(folder, StoredMap("another signature", "a model", "a method", points[:3], [], words))
    until(lambda: "another signature" in server.ask("/run/tale/map")[2])
