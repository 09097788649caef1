"""Answers that do not keep to `structured`: what counts as the form, and a run that stops for it over a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.asked_form import has_asked_form
from judge.asking.execution.sending.pace import FIRST
from judge.asking.execution.session import Result, Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.records import Criterion, Response, Scale, Structured
from judge.cli.main import main
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
COHERENCE = Criterion("Coherence", "CH", "d", Scale(1, 5, 1))


@pytest.mark.parametrize(
    ("text", "structured", "expected"),
    [
        ("4", "choice", True),
        (" 4\n", "choice", True),
        ("4.0", "choice", True),
        ("<think>a 5 is too kind</think>4", "choice", True),
        ("Rating: 4", "choice", False),
        ("4.5", "choice", False),
        ("7", "choice", False),
        ("²", "choice", False),
        ("", "choice", False),
        ('{"rating": 4}', "json", True),
        ('{"explanation": "because", "rating": 4}', "json-explanation-first", True),
        ('{"rating": 9}', "json", True),
        ('{"explanation": "because"}', "json", False),
        ('```json\n{"rating": 4}\n```', "json", False),
        ("[4]", "json", False),
        ("I'm sorry, I can't rate this story.", "json", None),
        ("Rating: 4", "none", None),
    ],
)
def test_the_form_is_the_whole_text(text: str, structured: Structured, expected: bool | None) -> None:
    assert has_asked_form(Response(text, "stop"), COHERENCE, structured) is expected
    # What has the form is what the parser reads a rating from, or finds off the scale.
    read = parser("ours").parse(Response(text, "stop"), COHERENCE, structured=structured).status
    if structured != "none":
        assert (read in ("ok", "out_of_scale")) >= (expected is True)


@pytest.mark.parametrize(
    "reason", ["length", "max_tokens", "MAX_TOKENS", "content_filter: PROHIBITED", "SAFETY", "error"]
)
def test_an_answer_that_was_cut_or_blocked_does_not_tell(reason: str) -> None:
    assert has_asked_form(Response("Rating: 4", reason), COHERENCE, "choice") is None
    for finished in ("stop", "STOP", "eos_token", "end_turn", None):
        assert has_asked_form(Response("Rating: 4", finished), COHERENCE, "choice") is False


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    lines = [
        {"id": f"s{i}", "story_prompt": f"p{i // 3}", "system": f"m{i % 3}", "text": f"Story {i}: the lamp went out."}
        for i in range(60)
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def asked(server: LoopbackServer, stories: Path, **changes: Any) -> Sitting:
    data: dict[str, Any] = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "structured": "choice",
        "base_url": server.url,
        "concurrency": 4,
    }
    return Sitting(
        parse_run_spec(data | changes, "test"), stories.parent, ResultFolder(stories.parent / "r"), quiet=True
    )


@pytest.mark.parametrize("structured", ["choice", "json"])
def test_a_server_that_ignores_structured_stops_the_run_and_nothing_is_given_up(
    loopback: Start, stories: Path, structured: str
) -> None:
    server = loopback(fixed_text="I would say the story is coherent.\n\nRating: 4")
    ended: Result = sit(asked(server, stories, structured=structured))
    cause = ended.outcomes.cause
    assert cause is not None
    assert cause.kind == "capability"
    sentence = str(cause)
    assert sentence == ended.outcomes.stopped
    assert f"openai/mock at 127.0.0.1:{server.port}" in sentence
    assert f"structured: {structured}" in sentence
    assert "'I would say the story is coherent. Rating: 4'" in sentence
    assert "structured: none" in str(cause.hint)
    # The ten that told and what was in flight, all of it kept.
    assert FIRST <= ended.totals.answered <= FIRST + 4
    assert ended.totals.answered == server.stats()["choices"]
    assert ended.totals.failed == {}
    again = sit(asked(server, stories, structured=structured))
    assert again.outcomes.cause is not None
    assert FIRST <= again.outcomes.answered <= FIRST + 4
    assert again.totals.failed == {}
    server.configure(fixed_text=None)
    mended = sit(asked(server, stories, structured=structured))
    assert (mended.outcomes.cause, mended.missing) == (None, 0)


@pytest.mark.parametrize("answer", ["prose", "empty"])
def test_a_server_that_is_right_now_and_then_is_not_stopped(loopback: Start, stories: Path, answer: str) -> None:
    ended = sit(asked(loopback(style={"rating": 0.5, answer: 0.5}), stories, concurrency=1))
    assert (ended.outcomes.cause, ended.missing, ended.totals.answered) == (None, 0, 60)


@pytest.mark.parametrize("style", ["truncated", "refusal", "content_filter"])
def test_cut_and_declined_answers_do_not_stop_a_run(loopback: Start, stories: Path, style: str) -> None:
    ended = sit(asked(loopback(style=style), stories))
    assert ended.outcomes.cause is None
    assert ended.outcomes.stopped is None


def test_fewer_than_ten_answers_stop_nothing(loopback: Start, stories: Path) -> None:
    server = loopback(fixed_text="Rating: 4")
    few = asked(server, stories)
    ended = sit(Sitting(few.spec, few.folder, few.result, limit=FIRST - 1, quiet=True))
    assert (ended.outcomes.cause, ended.totals.answered) == (None, FIRST - 1)


def test_the_command_ends_with_a_sentence_and_what_to_do(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(fixed_text="Rating: 4")
    definition = stories.parent / "run.yaml"
    definition.write_text(
        f"name: t\ndataset: stories.jsonl\njudge: openai/mock\ncriteria: overall\neval_prompts: ep1\n"
        f"structured: choice\nbase_url: {server.url}\n",
        encoding="utf-8",
    )
    with pytest.raises(SystemExit) as end:
        main(["run", str(definition), "--quiet"])
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert "does not follow structured: choice" in said
    assert "take a server or a model that constrains answers, or set structured: none" in said
    assert "Traceback" not in said
