"""Judges of three protocols in one command: each at its own imitation, with its own key, live and by batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.backends import Settings, open_backend
from judge.backends.refusal_body import RateLimits, TellsLimits
from judge.base.records import Criterion, Generation, Message, Query, Story
from judge.cli.main import main
from judge.exchange.batch.requests import BATCH_FORMS, has_batch_api
from tests.conformance.gemini import KEY as GEMINI_KEY
from tests.conformance.gemini import GeminiImitated
from tests.conformance.messages_api import KEY as ANTHROPIC_KEY
from tests.conformance.messages_api import MessagesServer, message
from tests.server.loopback import LoopbackServer

OPENAI_KEY = "key-of-the-third-provider"
STORIES, PROMPTS = 6, 2
FOLDERS = ("anthropic-claude-opus-5", "gemini-gemini-2.5-flash", "openai-mock")
QUERY = Query(
    "b2:0",
    Story("s", "p", "x", "text"),
    Criterion("Overall", "OV", "d"),
    "ep1",
    (Message("user", "q"),),
    Generation(max_tokens=8),
)
Servers = tuple[MessagesServer, GeminiImitated, LoopbackServer]


@pytest.fixture
def servers(loopback: Callable[..., LoopbackServer], monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """The three imitations, each of which lets nobody in without its own key."""
    keys = {"ANTHROPIC_API_KEY": ANTHROPIC_KEY, "GEMINI_API_KEY": GEMINI_KEY, "OPENAI_API_KEY": OPENAI_KEY}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    for name in ("GOOGLE_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with MessagesServer() as messages, GeminiImitated() as gemini:
        yield messages, gemini, loopback(require_key=OPENAI_KEY)


@pytest.fixture
def folder(servers: Servers, tmp_path: Path) -> Path:
    """Six stories and a definition with a judge of each protocol, and one that has no provider."""
    messages, gemini, openai = servers
    lines = [
        {"id": f"s{i}", "story_prompt": f"Prompt {i // 3}", "system": f"x{i % 3}", "text": f"Story {i}.", "ratings": []}
        for i in range(STORIES)
    ]
    (tmp_path / "stories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run = {
        "name": "three",
        "dataset": "stories.jsonl",
        "criteria": "overall",
        "eval_prompts": ["ep1", "ep2"],
        "generation": {"max_tokens": 200},
        "judges": [
            {"judge": "anthropic/claude-opus-5", "base_url": messages.url},
            {"judge": "gemini/gemini-2.5-flash", "base_url": gemini.base_url},
            {"judge": "openai/mock", "base_url": openai.url},
            "surface",
        ],
    }
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    return tmp_path


def judge(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def answered(folder: Path) -> list[int]:
    found = []
    for name in FOLDERS:
        with JournalReader(folder / name / "journal.sqlite") as journal:
            found.append(journal.totals().answered)
    return found


def test_they_are_asked_side_by_side_each_with_its_own_key(
    servers: Servers, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = judge(capsys, "run", folder)
    assert code == 0, said
    assert answered(folder) == [STORIES * PROMPTS] * 3
    messages, gemini, openai = servers
    assert len(messages.calls) == gemini.counts["requests"] == STORIES * PROMPTS
    assert openai.stats()["refused"] == 0
    written = "".join(path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob("*.json"))
    assert not [key for key in (ANTHROPIC_KEY, GEMINI_KEY, OPENAI_KEY) if key in written]


def test_their_batches_go_to_three_apis_and_come_back_as_the_same_run(
    servers: Servers, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages, gemini, openai = servers
    code, out, said = judge(capsys, "run", folder, "--batch", "submit")
    assert code == 0, said
    assert "surface has no batch API" in out
    assert (len(messages.batches), len(gemini.batches.made), openai.stats()["batches"]) == (1, 1, 1)
    messages.end_batches()
    judge(capsys, "run", folder, "--batch", "status")  # Gemini's imitation works on until it was asked once
    code, _, said = judge(capsys, "run", folder, "--batch", "collect")
    assert code == 0, said
    assert answered(folder) == [STORIES * PROMPTS] * 3
    # One form of lines for each protocol, as it was sent.
    keys = [{"custom_id", "params"}, {"key", "request"}, {"custom_id", "method", "url", "body"}]
    for name, expected in zip(FOLDERS, keys, strict=True):
        lines = (folder / name / "batches" / "requests-0001.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line).keys() for line in lines] == [expected] * STORIES * PROMPTS
    # A live run has nothing left to ask.
    asked = len(messages.calls), gemini.counts["requests"]
    assert judge(capsys, "run", folder)[0] == 0
    assert (len(messages.calls), gemini.counts["requests"]) == asked


def test_a_file_of_requests_is_no_results_file_in_any_form(
    servers: Servers,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert judge(capsys, "run", folder, "--batch", "submit")[0] == 0
    for name in FOLDERS:
        sent = folder / name / "batches" / "requests-0001.jsonl"
        code, _, said = judge(capsys, "import", sent, "-o", folder / name)
        assert (code, "this is the file that was sent" in said) == (1, True), said


def test_what_headers_tell_of_limits_is_passed_on_by_each_http_backend(servers: Servers) -> None:
    messages, _, _ = servers
    whole_again = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    headers = {f"anthropic-ratelimit-requests-{name}": str(value) for name, value in (("limit", 50), ("remaining", 20))}
    headers["anthropic-ratelimit-requests-reset"] = whole_again
    messages.faults = lambda _number, body: (200, headers, message(body, {"input_tokens": 9, "output_tokens": 1}))
    told: list[RateLimits] = []

    async def ask() -> None:
        backend = open_backend("anthropic/claude-opus-5", Settings((messages.url,), trusted=(messages.url,)))
        assert isinstance(backend, TellsLimits)
        backend.on_limits = told.append
        try:
            await backend.complete(QUERY, [0])
        finally:
            await backend.close()

    asyncio.run(ask())
    assert told[0]["requests"].rate == pytest.approx((50 - 20) / 30, rel=0.2)


def test_which_backends_have_batches_is_known_in_one_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [name for name in BATCH_FORMS if has_batch_api(f"{name}/m")] == ["openai", "anthropic", "gemini"]
    assert not has_batch_api("surface")
    for name, words in (("vllm/mock", "no provider with a batch API"), ("hf/mock", "has no batch form")):
        code, _, said = judge(capsys, "run", folder, "--batch", "submit", "--judge", name)
        assert (code, words in said) == (1, True), said


def test_a_route_that_a_judge_does_not_have_is_refused_for_batches_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--judge", "anthropic/claude-opus-5", "--set", "api=responses")
    code, _, said = judge(capsys, "run", folder, "--batch", "submit", *chosen)
    assert (code, "`api: responses` is OpenAI's" in said) == (1, True), said
    assert not list(folder.rglob("requests-*"))
