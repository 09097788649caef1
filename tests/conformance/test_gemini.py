"""`gemini/` against an imitation of Google's own API: whole runs, blocks, thinking, tokens, limits, keys, batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.asking.in_force.catalogue import life_of
from judge.asking.in_force.settings import settings_in_force
from judge.asking.plan import load_prices
from judge.asking.run_definition.spec import parse_run_spec
from judge.cli.main import main
from judge.exchange.batch.requests import wanted_of_all
from judge.exchange.batch.submission import submit
from judge.ratings.ratings_table import read
from tests.conformance.gemini import KEY, THOUGHTS, Behaviour, GeminiImitated
from tests.conformance.providers import FLAGGED

STORIES, REPEATS = 12, 3
Start = Callable[..., GeminiImitated]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Imitations, with the key in the environment."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setattr("judge.exchange.batch.ledger.time.sleep", lambda _: None)
    running: list[GeminiImitated] = []

    def begin(**behaviour: Any) -> GeminiImitated:
        running.append(GeminiImitated(Behaviour(**behaviour)))
        return running[-1].__enter__()

    yield begin
    for one in running:
        one.__exit__(None, None, None)


def send(folder: Path) -> None:
    """Submit what the run lacks, in batches of 13 lines."""
    (wanted,) = wanted_of_all(folder, [])
    submit(wanted, print, most_lines=13)


def write_run(folder: Path, server: GeminiImitated, **changes: Any) -> None:
    """Stories, one of which may be blocked, and a definition."""
    lines = []
    for number in range(STORIES):
        words = FLAGGED if number == 7 else "a lamp on the quay"
        story = {"id": f"s{number}", "story_prompt": f"Prompt {number // 4}", "system": f"x{number % 2}"}
        lines.append(json.dumps(story | {"text": f"Story {number}: {words}.", "ratings": []}))
    (folder / "stories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run: dict[str, Any] = {
        "name": "gemini",
        "dataset": "stories.jsonl",
        "judge": "gemini/gemini-2.5-flash",
        "criteria": "overall",
        "eval_prompts": ["ep2"],
        "repeats": REPEATS,
        "generation": {"temperature": 0.0, "max_tokens": 256},
        "base_url": server.base_url,
        "concurrency": 8,
        "attempt_timeout": 5.0,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(run | changes), encoding="utf-8")


class Ran:
    """How a command ended: its exit code, and what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        self.code = 0
        capsys.readouterr()
        try:
            main(list(arguments))
        except SystemExit as end:
            self.code = int(end.code or 0)
        self.printed, self.said = capsys.readouterr()


