"""A run through a provider's batch API: the real SDK against a server that keeps files and batches, over sockets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import sit
from judge.asking.plan import load_prices
from judge.backends import Settings
from judge.base.errors import BackendError, SpecError
from judge.exchange.batch.ledger import in_flight_note, read_ledger
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.requests import Wanted, export, numbered
from judge.exchange.batch.submission import advice_for, collect, refresh, submit
from tests.exchange.conftest import Start, answers, asked, live
from tests.server.loopback import LoopbackServer


def quietly(_: str) -> None:
    """Say nothing."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the person who tests, and no waiting between attempts."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("judge.exchange.batch.ledger.time.sleep", lambda _: None)


def paid(server: LoopbackServer) -> tuple[int, int, int]:
    """Batches, request lines in them, and the most often that one line was sent."""
    stats = server.stats()
    return stats["batches"], stats["batch_lines"], stats["batch_line_most"]


def test_a_run_goes_through_and_equals_a_live_one(loopback: Start, stories: Path) -> None:
    server = loopback(expected_repeats=3)
    wanted = asked(server, stories, "batched")
    sent = submit(wanted, quietly, most_lines=40)
    assert [(batch.lines, batch.repeats, batch.state) for batch in sent] == [
        (40, 120, "created"),
        (40, 120, "created"),
        (16, 48, "created"),
    ]
    assert in_flight_note(wanted.result) == "288 repeats in 3 batches"
    assert submit(wanted, quietly) == []
    assert export(wanted, numbered(stories.parent / "more.jsonl")).in_flight == 288
    assert [batch.status for batch in refresh(wanted.result)] == ["completed"] * 3
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, found.waiting, found.advice) == (288, [], [])
    assert in_flight_note(wanted.result) is None
    assert paid(server) == (3, 96, 1)
    whole = live(server, stories, "whole")
    sit(whole)
    assert answers(wanted.result) == answers(whole.result)
    # The batch price is half the live one.
    cost = [json.loads(each.result.manifest.read_text())["totals"]["cost"] for each in (wanted, whole)]
    price = load_prices("openai/gpt-4o-mini")
    with JournalReader(wanted.result.journal) as journal:
        totals = journal.totals()
    assert price is not None
    assert price.batch is not None
    assert (price.batch.input, price.batch.output) == (price.input / 2, price.output / 2)
    assert cost[0] == pytest.approx(price.cost(totals.prompt_tokens or 0, totals.completion_tokens or 0) / 2)
    assert cost[0] < cost[1]
    assert collect(wanted.result, quietly).batches == []


@pytest.mark.parametrize("step", ["upload", "create"])
def test_a_lost_reply_is_not_paid_for_twice(loopback: Start, stories: Path, step: str) -> None:
    server = loopback(batch_lost=f"{step}:drop", batch_page=1)
    wanted = asked(server, stories, "a", limit=2)
    submit(wanted, quietly, most_lines=6)
    assert server.stats()["settings"]["batch_lost"] is None
    assert paid(server) == (4, 24, 1)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert found.imported.answered == 72


@pytest.mark.parametrize("step", ["upload", "create"])
def test_kill_9_between_steps_is_not_paid_for_twice(loopback: Start, stories: Path, step: str) -> None:
    server = loopback(batch_lost=f"{step}:hang", batch_page=1, batch_hold=True)
    wanted = asked(server, stories, "a", limit=2)
    process = _submit_elsewhere(wanted)
    server.wait(**({"files": 1} if step == "upload" else {"batches": 1}), timeout=60)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    (batch,) = read_ledger(wanted.result).batches
    assert batch.state == ("uploading" if step == "upload" else "creating")
    assert "goes on with it" in (advice_for(batch, wanted.result) or "")
    assert collect(wanted.result, quietly).waiting[0].batch_id is None
    sent = submit(wanted, quietly)
    assert [batch.state for batch in sent] == ["created"]
    assert (server.stats()["files"], paid(server)) == (1, (1, 24, 1))
    server.configure(batch_hold=False)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert found.imported.answered == 72


