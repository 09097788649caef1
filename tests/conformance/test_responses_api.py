"""`api: responses`, asked for and learnt, against an imitation of OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.asking.plan import load_prices
from judge.base.records import Criterion, Generation, Message, Query, Story
from judge.cli.main import main
from judge.exchange.batch.results import answers_in
from judge.ratings.ratings_table import read
from tests.conformance.providers import FLAGGED
from tests.conformance.responses_api import THOUGHTS, Behaviour, ResponsesImitated
from tests.conformance.server import KEY

STORIES, REPEATS = 8, 3
Start = Callable[..., ResponsesImitated]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Imitations, with the key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running: list[ResponsesImitated] = []

    def begin(**behaviour: Any) -> ResponsesImitated:
        running.append(ResponsesImitated(Behaviour(**behaviour)))
        return running[-1].__enter__()

    yield begin
    for one in running:
        one.__exit__(None, None, None)


def run(
    folder: Path, server: ResponsesImitated, capsys: pytest.CaptureFixture[str], command: str = "run", **changes: Any
) -> tuple[int, str]:
    """(exit code, stderr) of `judge run` over a few stories, one of which may be flagged."""
    lines = []
    for number in range(STORIES):
        words = FLAGGED if number == 5 and changes.get("flag") else "a lamp on the quay"
        story = {"id": f"s{number}", "story_prompt": f"Prompt {number // 4}", "system": f"x{number % 2}"}
        lines.append(json.dumps(story | {"text": f"Story {number}: {words}.", "ratings": []}))
    (folder / "stories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    definition: dict[str, Any] = {
        "name": "pro",
        "dataset": "stories.jsonl",
        "judge": "openai/gpt-5.4-pro",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": REPEATS,
        "generation": {"max_tokens": 256},
        "base_url": server.base_url,
        "concurrency": 8,
    }
    definition |= {key: value for key, value in changes.items() if key != "flag"}
    (folder / "run.yaml").write_text(yaml.safe_dump(definition), encoding="utf-8")
    code = 0
    capsys.readouterr()
    try:
        main([command, str(folder), "--output", str(folder / "results")])
    except SystemExit as end:
        code = int(end.code or 0)
    return code, capsys.readouterr().err


def answers(folder: Path) -> list[Any]:
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        return list(journal.answers())


def failed(folder: Path) -> dict[str, int]:
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        return dict(journal.totals().failed)


def manifest(folder: Path) -> Any:
    return json.loads((folder / "results" / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_model_that_has_no_other_route_is_asked_there(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], api: str
) -> None:
    server = start(fail_every=5)
    code, said = run(tmp_path, server, capsys, api=api)
    assert code == 0, said
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert ratings["status"].value_counts().to_dict() == {"ok": STORIES * REPEATS}
    # The first query goes alone, so that one refusal teaches the route.
    assert server.counts["chat"] == (0 if api == "responses" else 1)
    sent = server.requests[0]
    assert sent["max_output_tokens"] == 256
    assert sent["store"] is False
    assert [one["role"] for one in sent["input"]] == ["user"]
    if api == "chat":
        assert manifest(tmp_path)["in_force"]["server"]["servers"][0]["api"] == "responses"
        assert "/responses alone" in json.dumps(manifest(tmp_path)["sittings"])


def test_the_next_sitting_knows_the_route(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = start()
    assert run(tmp_path, server, capsys)[0] == 0
    assert run(tmp_path, server, capsys, repeats=REPEATS + 1)[0] == 0
    assert server.counts["chat"] == 1
    assert len(answers(tmp_path)) == STORIES * (REPEATS + 1)


def test_tokens_thinking_and_form(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = start()
    engine = {"reasoning": {"summary": "auto"}, "reasoning_effort": "high", "text": {"verbosity": "low"}}
    code, said = run(tmp_path, server, capsys, api="responses", repeats=1, structured="json", engine=engine)
    assert code == 0, said
    sent = server.requests[0]
    assert sent["reasoning"] == {"effort": "high", "summary": "auto"}
    assert sent["text"]["verbosity"] == "low"
    assert sent["text"]["format"]["type"] == "json_schema"
    assert sent["text"]["format"]["strict"] is True
    first = answers(tmp_path)[0].response
    assert (first.text, first.reasoning, first.finish_reason) == ('{"rating": 4}', THOUGHTS, "stop")
    assert (first.prompt_tokens, first.cached_tokens, first.completion_tokens, first.reasoning_tokens) == (
        100,
        64,
        17,
        12,
    )
    price = load_prices("openai/gpt-5.4-pro", [server.base_url])
    assert price is not None
    assert manifest(tmp_path)["totals"]["cost"] == pytest.approx(STORIES * price.cost(100, 17, 64))


def test_log_probabilities(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = start()
    code, said = run(tmp_path, server, capsys, api="responses", judge="openai/gpt-4.1-mini", scoring="logprobs")
    assert code == 0, said
    assert server.requests[0]["top_logprobs"] == 20
    rated = read([tmp_path / "results"]).frame.query("source == 'judge'")["rating"]
    weights = {point: 2.718281828459045 ** (-abs(4 - point)) for point in range(1, 6)}
    expected = sum(point * weight for point, weight in weights.items()) / sum(weights.values())
    assert set(rated.round(6)) == {round(expected, 6)}


def test_a_limit_reached_in_the_thinking_is_truncated(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(thinking=40)
    assert run(tmp_path, server, capsys, api="responses", generation={"max_tokens": 30})[0] == 0
    statuses = read([tmp_path / "results"]).frame.query("source == 'judge'")["status"].value_counts().to_dict()
    assert statuses == {"truncated": STORIES * REPEATS}


@pytest.mark.parametrize("flagged", ["incomplete", "invalid_prompt"])
def test_what_is_flagged_is_filtered_alone(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], flagged: str
) -> None:
    server = start(flagged=flagged)
    assert run(tmp_path, server, capsys, api="responses", flag=True)[0] == 3
    assert failed(tmp_path) == {"filtered": REPEATS}
    assert all(one.response.text for one in answers(tmp_path) if one.response is not None)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"generation": {"seed": 7}}, "generation.seed"),
        ({"generation": {"stop": ["###"]}}, "generation.stop"),
        ({"generation": {"temperature": 0.0}}, "generation.temperature"),
        ({"generation": {"max_tokens": 5}}, "generation.max_tokens"),
        ({"engine": {"reasoning_effort": "low"}}, "engine.reasoning_effort"),
    ],
)
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_what_the_route_does_not_take_is_named(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], named: str, api: str
) -> None:
    code, said = run(tmp_path, start(), capsys, api=api, **changes)
    assert (code, named in said) == (1, True), said
    assert not (tmp_path / "results" / "journal.sqlite").exists()


def test_a_server_without_the_route_says_what_it_said_first(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(tmp_path, start(route=False), capsys)
    assert code == 1
    assert "there is no /responses here" in said
    assert "/chat/completions" in said


def test_a_batch_line_names_the_route_and_its_answer_is_read(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start()
    assert run(tmp_path, server, capsys, api="responses")[0] == 0
    with pytest.raises(SystemExit) as end:
        main(["export", str(tmp_path), "--as", "batch", "-o", str(tmp_path / "lines.jsonl")])
    assert not end.value.code
    line = json.loads((tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert line["url"] == "/v1/responses"
    assert line["body"]["store"] is False
    body = {"object": "response", "status": "completed", "error": None, "model": "gpt-5.4-pro"}
    body["output"] = [{"type": "message", "content": [{"type": "output_text", "text": "Rating: 4"}]}]
    body["usage"] = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    result = {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
    query = Query(
        "k",
        Story("s", "p", "x", "t"),
        Criterion("O", "O", ""),
        "ep1",
        (Message("user", "u"),),
        Generation(),
        "responses",
    )
    (answer,) = answers_in(json.dumps(result).encode(), query)
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("Rating: 4", 9, 3)
