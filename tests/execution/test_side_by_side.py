"""Several judges in one command, each at a server of its own, over loopback."""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.asking.execution.progress import Board, Progress, cut
from judge.asking.run_folder import read_manifest
from judge.backends import Capabilities
from judge.base.errors import BackendError
from judge.cli.main import main
from judge.ratings.ratings_table import read
from tests.server.loopback import LoopbackServer
from tests.server.telling import Telling

Start = Callable[..., LoopbackServer]
KEYS = {"A_KEY": "key-of-provider-a", "B_KEY": "key-of-provider-b"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve stories; the keys of two providers; prices of 1 dollar for a prompt token."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i // 3}",
            "system": f"system{i % 3}",
            "text": f"Story {i}: the lamp on the quay went out, and nobody lit it again for {i} years.",
            "ratings": [{"rater": None, "criterion": "Overall", "value": 1 + i % 5}],
        }
        for i in range(12)
    ]
    (tmp_path / "stories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def servers(loopback: Start) -> tuple[LoopbackServer, LoopbackServer]:
    """Two providers, each with a key of its own."""
    return loopback(require_key=KEYS["A_KEY"]), loopback(require_key=KEYS["B_KEY"])


def write(folder: Path, *judges: Any, **more: Any) -> None:
    run = {
        "name": "several",
        "dataset": "stories.jsonl",
        "criteria": "overall",
        "eval_prompts": ["ep1", "ep2"],
        "generation": {"temperature": 1.0},
        "attempt_timeout": 5.0,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(run | more | {"judges": list(judges)}), encoding="utf-8")


def of(servers: tuple[LoopbackServer, LoopbackServer]) -> tuple[dict[str, Any], dict[str, Any]]:
    a, b = servers
    return (
        {"judge": "openai/mock", "base_url": a.url, "api_key_env": "A_KEY", "concurrency": 4},
        {"judge": "openai/mock-judge", "base_url": b.url, "api_key_env": "B_KEY", "generation": {"temperature": 0.0}},
    )


def judge(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def answered(folder: Path) -> int:
    with JournalReader(folder / "journal.sqlite") as journal:
        return journal.totals().answered


def test_each_judge_is_asked_at_its_own_server_with_its_own_key_and_settings(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for server in servers:
        server.configure(record=100)
    write(folder, *of(servers), "surface")
    code, _, said = judge(capsys, "run", folder)
    assert code == 0, said
    assert [answered(folder / name) for name in ("openai-mock", "openai-mock-judge", "surface")] == [24, 24, 24]
    # Each server lets nobody in without its key, and saw requests for its own model alone.
    for server, model, temperature in zip(servers, ("mock", "mock-judge"), (1.0, 0.0), strict=True):
        assert {body["model"] for body in server.requests()} == {model}
        assert {body["temperature"] for body in server.requests()} == {temperature}
        assert server.stats()["refused"] == 0
    asked = read_manifest(folder / "openai-mock-judge" / "manifest.json")["asked"]
    assert asked["generation"] == {"temperature": 0.0}
    assert "judges" not in asked
    judged = read([folder]).frame.query("source == 'judge'")
    assert judged.groupby("judge").size().to_dict() == {"openai/mock": 24, "openai/mock-judge": 24, "surface": 24}


def test_they_run_side_by_side(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for server in servers:
        server.configure(latency_ms=100, label="Story [0-9]+")
    write(folder, *of(servers), concurrency=4)
    assert judge(capsys, "run", folder)[0] == 0
    first, second = ([arrived for _, arrived, _ in server.arrivals()] for server in servers)
    assert max(min(first), min(second)) < min(max(first), max(second))


def test_models_in_this_process_are_loaded_one_after_another(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[int] = []

    class Engine:
        """Says how many are open beside it, and that nothing can be answered."""

        capabilities = Capabilities()
        opened = 0

        async def probe(self) -> dict[str, Any]:
            Engine.opened += 1
            at_once.append(Engine.opened)
            await asyncio.sleep(0.05)
            raise BackendError("no weights", kind="model", retryable=False)

        async def close(self) -> None:
            Engine.opened -= 1

    monkeypatch.setattr("judge.asking.execution.session.open_backend", lambda *_: Engine())
    write(folder, "hf/a", "vllm/b", "hf/c")
    code, _, said = judge(capsys, "run", folder)
    assert (code, at_once) == (1, [1, 1, 1])
    assert "3 of 3 judges ended with an error" in said


def test_one_that_fails_leaves_the_others_alone_and_is_named(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = of(servers)
    servers[1].configure(require_key="another-key-now")
    write(folder, a, b, {"judge": "opnai/x"}, {"judge": "openai/far", "base_url": "https://llm.example/v1"}, "surface")
    code, _, said = judge(capsys, "run", folder, "--set", "api_key_env=B_KEY")
    assert code == 1
    servers[0].configure(require_key=None)
    code, _, said = judge(capsys, "run", folder)
    assert code == 1
    assert answered(folder / "openai-mock") == answered(folder / "surface") == 24
    assert "error: 3 of 5 judges ended with an error: openai/mock-judge, opnai/x, openai/far; 2 of the others" in said
    assert re.search(r"^openai/mock-judge: .*HTTP 401", said, re.MULTILINE)
    assert re.search(r"^opnai/x: back-end 'opnai' is not known; did you mean 'openai'", said, re.MULTILINE)
    # A failed judge leaves nothing behind that the next command would trip over.
    assert not (folder / "openai-mock-judge" / "journal.sqlite").exists()
    servers[1].configure(require_key=KEYS["B_KEY"])
    requests = servers[0].stats()["requests"]
    code, _, said = judge(capsys, "run", folder, "--judge", "openai/mock", "--judge", "openai/mock-judge")
    assert (code, answered(folder / "openai-mock-judge")) == (0, 24)
    assert servers[0].stats()["requests"] == requests


def test_a_key_that_a_host_may_not_have_stops_its_judge_alone(
    servers: tuple[LoopbackServer, LoopbackServer],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai-itself")
    a, _ = of(servers)
    write(folder, a, {"judge": "openai/far", "base_url": "https://llm.example/v1"})
    code, _, said = judge(capsys, "run", folder)
    assert (code, answered(folder / "openai-mock")) == (1, 24)
    assert "JUDGE_TRUSTED_HOSTS" in said
    assert "key-of-openai-itself" not in said


def test_what_is_missing_of_one_is_named_and_retried(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers[1].configure(p500=0.4, fault_mode="sticky", seed=5)
    write(folder, *of(servers), "surface", max_attempts=1)
    code, _, said = judge(capsys, "run", folder)
    assert code == 3, said
    lost = 24 - answered(folder / "openai-mock-judge")
    assert 0 < lost < 24
    assert f"openai/mock-judge: {lost} repeats are missing; ask the failed ones again: judge run " in said
    code, out, _ = judge(capsys, "status", folder, "--format", "json")
    states = {row["judge"]: (row["answered"], row["planned"]) for row in json.loads(out)["rows"]}
    assert states == {"openai/mock": (24, 24), "openai/mock-judge": (24 - lost, 24), "surface": (24, 24)}
    servers[1].configure(p500=0.0)
    before = [server.stats()["requests"] for server in servers]
    code, _, said = judge(capsys, "run", folder, "--retry")
    assert code == 0, said
    assert [server.stats()["requests"] - n for server, n in zip(servers, before, strict=True)] == [0, lost]


def test_status_names_judges_without_results(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, *of(servers))
    assert judge(capsys, "run", folder, "--judge", "openai/mock")[0] == 0
    _, out, _ = judge(capsys, "status", folder)
    assert f"openai/mock-judge has no results yet: judge run {folder} asks it" in out.replace("\n  ", " ")


def test_no_minute_holds_more_requests_of_a_judge_than_its_limit(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = of(servers)
    write(folder, a | {"requests_per_minute": 480}, b)
    servers[0].configure(label="Story [0-9]+")
    began = time.monotonic()
    assert judge(capsys, "run", folder)[0] == 0
    # 24 requests at 8 a second, four of them at once.
    assert time.monotonic() - began >= (24 - 4) / 8
    times = sorted(arrived for _, arrived, _ in servers[0].arrivals())
    assert all(sum(begin <= t < begin + 1 for t in times) <= 4 + 8 + 1 for begin in times)


def test_what_a_server_tells_of_its_limits_keeps_requests_from_being_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Telling(most=10, per_second=20.0, tells=True) as told, Telling(most=10, per_second=20.0, tells=False) as mute:
        write(
            folder,
            {"judge": "openai/mock", "base_url": told.url, "concurrency": 8},
            {"judge": "openai/mock-judge", "base_url": mute.url, "concurrency": 8},
        )
        assert judge(capsys, "run", folder, "--set", "repeats=3", "--set", "generation.seed=1")[0] == 0
        assert (answered(folder / "openai-mock"), answered(folder / "openai-mock-judge")) == (72, 72)
        # The server that tells what remains is hardly ever asked too early; the other refuses again and again.
        assert told.refused <= 3
        assert mute.refused > 3 * max(told.refused, 1)


def test_budgets_of_a_judge_and_of_all_are_kept_in_dollars(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "home").mkdir()
    prices = "openai/mock: {input: 10000, output: 0}\nopenai/mock-judge: {input: 10000, output: 0}\n"
    (folder / "home" / "prices.yaml").write_text(prices, encoding="utf-8")
    # The first judge answers so much sooner that its own budget always ends before that of both.
    servers[0].configure(latency_ms=5)
    servers[1].configure(latency_ms=200)
    a, b = of(servers)
    ep1 = {"eval_prompts": ["ep1"], "repeats": 2}
    a, b = ({**one, "generation": {"seed": 1}} for one in (a, b))
    write(folder, a, b, "surface", **ep1)
    assert judge(capsys, "run", folder)[0] == 0
    whole = [
        read_manifest(folder / f"openai-{name}" / "manifest.json")["totals"]["cost"] for name in ("mock", "mock-judge")
    ]
    assert min(whole) > 1.0
    for name in ("openai-mock", "openai-mock-judge"):
        for file in (folder / name).glob("journal*"):
            file.unlink()
    # A quarter of what one costs for that one, and half of what both cost for both.
    most = sum(whole) / 2
    write(folder, a | {"max_cost": whole[0] / 4}, b, "surface", max_cost=most, **ep1)
    code, _, said = judge(capsys, "run", folder)
    assert code == 3, said
    spent = [_spent(folder / name) for name in ("openai-mock", "openai-mock-judge")]
    assert whole[0] / 8 < spent[0] <= whole[0] / 4
    assert sum(spent) <= most
    assert "for this run is reached" in said
    code, _, said = judge(capsys, "run", folder, "--set", f"max_cost={sum(spent) + whole[1] / 6:.4f}")
    assert code == 3, said
    again = [_spent(folder / name) for name in ("openai-mock", "openai-mock-judge")]
    # The seed is tried before the plan, and of that no budget knows; all prompts are about equally long.
    assert sum(spent) < sum(again) <= (sum(spent) + whole[1] / 6) * 1.02
    assert "for all judges of this command is reached" in said


def _spent(folder: Path) -> float:
    with JournalReader(folder / "journal.sqlite") as journal:
        tokens = journal.spending().live.prompt or 0
    return tokens * 10000 / 1e6


def test_a_run_of_one_judge_goes_on_as_a_list(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = of(servers)
    write(folder, *of(servers))
    single = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    del single["judges"]
    (folder / "run.yaml").write_text(yaml.safe_dump(single | a), encoding="utf-8")
    assert judge(capsys, "run", folder)[0] == 0
    requests = servers[0].stats()["requests"]
    write(folder, a, b)
    assert judge(capsys, "run", folder)[0] == 0
    assert servers[0].stats()["requests"] == requests
    assert (answered(folder / "openai-mock"), answered(folder / "openai-mock-judge")) == (24, 24)


def test_batches_go_to_each_judges_provider(
    servers: tuple[LoopbackServer, LoopbackServer], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, *of(servers), "surface")
    code, out, said = judge(capsys, "run", folder, "--batch", "submit")
    assert code == 0, said
    assert "surface has no batch API" in out
    assert [server.stats()["batches"] for server in servers] == [1, 1]
    _, out, _ = judge(capsys, "run", folder, "--batch", "status", "--format", "json")
    assert [(row["judge"], row["status"]) for row in json.loads(out)["rows"]] == [
        ("openai/mock", "completed"),
        ("openai/mock-judge", "completed"),
    ]
    servers[0].configure(require_key="changed-since")
    code, _, said = judge(capsys, "run", folder, "--batch", "collect")
    assert code == 1
    assert "1 of 2 judges ended with an error" in said
    assert answered(folder / "openai-mock-judge") == 24
    servers[0].configure(require_key=KEYS["A_KEY"])
    assert judge(capsys, "run", folder, "--batch", "collect")[0] == 0
    assert answered(folder / "openai-mock") == 24


def test_ctrl_c_lets_all_finish_what_is_in_flight(servers: tuple[LoopbackServer, LoopbackServer], folder: Path) -> None:
    for server in servers:
        server.configure(latency_ms=150)
    write(folder, *of(servers), {"judge": "openai/slow", "base_url": servers[0].url, "requests_per_minute": 1})
    command = [sys.executable, "-m", "judge", "run", str(folder), "--set", "concurrency=2"]
    command += ["--set", "api_key_env=A_KEY"]
    servers[1].configure(require_key=None)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while sum(server.stats()["answered"] for server in servers) < 8:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 3, said
    assert said.count("stopped: interrupted; the same command goes on") == 3
    kept = [answered(folder / name) for name in ("openai-mock", "openai-mock-judge", "openai-slow")]
    assert sum(kept) == sum(server.stats()["answered"] for server in servers)
    assert kept[2] == 1


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(total: int, done: int, failed: int, *, waits: float = 0.0) -> Iterator[Progress]:
    clock = iter([0.0, 0.0, *[100.0] * 1000])
    progress = Progress(
        total, parser=None, cost=lambda: 0.1234, waits=lambda: waits, quiet=True, clock=lambda: next(clock)
    )
    progress.committed(done, failed)
    yield progress


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_each_judge_has_one_line_within_the_screen(width: int) -> None:
    names = ["openai/gpt-4.1-mini", "anthropic/claude-sonnet-4-6-with-a-name-of-some-length", "surface"]
    board = Board(names, stream=Screen())
    (first,), (second,) = shown(48_000, 12_345, 6), shown(480, 470, 10, waits=42.0)
    board.line_of(names[0]).begin(first)
    board.line_of(names[1]).begin(second)
    board.line_of(names[2]).end("failed")
    lines = board.text(width)
    assert len(lines) == 3
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("openai/gpt-4.1-mini")
    assert lines[1].startswith("anthropic/cl")
    assert "…" in lines[1][:28]
    assert lines[2].endswith("failed")
    if width >= 60:
        assert "12351/48000" in lines[0]
        assert "6 failed" in lines[0]
    if width >= 120:
        assert "━━" in lines[0]
        assert "$0.1234" in lines[0]
        assert "left" in lines[0]


def test_a_name_is_cut_in_its_middle() -> None:
    assert cut("openai/gpt", 10) == "openai/gpt"
    assert cut("openai/gpt-4.1", 10) == "open…t-4.1"


def test_in_a_log_each_line_names_its_judge() -> None:
    stream = io.StringIO()
    with Board(["a/x", "b/y"], stream=stream) as board:
        (progress,) = shown(10, 10, 0)
        board.line_of("a/x").begin(progress)
        board.line_of("a/x").end("done")
        board.line_of("b/y").end("failed")
    assert stream.getvalue().splitlines() == ["a/x: 10/10 · 0.1/s · $0.1234 · done", "b/y: failed"]


def test_the_forecast_has_a_table_for_each_judge_and_the_cost_of_all(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        folder,
        {"judge": "openai/gpt-4o-mini", "requests_per_minute": 6},
        {"judge": "openai/gpt-4.1-mini", "tokens_per_minute": 1000},
        "surface",
        max_cost=0.5,
    )
    code, out, said = judge(capsys, "run", folder, "--dry-run", "--format", "json")
    assert code == 0, said
    tables = json.loads(out)
    titles = ["Forecast: openai/gpt-4o-mini", "Forecast: openai/gpt-4.1-mini", "Forecast: surface"]
    assert [table["title"] for table in tables] == titles
    assert "at 6 requests a minute it takes 4 min 0 s at least" in tables[0]["notes"]
    row = tables[1]["rows"][0]
    minutes = (row["prompt_tokens"] + row["completion_tokens"]) / 1000
    assert any(note.startswith(f"at 1,000 tokens a minute it takes {int(minutes)} min") for note in tables[1]["notes"])
    costs = [table["rows"][0]["cost"] for table in tables[:2]]
    assert f"all judges together: ${sum(costs):.4f}" in " ".join(tables[2]["notes"])
    assert "max_cost $0.5000 is for all of them together" in tables[2]["notes"]