def _submit_elsewhere(wanted: Wanted) -> subprocess.Popen[bytes]:
    """`judge run --batch submit` in a process of its own."""
    definition = wanted.folder / "run.yaml"
    definition.write_text(json.dumps(wanted.spec.model_dump(exclude_unset=True)), encoding="utf-8")
    wanted.result.path.mkdir()
    export(wanted, numbered(wanted.folder / "first.jsonl"))
    command = [sys.executable, "-m", "judge", "run", str(wanted.result.path), "--batch", "submit", "--limit", "2"]
    root = str(Path(__file__).resolve().parents[3])
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": root}, stdout=subprocess.DEVNULL)


def test_an_expired_batch_gives_what_it_has_and_the_rest_is_sent_again(loopback: Start, stories: Path) -> None:
    server = loopback(batch_expire_after=5)
    wanted = asked(server, stories, "a", limit=2)
    submit(wanted, quietly)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, dict(found.imported.failed)) == (15, {"timeout": 57})
    (advice,) = found.advice
    assert "expired with 5 of 24 lines done" in advice
    server.configure(batch_expire_after=None)
    (again,) = submit(wanted, quietly)
    assert again.lines == 19
    more = collect(wanted.result, quietly)
    assert more.imported is not None
    assert more.imported.answered == 57
    assert None not in answers(wanted.result).values()


def test_a_refused_batch_says_why_and_frees_its_queries(loopback: Start, stories: Path) -> None:
    server = loopback(batch_refuse="The model is not supported by the Batch API.")
    wanted = asked(server, stories, "a", limit=1)
    submit(wanted, quietly)
    (batch,) = refresh(wanted.result)
    assert "which ran no request: The model is not supported" in (advice_for(batch, wanted.result) or "")
    assert in_flight_note(wanted.result) is None
    server.configure(batch_refuse=None)
    (again,) = submit(wanted, quietly)
    assert again.lines == 12
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert found.imported.answered == 36
    assert [batch.state for batch in read_ledger(wanted.result).batches] == ["collected", "collected"]


def test_a_batch_still_at_work_and_one_cancelled(loopback: Start, stories: Path) -> None:
    server = loopback(batch_hold=True, batch_expire_after=3)
    wanted = asked(server, stories, "a", limit=1)
    (batch,) = submit(wanted, quietly)
    assert [each.status for each in collect(wanted.result, quietly).waiting] == ["in_progress"]
    assert batch.batch_id is not None
    with BatchServer(Settings((server.url,))) as provider:
        provider._client.batches.cancel(batch.batch_id)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert found.imported.answered == 9
    assert found.imported.failed == {"server": 27}
    assert "was cancelled with 3 of 12 lines done" in found.advice[0]


def test_lines_that_failed_are_asked_again_live(loopback: Start, stories: Path) -> None:
    server = loopback(batch_fail_after=4, expected_repeats=3)
    wanted = asked(server, stories, "a", limit=1)
    submit(wanted, quietly)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, dict(found.imported.failed)) == (12, {"server": 24})
    ended = sit(live(server, stories, "a", limit=1))
    assert (ended.outcomes.answered, ended.missing) == (24, 0)


def test_collecting_after_a_kill_before_the_ledger_was_written(
    loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = loopback()
    wanted = asked(server, stories, "a", limit=1)
    submit(wanted, quietly)
    ledger = (wanted.result.path / "batches.json").read_bytes()
    collect(wanted.result, quietly)
    (wanted.result.path / "batches.json").write_bytes(ledger)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, found.imported.there_already) == (0, 36)


