"""`anthropic/MODEL` against an imitation of the Messages API that counts tokens: cache, schema, thinking, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Sitting, sit
from judge.asking.in_force.catalogue import life_of
from judge.asking.in_force.settings import settings_in_force
from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.backends import open_backend
from judge.backends.anthropic import refused
from judge.backends.protocol import Settings
from judge.base.credentials.trust import UntrustedHostError
from judge.base.errors import BackendError, JudgeError, SpecError
from judge.base.records import Response
from judge.cli.main import main
from judge.ratings.ratings_table import read
from tests.conformance.messages_api import (
    BROKE,
    FLAGGED,
    KEY,
    OVERLOADED,
    SLOW_DOWN,
    Called,
    MessagesServer,
    failure,
    invalid,
    prompt_of,
)

WORDS = "The lamp on the quay went out again, and nobody who saw it knew how to light it. "
WITHOUT_REFERENCE = ["ep1", "ep2", "ep3", "ep5"]
SONNET = {"input": 3.0, "written": 3.75, "read": 0.3, "output": 15.0}
"""Dollars for a million tokens of claude-sonnet-4-6, from https://www.anthropic.com/pricing#api (November 2026)."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The imitation's key, and none of the user's own settings."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for name in ("ANTHROPIC_BASE_URL", "JUDGE_TRUSTED_HOSTS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    """The imitation; an answer takes as long as it takes for siblings to be sent too early."""
    with MessagesServer(delay=0.02) as listening:
        yield listening


def sitting(server: MessagesServer, folder: Path, *, length: int = 300, stories: int = 1, **changes: Any) -> Sitting:
    """A run over HANNA's six criteria; the flagged words stand in the story number 7 alone."""
    lines = []
    for number in range(stories):
        begin = f"Story {number}: {FLAGGED if number == 7 else 'a lamp'}. "
        one = {"id": f"s{number}", "story_prompt": f"Prompt {number // 2}: who lit it?", "system": f"x{number % 2}"}
        one |= {
            "text": (begin + WORDS * length)[:length],
            "reference": (f"Person {number // 2}. " + WORDS * length)[:length],
        }
        lines.append(json.dumps(one | {"ratings": []}))
    (folder / "stories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = {
        "name": "t",
        "dataset": "stories.jsonl",
        "judge": "anthropic/claude-sonnet-4-6",
        "criteria": "hanna",
        "eval_prompts": WITHOUT_REFERENCE,
        "generation": {"max_tokens": 256},
        "base_url": server.url,
        "concurrency": 64,
        "attempt_timeout": 5.0,
    }
    return Sitting(parse_run_spec(run | changes, "test"), folder, ResultFolder(folder / "results"), quiet=True)


def responses(folder: Path) -> list[Response]:
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        return [answer.response for answer in journal.answers() if answer.response is not None]


def tokens(call: Called) -> int:
    return len(prompt_of(call.body)) // 4


def too_early(calls: list[Called]) -> list[tuple[str, str]]:
    """Calls that came while another one was still being answered that wrote a prefix which they could have read."""

    def prefixes(call: Called) -> set[str]:
        found, text = set(), ""
        for block in call.body["messages"][0]["content"]:
            text += block["text"]
            if "cache_control" in block:
                found.add(text)
        return found

    pairs = combinations(sorted(calls, key=lambda call: call.came), 2)
    return [
        (prompt_of(one.body)[-80:], prompt_of(other.body)[-80:])
        for one, other in pairs
        if prefixes(one) & prefixes(other) and other.came < one.answered and not read_by_both(one, other)
    ]


def read_by_both(one: Called, other: Called) -> bool:
    """Whether what both share was there for both: each of them wrote nothing that the other shares."""
    shared = len(_common(prompt_of(one.body), prompt_of(other.body))) // 4
    return min(one.usage["cache_read_input_tokens"], other.usage["cache_read_input_tokens"]) >= shared - 20


def _common(one: str, other: str) -> str:
    return one[
        : next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(map(len, (one, other))))
    ]


def test_a_storys_24_queries_cost_little_more_than_one_prompt(server: MessagesServer, tmp_path: Path) -> None:
    result = sit(sitting(server, tmp_path, length=20_000))
    assert (result.outcomes.answered, len(server.calls)) == (24, 24)
    one_prompt = sum(map(tokens, server.calls)) / 24
    assert server.paid_in_full <= 1.3 * one_prompt
    assert server.paid_in_full + server.total("cache_read_input_tokens") == sum(map(tokens, server.calls))
    assert too_early(server.calls) == []