def run(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Ran:
    return Ran(capsys, "run", str(folder), "--output", str(folder / "results"), *more)


def totals(folder: Path) -> Any:
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        return journal.totals()


def answers(folder: Path) -> list[Any]:
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        return list(journal.answers())


def manifest(folder: Path) -> Any:
    return json.loads((folder / "results" / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "models/gemini-3.5-flash"])
def test_a_run_ends_with_every_rating(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    server = start(limit_every=7, overload_every=11, lenient=True)
    write_run(tmp_path, server, judge=f"gemini/{model}", system="You are a careful reader.")
    ran = run(tmp_path, capsys)
    assert ran.code == 0, ran.said
    assert totals(tmp_path).answered == STORIES * REPEATS
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert ratings["status"].value_counts().to_dict() == {"ok": STORIES * REPEATS}
    assert set(ratings["rating"]) == {4.0}
    sent = server.requests[0]
    assert sent["systemInstruction"] == {"parts": [{"text": "You are a careful reader."}]}
    assert [one["role"] for one in sent["contents"]] == ["user"]
    assert sent["generationConfig"]["maxOutputTokens"] == 256
    # Models of 3.x refuse several candidates: one call each, learnt from the first refusal.
    several = {body["generationConfig"].get("candidateCount", 1) for body in server.requests}
    assert several == ({1} if "3.5" in model else {3})
    assert not any("key=" in address or KEY in address for address in server.addresses)


def test_every_setting_goes_where_the_api_has_it(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(lenient=True)
    engine = {"top_k": 5, "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]}
    generation = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 99, "seed": 7, "stop": ["###"]}
    write_run(tmp_path, server, structured="json-explanation-first", engine=engine, generation=generation, repeats=2)
    ran = run(tmp_path, capsys)
    assert ran.code == 0, ran.said
    config = server.requests[0]["generationConfig"]
    asked = {"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 99, "stopSequences": ["###"], "topK": 5}
    assert asked.items() <= config.items()
    seeds = {body["generationConfig"]["seed"] for body in server.requests}
    assert {7, 8} <= seeds  # each repeat with its own; and the question about seeds
    assert server.requests[0]["safetySettings"] == engine["safetySettings"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["propertyOrdering"] == ["explanation", "rating"]
    assert answers(tmp_path)[0].response.text.startswith('{"explanation"')
    assert manifest(tmp_path)["in_force"]["settings"]["structured"]["source"] == "answers"


def test_the_catalogue_speaks_of_this_interface_at_googles_own_address() -> None:
    data = {"name": "t", "dataset": "demo", "judge": "gemini/gemini-2.5-flash", "criteria": "overall"}
    asked = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 99}
    spec = parse_run_spec(data | {"eval_prompts": ["ep1"], "generation": asked, "structured": "json"}, "t")
    found = {one.setting: (one.state, one.source) for one in settings_in_force(spec)}
    assert found == dict.fromkeys([*asked, "structured"], ("honoured", "catalogue"))
    life = life_of("gemini/gemini-2.5-flash")
    assert life is not None
    assert life.model == "google/gemini-2.5-flash"


def test_a_choice_and_log_probabilities(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = start(lenient=True)
    write_run(tmp_path, server, structured="choice", eval_prompts=["ep1"], scoring="logprobs")
    ran = run(tmp_path, capsys)
    assert ran.code == 0, ran.said
    config = server.requests[0]["generationConfig"]
    assert config["responseSchema"] == {"type": "STRING", "enum": ["1", "2", "3", "4", "5"]}
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 20)
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")["rating"]
    # The expected value over the points, from exp(-0.1 - |4 - point|) for each.
    weights = {point: 2.718281828459045 ** (-abs(4 - point)) for point in range(1, 6)}
    expected = sum(point * weight for point, weight in weights.items()) / sum(weights.values())
    assert set(ratings.round(6)) == {round(expected, 6)}


@pytest.mark.parametrize("block", ["prompt:OTHER", "prompt:PROHIBITED_CONTENT", "candidate:SAFETY", "candidate:SPII"])
def test_what_is_blocked_is_filtered_and_alone(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], block: str
) -> None:
    server = start(block=block)
    write_run(tmp_path, server)
    ran = run(tmp_path, capsys)
    assert ran.code == 3, ran.said
    found = totals(tmp_path)
    assert (found.answered, dict(found.failed)) == ((STORIES - 1) * REPEATS, {"filtered": REPEATS})
    (said,) = {one.error for one in answers(tmp_path) if one.error_kind}
    assert block.partition(":")[2] in said
    assert "dangerous_content" in said
    assert all(one.response.text for one in answers(tmp_path) if one.response is not None)


def test_an_answer_that_was_begun_is_kept_and_an_empty_list_is_asked_again(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(block="begun:SAFETY")
    write_run(tmp_path, server)
    assert run(tmp_path, capsys).code == 0
    statuses = read([tmp_path / "results"]).frame.query("source == 'judge'")["status"].value_counts().to_dict()
    assert statuses == {"ok": (STORIES - 1) * REPEATS, "filtered": REPEATS}
    empty = start(block="none:")
    (tmp_path / "b").mkdir()
    write_run(tmp_path / "b", empty, max_attempts=2)
    ran = run(tmp_path / "b", capsys)
    assert ran.code == 3
    assert dict(totals(tmp_path / "b").failed) == {"server": REPEATS}
    assert "no candidate" in next(one.error for one in answers(tmp_path / "b") if one.error)


def test_thinking_is_kept_apart_counted_and_priced(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start(lenient=True, thinking=40)
    write_run(tmp_path, server, repeats=1, engine={"thinkingConfig": {"includeThoughts": True}})
    assert run(tmp_path, capsys).code == 0
    first = answers(tmp_path)[0].response
    assert (first.reasoning, THOUGHTS in first.text) == (THOUGHTS, False)
    assert (first.reasoning_tokens, first.finish_reason, first.model) == (40, "stop", "gemini-2.5-flash")
    visible = len(first.text) // 4 + 1
    assert first.completion_tokens == visible + 40
    found = totals(tmp_path)
    price = load_prices("gemini/gemini-2.5-flash")
    assert price is not None
    assert price.output == 2.5  # ai.google.dev/gemini-api/docs/pricing, through genai-prices 0.2.3
    assert found.completion_tokens == STORIES * (visible + 40)
    cost = price.cost(found.prompt_tokens, found.completion_tokens)
    assert manifest(tmp_path)["totals"]["cost"] == pytest.approx(cost)


def test_a_limit_that_was_reached_in_the_thinking_is_truncated(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(lenient=True, thinking=40)
    write_run(tmp_path, server, repeats=1, generation={"max_tokens": 30})
    assert run(tmp_path, capsys).code == 0
    statuses = read([tmp_path / "results"]).frame.query("source == 'judge'")["status"].value_counts().to_dict()
    assert statuses == {"truncated": STORIES}
    assert {one.response.completion_tokens for one in answers(tmp_path)} == {30}


def test_what_the_implicit_cache_gave_is_counted_and_priced(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(lenient=True)
    write_run(tmp_path, server, criteria="hanna", repeats=1, concurrency=1)
    long = {"id": "long", "story_prompt": "P", "system": "x", "text": "The lamp went out again. " * 300, "ratings": []}
    (tmp_path / "stories.jsonl").write_text(json.dumps(long) + "\n", encoding="utf-8")
    assert run(tmp_path, capsys).code == 0
    cached = [one.response.cached_tokens or 0 for one in answers(tmp_path)]
    assert len(cached) == 6
    assert sorted(cached)[0] == 0  # the first of the story's queries
    assert sorted(cached)[1] >= 1024
    found = totals(tmp_path)
    price = load_prices("gemini/gemini-2.5-flash")
    assert price is not None
    assert found.cached_tokens == sum(cached)
    assert manifest(tmp_path)["totals"]["cost"] == pytest.approx(
        price.cost(found.prompt_tokens, found.completion_tokens, sum(cached))
    )


REFUSED = [
    ({"generation": {"temperature": 3.0}}, "generation.temperature"),
    ({"generation": {"stop": ["a", "b", "c", "d", "e", "f"]}}, "generation.stop"),
    ({"judge": "gemini/gemini-3.5-flash", "scoring": "logprobs", "eval_prompts": ["ep1"]}, "scoring: text"),
    ({"judge": "gemini/gemini-2.5-pro", "engine": {"thinkingConfig": {"thinkingBudget": 0}}}, "engine.thinkingConfig"),
    ({"engine": {"reasoning_effort": "low"}}, "engine.reasoning_effort"),
    ({"generation": {"max_tokens": 70_000}}, "generation.max_tokens"),
    ({"engine": {"logit_bias": {}}, "generation": {"temperature": 2.5}}, "generation.temperature"),
]


@pytest.mark.parametrize(("changes", "named"), REFUSED, ids=[named for _, named in REFUSED])
def test_a_refused_setting_stops_the_run_and_is_named(
    start: Start,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    named: str,
) -> None:
    # On a busy machine a refusal takes longer than the list of models promised, and others would have followed.
    monkeypatch.setattr("judge.backends.openai.backend._SHORTEST", 2.0)
    server = start()
    write_run(tmp_path, server, **changes)
    ran = run(tmp_path, capsys)
    assert (ran.code, named in ran.said) == (1, True), ran.said
    assert "max_completion_tokens" not in ran.said  # it has one name for the limit, and no other is tried
    assert not (tmp_path / "results" / "journal.sqlite").exists()


def test_a_used_up_day_stops_the_run_and_the_same_command_ends_it(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(day_after=4, lenient=True)
    write_run(tmp_path, server)
    stopped = run(tmp_path, capsys)
    assert (stopped.code, "quota" in stopped.said) == (1, True), stopped.said
    assert dict(totals(tmp_path).failed) == {}
    server.behaviour.day_after = None
    assert run(tmp_path, capsys).code == 0
    assert totals(tmp_path).answered == STORIES * REPEATS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key": "AIza-another-key-00000"}, "check GEMINI_API_KEY or GOOGLE_API_KEY"),
        ({"key": None}, "unregistered callers"),
        ({"location": True}, "location is not supported"),
        ({"model": "gemini-2.5-flsh"}, "did you mean gemini/gemini-2.5-flash?"),
    ],
)
def test_a_wrong_key_place_or_model_ends_the_run_at_once(
    start: Start,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    words: str,
) -> None:
    server = start(refused_location="location" in change)
    if "key" in change:
        monkeypatch.setenv("GEMINI_API_KEY", change["key"] or "")
    write_run(tmp_path, server, judge=f"gemini/{change.get('model', 'gemini-2.5-flash')}")
    ran = run(tmp_path, capsys)
    assert (ran.code, words in ran.said) == (1, True), ran.said
    assert "AIza" not in ran.said


def test_one_route_alone(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for api in ("completions", "responses"):
        write_run(tmp_path, start(), api=api)
        ran = run(tmp_path, capsys)
        assert (ran.code, f"`api: {api}`" in ran.said) == (1, True), ran.said


def test_a_run_goes_through_batches_at_half_the_price(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start()
    write_run(tmp_path, server)
    send(tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob("batches.json"))
    assert len(server.batches.made) == 3
    assert Ran(capsys, "run", str(tmp_path), "--batch", "submit").code == 0  # sends nothing twice
    assert set(server.batches.paid.values()) == {1}
    assert len(server.batches.paid) == STORIES * REPEATS  # a line for each repeat
    assert Ran(capsys, "run", str(folder), "--batch", "collect").code == 3
    assert Ran(capsys, "run", str(folder), "--batch", "collect").code == 0
    with JournalReader(folder / "journal.sqlite") as journal:
        found = journal.totals()
    assert (found.answered, dict(found.failed)) == ((STORIES - 1) * REPEATS, {"filtered": REPEATS})
    price = load_prices("gemini/gemini-2.5-flash")
    assert price is not None
    assert price.batch is not None
    assert price.batch.output == price.output / 2
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert told["totals"]["cost"] == pytest.approx(price.batch.cost(found.prompt_tokens, found.completion_tokens))
    ratings = read([folder]).frame.query("source == 'judge'")
    assert set(ratings["rating"].dropna()) == {4.0}
    assert not any("key=" in address for address in server.addresses)
    # Live answers and batches are one run: nothing is left to ask but what was filtered for good.
    asked = server.counts["requests"]
    assert Ran(capsys, "run", str(tmp_path), "--output", str(folder)).code == 3
    assert server.counts["requests"] == asked


@pytest.mark.parametrize("step", ["upload", "create"])
def test_a_lost_reply_is_not_paid_for_twice(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    server = start(lenient=True)
    server.batches.lose = step
    write_run(tmp_path, server)
    send(tmp_path)
    assert server.batches.lose is None
    assert len(server.batches.made) == 3
    assert set(server.batches.paid.values()) == {1}


def test_what_a_batch_did_not_answer_is_asked_by_the_next(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start(lenient=True)
    server.batches.failing = frozenset({0, 5})
    write_run(tmp_path, server)
    assert Ran(capsys, "run", str(tmp_path), "--batch", "submit").code == 0
    (folder,) = (path.parent for path in tmp_path.rglob("batches.json"))
    Ran(capsys, "run", str(folder), "--batch", "status")
    assert Ran(capsys, "run", str(folder), "--batch", "collect").code == 0
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.totals().answered == STORIES * REPEATS - 2
    server.batches.failing = frozenset()
    assert Ran(capsys, "run", str(tmp_path), "--batch", "submit").code == 0
    assert len(server.batches.made["b002"]["_lines"]) == 2
    Ran(capsys, "run", str(folder), "--batch", "status")
    assert Ran(capsys, "run", str(folder), "--batch", "collect").code == 0
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.totals().answered == STORIES * REPEATS


@pytest.mark.parametrize("state", ["BATCH_STATE_EXPIRED", "BATCH_STATE_FAILED"])
def test_a_batch_that_ended_without_answers_is_said_and_its_lines_are_sent_again(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    server = start(lenient=True)
    server.batches.ends = state
    write_run(tmp_path, server)
    assert Ran(capsys, "run", str(tmp_path), "--batch", "submit").code == 0
    (folder,) = (path.parent for path in tmp_path.rglob("batches.json"))
    Ran(capsys, "run", str(folder), "--batch", "status")
    said = Ran(capsys, "run", str(folder), "--batch", "status")
    assert state.rpartition("_")[2].lower() in said.printed
    Ran(capsys, "run", str(folder), "--batch", "collect")
    server.batches.ends = "BATCH_STATE_SUCCEEDED"
    assert Ran(capsys, "run", str(tmp_path), "--batch", "submit").code == 0
    Ran(capsys, "run", str(folder), "--batch", "status")
    assert Ran(capsys, "run", str(folder), "--batch", "collect").code == 0
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.totals().answered == STORIES * REPEATS