def test_what_is_asked_live_meanwhile_stays_and_the_run_says_so(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from judge.cli.main import app

    server = loopback(expected_repeats=6)
    wanted = asked(server, stories, "a", limit=2)
    submit(wanted, quietly)
    (wanted.folder / "run.yaml").write_text(json.dumps(wanted.spec.model_dump(exclude_unset=True)), encoding="utf-8")
    with pytest.raises(SystemExit):
        app(
            args=["run", str(wanted.folder), "-o", str(wanted.result.path), "--limit", "1", "--quiet"],
            prog_name="judge",
        )
    assert "72 repeats in 1 batch of this run are not collected yet" in capsys.readouterr().err
    before = answers(wanted.result)
    found = collect(wanted.result, quietly)
    assert found.imported is not None
    assert (found.imported.answered, found.imported.there_already) == (36, 36)
    assert before.items() < answers(wanted.result).items()


def test_the_providers_lists_are_read_to_their_end(loopback: Start, stories: Path) -> None:
    server = loopback(batch_page=2, batch_hold=True)
    wanted = asked(server, stories, "a", limit=2)
    first, *_ = submit(wanted, quietly, most_lines=3)
    ledger = read_ledger(wanted.result)
    with BatchServer(Settings((server.url,))) as provider:
        found = provider.find_batch({"judge_run": ledger.run_id, "judge_part": "1"})
        assert found is not None
        assert found.id == first.batch_id
        size = ledger.requests(first).stat().st_size
        assert provider.find_file(ledger.remote_name(first), size) == first.file_id
        assert provider.find_file(ledger.remote_name(first), size + 1) is None
        assert provider.find_batch({"judge_run": "another"}) is None


def mistakes(server: LoopbackServer, stories: Path) -> list[tuple[Callable[[], object], str]]:
    return [
        (lambda: submit(asked(None, stories, "a"), quietly), "no connection|Connection error"),
        (lambda: submit(asked(server, stories, "b", base_url=server.root + "/v2"), quietly), "no batch API here"),
        (lambda: submit(asked(server, stories, "c", max_cost=0.00001), quietly), "more than max_cost"),
        (lambda: submit(asked(server, stories, "d", judge="openai/own", max_cost=1.0), quietly), "no batch price"),
        (lambda: submit(asked(server, stories, "e", judge="vllm/x"), quietly), "no provider with a batch API"),
    ]


def test_what_cannot_be_sent_gets_a_sentence(loopback: Start, stories: Path) -> None:
    server = loopback()
    for attempt, words in mistakes(server, stories):
        with pytest.raises((SpecError, BackendError), match=words):
            attempt()
    assert paid(server) == (0, 0, 0)


def test_a_wrong_key_is_told_and_never_shown(loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    server = loopback(require_key="sk-right")
    wanted = asked(server, stories, "a", limit=1)
    with pytest.raises(BackendError, match="HTTP 401") as caught:
        submit(wanted, quietly)
    assert "sk-wrong" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
    assert [batch.state for batch in submit(wanted, quietly)] == ["created"]
    assert not any(b"sk-right" in path.read_bytes() for path in wanted.result.path.rglob("*") if path.is_file())


def test_the_commands(loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from judge.cli.main import app

    server = loopback()
    wanted = asked(server, stories, "a", limit=1)
    run = str(wanted.result.path)
    (wanted.folder / "run.yaml").write_text(json.dumps(wanted.spec.model_dump(exclude_unset=True)), encoding="utf-8")
    export(wanted, numbered(wanted.folder / "first.jsonl"))

    def judge(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            app(args=list(words), prog_name="judge")
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert "sent as batch_0001" in judge("run", run, "--batch", "submit", "--limit", "1")
    assert "36 repeats in 1 batch" in judge("status", run)
    assert "batch 1 is complete; judge run" in judge("run", run, "--batch", "status")
    assert "36 answers from the batches" in judge("run", run, "--batch", "collect")
    assert json.loads(judge("run", run, "--batch", "status", "--format", "json"))["rows"][0]["collected"] == "yes"
    assert json.loads(judge("status", run, "--format", "json"))["rows"][0]["batches"] is None
    forecast = json.loads(judge("run", str(wanted.folder), "--dry-run", "--format", "json"))["rows"][0]
    assert forecast["batch_cost"] == pytest.approx(forecast["cost"] / 2)