def test_with_the_reference_there_are_two_prompts_and_each_is_paid_once(server: MessagesServer, tmp_path: Path) -> None:
    # ep4 shows the reference before the story, so that it shares but the story-prompt with the others.
    sit(sitting(server, tmp_path, length=24_000, eval_prompts=["ep1", "ep2", "ep3", "ep4"]))
    assert len(server.calls) == 24
    compared = [tokens(call) for call in server.calls if "by a person" in prompt_of(call.body)]
    others = [tokens(call) for call in server.calls if "by a person" not in prompt_of(call.body)]
    assert server.paid_in_full <= 1.3 * (sum(compared) / len(compared) + sum(others) / len(others))


def test_repeats_stories_and_a_shared_reference_read_the_cache_too(server: MessagesServer, tmp_path: Path) -> None:
    sit(sitting(server, tmp_path, length=20_000, stories=4, repeats=3, eval_prompts=["ep1", "ep3", "ep4"]))
    assert len(server.calls) == 4 * 18 * 3
    # For two stories of one story-prompt: each story alone, each after the reference, the reference once.
    texts = 2 * (2 * 20_000 + 2 * 20_000 + 20_000) // 4
    assert server.paid_in_full <= 1.2 * texts
    assert too_early(server.calls) == []


def test_the_prompts_are_what_the_plan_renders(server: MessagesServer, tmp_path: Path) -> None:
    ran = sitting(server, tmp_path, length=9_000, system="You judge stories, strictly. " * 3)
    sit(ran)
    plan = make_plan(ran.spec, folder=tmp_path)
    with JournalReader(ran.result.journal) as journal:
        groups = list(plan.groups(lambda: journal.stories(by_prompt=True, ratings=False)))
    rendered = sorted("".join(m.content for m in query.messages) for group in groups for query in group)
    assert sorted(prompt_of(call.body) for call in server.calls) == rendered
    assert {call.body["system"][0]["text"] for call in server.calls} == {ran.spec.system}
    assert {key for call in server.calls for key in call.body} == {"model", "max_tokens", "system", "messages"}


@pytest.mark.parametrize("reply", [OVERLOADED, SLOW_DOWN])
def test_while_the_first_query_is_told_to_come_again_its_siblings_wait(
    server: MessagesServer, tmp_path: Path, reply: Any
) -> None:
    server.faults = lambda number, _body: reply if number <= 2 else None
    result = sit(sitting(server, tmp_path, length=20_000))
    assert result.outcomes.answered == 24
    assert server.paid_in_full <= 1.3 * sum(map(tokens, server.calls)) / 24
    assert too_early(server.calls) == []


def test_a_prompt_that_nothing_shares_is_not_written_into_the_cache(server: MessagesServer, tmp_path: Path) -> None:
    sit(sitting(server, tmp_path, length=20_000, criteria={"set": "hanna", "only": ["Relevance"]}, eval_prompts="ep1"))
    (alone,) = server.calls
    assert alone.usage["cache_creation_input_tokens"] == 0  # nobody shares it: writing it would cost a quarter more


def test_reads_writes_and_dollars_are_counted_apart(
    server: MessagesServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = sit(sitting(server, tmp_path, length=20_000))
    found = responses(tmp_path)
    for name, counted in (
        ("cached_tokens", server.total("cache_read_input_tokens")),
        ("cache_write_tokens", server.total("cache_creation_input_tokens")),
        ("completion_tokens", server.total("output_tokens")),
        ("prompt_tokens", sum(map(tokens, server.calls))),
    ):
        assert sum(getattr(response, name) or 0 for response in found) == counted, name
    charged = (
        server.total("input_tokens") * SONNET["input"]
        + server.total("cache_creation_input_tokens") * SONNET["written"]
        + server.total("cache_read_input_tokens") * SONNET["read"]
        + server.total("output_tokens") * SONNET["output"]
    ) / 1e6
    assert result.outcomes.known_cost == pytest.approx(charged, rel=1e-12)
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path / "results")])
    said = " ".join(capsys.readouterr().out.split())
    read_, written = server.total("cache_read_input_tokens"), server.total("cache_creation_input_tokens")
    assert f"{read_:,} of them cached and {written:,} written into the cache" in said
    assert "($0.3000 from the cache, $3.7500 written into it)" in said


def test_a_schema_is_forced_and_two_schemas_are_two_prefixes(server: MessagesServer, tmp_path: Path) -> None:
    sit(sitting(server, tmp_path, length=20_000, structured="json"))
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert ratings["status"].value_counts().to_dict() == {"ok": 24}
    (formats, others) = ({json.dumps(c.body["output_config"]["format"]) for c in server.calls}, len(server.calls))
    assert (len(formats), others) == (2, 24)
    assert server.paid_in_full <= 2.6 * sum(map(tokens, server.calls)) / 24
    assert too_early([c for c in server.calls if "explanation" in json.dumps(c.body["output_config"])]) == []


def test_thinking_stands_apart_and_no_rating_is_read_from_it(server: MessagesServer, tmp_path: Path) -> None:
    engine = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
    sit(sitting(server, tmp_path, engine=engine, structured="json", eval_prompts="ep1"))
    assert {r.reasoning for r in responses(tmp_path)} == {"The ending is weak, so a 2 at first."}
    assert {r.reasoning_tokens for r in responses(tmp_path)} == {8}
    assert {tuple(call.body["output_config"]) for call in server.calls} == {("effort", "format")}
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert set(ratings["rating"]) == {4}


def test_a_refusal_is_filtered_and_costs_that_story_alone(server: MessagesServer, tmp_path: Path) -> None:
    sit(sitting(server, tmp_path, stories=8, eval_prompts="ep1"))
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert ratings["status"].value_counts().to_dict() == {"ok": 42, "filtered": 6}
    assert set(ratings.query("status == 'filtered'")["story"]) == {"s7"}


SENT: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [],
    "temperature": 0.0,
    "top_p": 1.0,
    "thinking": {},
    "top_k": 3,
}
SENT |= {"output_config": {"format": {}}}
WORDED = [
    (OVERLOADED, "overload", (), "529"),
    (
        failure(429, "rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit"),
        "rate",
        (),
        "",
    ),
    (BROKE, "quota", (), "add credit"),
    (failure(402, "billing_error", "There is an issue with your billing."), "quota", (), "add credit"),
    (
        invalid("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
        "quota",
        (),
        "add credit",
    ),
    (failure(401, "authentication_error", "invalid x-api-key"), "auth", (), "ANTHROPIC_API_KEY"),
    (failure(403, "permission_error", "Your API key does not have permission"), "auth", (), "ANTHROPIC_API_KEY"),
    (failure(404, "not_found_error", "model: claude-nope"), "model", (), "doctor"),
    (failure(413, "request_too_large", "Request exceeds the maximum size"), "context", (), "shorten"),
    (invalid("prompt is too long: 208310 tokens > 200000 maximum"), "context", (), "shorten"),
    (invalid("input length and `max_tokens` exceed context limit: 1 + 2 > 200000"), "context", (), "shorten"),
    (failure(504, "timeout_error", "The request timed out"), "server", (), ""),
    (failure(500, "api_error", "Internal server error"), "server", (), ""),
    (invalid("`temperature` is deprecated for this model."), "capability", ("temperature",), "generation.temperature"),
    (
        invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."),
        "capability",
        ("temperature",),
        "generation.temperature",
    ),
    (
        invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
        "capability",
        ("temperature", "top_p"),
        "generation.top_p",
    ),
    (invalid("top_k: Extra inputs are not permitted"), "capability", ("top_k",), "engine.top_k"),
    (
        invalid("max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens for m"),
        "capability",
        ("max_tokens",),
        "generation.max_tokens",
    ),
    (
        invalid('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"'),
        "capability",
        ("thinking",),
        "engine.thinking",
    ),
    (
        invalid("output_config.format: Extra inputs are not permitted"),
        "capability",
        ("output_config",),
        "structured: none",
    ),
    (invalid("Output blocked by content filtering policy"), "filtered", (), ""),
]


@pytest.mark.parametrize(("reply", "kind", "settings", "hint"), WORDED, ids=lambda value: str(value)[:60])
def test_refusals_have_their_kind_and_what_mends_them(
    reply: Any, kind: str, settings: tuple[str, ...], hint: str
) -> None:
    status, headers, body = reply
    error = refused(status, headers, json.dumps(body).encode(), "http://x", SENT)
    assert (error.kind, error.refusal.settings) == (kind, settings)
    assert hint in f"{error} {error.hint}"
    assert "chat/completions" not in f"{error} {error.hint}"


def test_a_wait_is_read_from_headers() -> None:
    status, _, body = SLOW_DOWN
    assert refused(status, {"retry-after": "7"}, json.dumps(body).encode(), "http://x").retry_after == 7


def test_a_refused_setting_ends_the_run_before_anything_is_given_up(server: MessagesServer, tmp_path: Path) -> None:
    generation = {"max_tokens": 256, "temperature": 0.0}
    with pytest.raises(BackendError) as caught:
        sit(sitting(server, tmp_path, judge="anthropic/claude-opus-4-7", generation=generation))
    assert caught.value.kind == "capability"
    assert "generation.temperature" in str(caught.value.hint)
    assert not (tmp_path / "results" / "journal.sqlite").exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"generation": {}}, "generation.max_tokens"),
        ({"generation": {"max_tokens": 9, "seed": 7}}, "generation.seed"),
        ({"scoring": "logprobs"}, "scoring: text"),
        ({"structured": "choice"}, "structured: json"),
        ({"api": "completions"}, "api: completions"),
        ({"engine": {"cache_control": {"type": "ephemeral"}}}, "cache points"),
        ({"base_url": ["http://127.0.0.1:1", "http://127.0.0.1:2"]}, "name one"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_the_protocol_has_no_form_for_is_refused_before_the_first_query(
    server: MessagesServer, tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(JudgeError) as caught:
        sit(sitting(server, tmp_path, **changes))
    assert named in str(caught.value.hint)
    assert server.counts["messages"] == 0
    assert not (tmp_path / "results" / "journal.sqlite").exists()


def test_a_used_up_account_stops_the_run_and_the_same_command_goes_on(server: MessagesServer, tmp_path: Path) -> None:
    server.faults = lambda number, _body: BROKE if number > 5 else None
    stopped = sit(sitting(server, tmp_path))
    assert stopped.outcomes.cause is not None
    assert (stopped.outcomes.cause.kind, stopped.outcomes.failed) == ("quota", 0)
    server.faults = lambda _number, _body: None
    assert sit(sitting(server, tmp_path)).missing == 0


def test_a_model_that_is_not_there_is_answered_with_the_nearest(server: MessagesServer, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="does not have the model 'claude-sonet-4-6'") as caught:
        sit(sitting(server, tmp_path, judge="anthropic/claude-sonet-4-6"))
    assert caught.value.hint == "did you mean anthropic/claude-sonnet-4-6?"


def test_the_manifest_says_what_an_alias_stands_for_and_what_is_in_force(
    server: MessagesServer, tmp_path: Path
) -> None:
    generation = {"max_tokens": 256, "temperature": 0.5, "stop": ["###"]}
    judge = "anthropic/claude-haiku-4-5"
    sit(sitting(server, tmp_path, judge=judge, generation=generation, repeats=2, eval_prompts="ep1"))
    force = read_manifest(tmp_path / "results" / "manifest.json")["in_force"]
    (told,) = force["server"]["servers"]
    assert (told["id"], told["answers_per_call"]) == ("claude-haiku-4-5-20251001", 1)
    # A server on this machine may be anybody's: what Anthropic documents proves nothing of it, what was seen does.
    states = {name: setting["state"] for name, setting in force["settings"].items()}
    assert states == {"max_tokens": "unknown", "n": "ignored", "stop": "unknown", "temperature": "unknown"}
    assert {call.body["stop_sequences"][0] for call in server.calls} == {"###"}


def test_at_anthropics_own_address_its_documentation_and_the_catalogue_speak() -> None:
    run = {
        "name": "t",
        "dataset": "d",
        "criteria": "hanna",
        "eval_prompts": ["ep1"],
        "structured": "json",
        "repeats": 3,
    }
    run |= {"judge": "anthropic/claude-opus-4-7", "generation": {"max_tokens": 9, "temperature": 0.0, "stop": ["#"]}}
    found = {one.setting: one.state for one in settings_in_force(parse_run_spec(run, "t"))}
    assert found == {
        "temperature": "unknown",  # the catalogue lists none for this model
        "max_tokens": "honoured",
        "stop": "honoured",
        "n": "ignored",
        "structured": "honoured",
    }
    life = life_of("anthropic/claude-opus-4-1")
    assert life is not None
    assert life.on == "2026-08-05"


def test_it_is_said_where_the_cache_held_nothing(server: MessagesServer, tmp_path: Path) -> None:
    ran = sitting(server, tmp_path, judge="anthropic/claude-haiku-4-5", length=2_000)
    sit(ran)
    assert server.total("cache_read_input_tokens") == 0
    (notice,) = [n for s in read_manifest(ran.result.manifest)["sittings"] for n in s.get("notices", ())]
    assert "cached none of 24 prompts" in notice


def test_the_key_goes_to_its_own_header_and_nowhere_else(
    server: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sit(sitting(server, tmp_path, eval_prompts="ep1"))  # the imitation refuses every other header
    for file in (tmp_path / "results").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    with pytest.raises(UntrustedHostError, match="ANTHROPIC_API_KEY"):
        open_backend("anthropic/m", Settings(base_url=("https://gateway.example",)))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example")
    own = open_backend("anthropic/m", Settings())
    assert own.credentials.headers("https://gateway.example") == {"x-api-key": KEY}  # type: ignore[attr-defined]
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-0123456789")
    skin = open_backend("anthropic/m", Settings(base_url=("https://openrouter.ai/api/v1",)))
    sent = skin.credentials.headers("https://openrouter.ai")  # type: ignore[attr-defined]
    assert sent == {"Authorization": "Bearer sk-or-0123456789"}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    with pytest.raises(SpecError):
        open_backend("anthropic/", Settings())


def test_a_missing_or_wrong_key_is_told_before_the_data_is_read(
    server: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong-0123456789")
    with pytest.raises(BackendError, match="invalid x-api-key") as caught:
        sit(sitting(server, tmp_path))
    assert (caught.value.kind, "ANTHROPIC_API_KEY" in str(caught.value.hint)) == ("auth", True)


def test_doctor_examines_it(server: MessagesServer, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--format", "json", "--provider", "anthropic", "--base-url", server.url])
    examined, lines = json.loads(capsys.readouterr().out)
    rows = {row["what"]: row for row in examined["rows"]}
    assert (rows["server"]["state"], rows["key"]["state"]) == ("ok", "ok")
    assert server.counts == {"models": 1}
    said = [row["line"] for row in lines["rows"]]
    assert said[:2] == ["judge: anthropic/claude-sonnet-4-6", f"base_url: {server.url}"]


def test_a_price_holds_for_the_listed_tier_alone(server: MessagesServer, tmp_path: Path) -> None:
    dear = sit(sitting(server, tmp_path, engine={"inference_geo": "us"}, eval_prompts="ep1"))
    assert dear.outcomes.known_cost is None  # it costs a tenth more there


def test_a_forecast_knows_that_each_repeat_is_a_call(
    server: MessagesServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = sitting(server, tmp_path, repeats=3).spec
    (tmp_path / "run.yaml").write_text(json.dumps(spec.model_dump(exclude_unset=True)), encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["run", str(tmp_path), "--dry-run", "--format", "json"])
    assert not end.value.code
    printed = json.loads(capsys.readouterr().out)
    table = printed[0] if isinstance(printed, list) else printed
    (row,) = table["rows"]
    assert any("72 answers come in 72 requests" in note for note in table["notes"])
    assert row["batch_cost"] == pytest.approx(row["cost"] / 2)
    assert server.counts["messages"] == 0


Body = dict[str, Any]


@pytest.fixture
def usage(server: MessagesServer) -> Callable[..., Body]:
    """Asks the imitation for nothing but a request's tokens, and lets it cache what the request writes."""

    def counted(
        *texts: str, points: tuple[int, ...] = (0,), model: str = "claude-sonnet-4-6", begun: bool = True
    ) -> Body:
        blocks: list[Body] = [{"type": "text", "text": text} for text in texts]
        for point in points:
            blocks[point]["cache_control"] = {"type": "ephemeral"}
        body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": blocks}]}
        found, written = server._usage(body)
        if begun:
            server._cache |= dict.fromkeys(written, server.clock())
        return {"read": found["cache_read_input_tokens"], "written": found["cache_creation_input_tokens"]}

    return counted


def test_the_imitation_caches_as_documented(server: MessagesServer, usage: Callable[..., Body]) -> None:
    story, now = "w" * 8_000, [0.0]
    server.clock = lambda: now[0]
    assert usage("w" * 4_000, "end") == {"read": 0, "written": 0}  # 1000 tokens: below the least length
    assert usage(story, "one", begun=False) == {"read": 0, "written": 2000}
    assert usage(story, "two") == {"read": 0, "written": 2000}  # the first answer had not begun
    assert usage(story, "three") == {"read": 2000, "written": 0}
    assert usage(story + "x", "three", begun=False) == {"read": 0, "written": 2000}  # not the same prefix
    assert usage(story, "y" * 400, points=(0, 1)) == {"read": 2000, "written": 100}
    assert usage(story, "three", model="claude-haiku-4-5") == {"read": 0, "written": 0}
    now[0] = 299.0
    assert usage(story, "four") == {"read": 2000, "written": 0}  # which refreshes it
    now[0] = 598.0
    assert usage(story, "five") == {"read": 2000, "written": 0}
    now[0] = 898.0
    assert usage(story, "six") == {"read": 0, "written": 2000}
