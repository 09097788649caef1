"""Asked against in force: the state of each setting, by refusals, answers, probe, documentation and catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.asking.execution.session import Sitting, sit
from judge.asking.in_force.seen import Seen
from judge.asking.in_force.settings import SettingInForce, settings_in_force, warnings
from judge.asking.in_force.words import mark, sentences, stored
from judge.asking.run_definition.spec import RunSpec, parse_run_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.ratings.ratings_table import read
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
ANTHROPIC, DEEPSEEK, ROUTER = "https://api.anthropic.com/v1", "https://api.deepseek.com", "https://openrouter.ai/api/v1"
VLLM = {"servers": [{"base_url": "http://127.0.0.1:8000/v1", "owned_by": "vllm"}]}


@pytest.fixture(autouse=True)
def _usual_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def spec(judge: str, url: str | None = None, *, generation: dict[str, Any] | None = None, **changes: Any) -> RunSpec:
    data: dict[str, Any] = {"name": "t", "dataset": "x", "judge": judge, "criteria": "overall", "eval_prompts": "ep1"}
    data["generation"] = {"temperature": 0.0} if generation is None else generation
    return parse_run_spec(data | ({"base_url": url} if url else {}) | changes, "test")


def one(found: list[SettingInForce], name: str) -> SettingInForce:
    (setting,) = [setting for setting in found if setting.setting == name]
    return setting


def test_every_setting_of_the_definition_is_told_and_no_other() -> None:
    full = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "seed": 1, "stop": ["END"]}
    asked = spec("openai/m", generation=full, structured="json", scoring="logprobs", system="s", engine={"top_k": 4})
    names = [setting.setting for setting in settings_in_force(asked)]
    assert names == ["temperature", "top_p", "max_tokens", "seed", "stop", "logprobs", "structured", "system", "top_k"]
    assert [s.setting for s in settings_in_force(spec("openai/m", generation={}, repeats=3))] == ["n"]
    assert settings_in_force(spec("openai/m", generation={})) == []
    assert settings_in_force(spec("surface")) == []


@pytest.mark.parametrize(
    ("judge", "url", "generation", "state", "words"),
    [
        ("openai/gpt-4.1", None, {"temperature": 0.0}, "honoured", "lists it for openai/gpt-4.1"),
        ("openai/gpt-5", None, {"temperature": 0.0}, "unknown", "lists no temperature for openai/gpt-5"),
        ("openai/claude-opus-4-8", ANTHROPIC, {"temperature": 0.0}, "unknown", "lists no temperature for anthropic/"),
        ("openai/claude-sonnet-4-6", ANTHROPIC, {"temperature": 0.5}, "honoured", "anthropic/claude-sonnet-4-6"),
        ("openai/claude-sonnet-4-6", ANTHROPIC, {"temperature": 1.5}, "ignored", "values above 1 are capped at 1"),
        ("openai/kimi-k2.6", "https://api.moonshot.ai/v1", {"temperature": 0.0}, "unknown", "lists no temperature"),
        (
            "openai/deepseek-reasoner",
            DEEPSEEK,
            {"temperature": 0.0},
            "ignored",
            "accepted for compatibility but has no",
        ),
        ("openai/deepseek-chat", DEEPSEEK, {"temperature": 0.0}, "honoured", "lists it for deepseek/deepseek-chat"),
        ("openai/deepseek-v4-pro", DEEPSEEK, {"temperature": 0.0}, "ignored", "(thinking.type enabled)"),
        ("openai/mimo-v2.5", "https://api.xiaomimimo.com/v1", {"temperature": 0.0}, "ignored", "forced to 1.0"),
        ("openai/mistral-small-latest", "https://api.mistral.ai/v1", {"temperature": 2.0}, "unknown", "from 0 to 1.5"),
        # A model's way is told by its name on any address; what only an endpoint does is not.
        ("openai/deepseek-reasoner", "http://127.0.0.1:1/v1", {"temperature": 0.0}, "ignored", "by its name alone"),
        ("openai/gpt-5", "http://127.0.0.1:1/v1", {"temperature": 0.0}, "unknown", "by its name alone"),
        ("openai/gpt-4.1", "http://127.0.0.1:1/v1", {"temperature": 0.0}, "unknown", "the server does not say"),
        ("openai/deepseek/deepseek-v4-pro", ROUTER, {"temperature": 0.0}, "ignored", "has no effect"),
        (
            "openai/openai/gpt-4.1",
            ROUTER,
            {"temperature": 0.0},
            "unknown",
            "a provider that does not support a setting",
        ),
        ("hf/m", None, {"temperature": 0.0}, "honoured", "in this process"),
        ("vllm/m", None, {"temperature": 0.0}, "honoured", "in this process"),
    ],
)
def test_temperature(judge: str, url: str | None, generation: dict[str, Any], state: str, words: str) -> None:
    found = one(settings_in_force(spec(judge, url, generation=generation)), "temperature")
    assert found.state == state
    assert words in found.evidence


def test_thinking_that_is_switched_off_or_seen_decides() -> None:
    off = spec("openai/deepseek-v4-pro", DEEPSEEK, engine={"thinking": {"type": "disabled"}})
    assert one(settings_in_force(off), "temperature").state == "honoured"
    chat = spec("openai/deepseek-chat", DEEPSEEK)
    assert one(settings_in_force(chat, seen=Seen(thinking=True)), "temperature").state == "ignored"
    both = spec("openai/claude-sonnet-4-6", ANTHROPIC, generation={"temperature": 0.2, "top_p": 0.9})
    assert "does not go with" in one(settings_in_force(both), "top_p").evidence


@pytest.mark.parametrize(
    ("url", "model", "states"),
    [
        (ANTHROPIC, "claude-sonnet-4-6", {"seed": "ignored", "structured": "ignored", "logprobs": "ignored"}),
        ("https://api.groq.com/openai/v1", "llama", {"logprobs": "refused"}),
        ("https://api.mistral.ai/v1", "mistral-small-latest", {"seed": "refused", "structured": "honoured"}),
        (None, "gpt-4.1", {"seed": "unknown", "structured": "honoured", "stop": "honoured"}),
        (DEEPSEEK, "deepseek-chat", {"structured": "unknown", "stop": "honoured"}),
    ],
)
def test_what_endpoints_document(url: str | None, model: str, states: dict[str, str]) -> None:
    asked = spec(f"openai/{model}", url, generation={"seed": 1, "stop": ["END"]}, structured="json", scoring="logprobs")
    found = {setting.setting: setting.state for setting in settings_in_force(asked)}
    assert {name: found[name] for name in states} == states


def test_a_vllm_server_takes_what_it_documents_whatever_its_model_is_called() -> None:
    asked = spec("openai/gpt-5", "http://127.0.0.1:8000/v1", structured="choice", repeats=2)
    assert {s.state for s in settings_in_force(asked, server=VLLM)} == {"honoured"}
    assert mark(settings_in_force(asked, server=VLLM)) == ""


def test_a_router_that_must_keep_to_all_settings_is_believed() -> None:
    asked = spec("openai/openai/gpt-4.1", ROUTER, engine={"provider": {"require_parameters": True}})
    assert one(settings_in_force(asked), "temperature").state == "honoured"


def test_refusals_come_first_and_hold_no_address() -> None:
    words = "https://api.openai.com/v1: HTTP 400: Unsupported value: 'temperature' does not support 0"
    asked = spec("openai/gpt-4.1", repeats=3, generation={"temperature": 0.0, "max_tokens": 50})
    refusals = {"temperature": words, "n": "n must be 1", "max_tokens": "use max_completion_tokens"}
    server = {"max_tokens_parameter": "max_completion_tokens"}
    found = settings_in_force(asked, server=server, refusals=refusals)
    assert one(found, "temperature").state == "refused"
    assert "Unsupported value: 'temperature'" in one(found, "temperature").evidence
    assert "api.openai.com" not in one(found, "temperature").evidence
    assert one(found, "n").state == "refused"
    # Another name for the same setting is no refusal of the setting.
    assert one(found, "max_tokens").state == "honoured"
    assert mark(found) == "temp:refused"
    apart = {"servers": [{"max_tokens_parameter": "max_completion_tokens", "answers_per_call": 1}]}
    of_servers = settings_in_force(asked, server=apart, refusals={"max_tokens": "no"})
    assert (one(of_servers, "max_tokens").state, one(of_servers, "n").state) == ("honoured", "ignored")
    structured = spec("openai/m", structured="json")
    assert one(settings_in_force(structured, refusals={"response_format": "no"}), "structured").state == "refused"


def test_the_probe_tells_of_seeds() -> None:
    asked = spec("openai/m", "http://127.0.0.1:1/v1", generation={"seed": 1})
    for kept, state in ((True, "honoured"), (False, "ignored"), (None, "unknown")):
        server = {"servers": [{"base_url": "http://127.0.0.1:1/v1", "seed_kept": kept}]}
        assert one(settings_in_force(asked, server=server), "seed").state == state


def test_words() -> None:
    asked = spec("openai/deepseek-reasoner", DEEPSEEK, generation={"temperature": 0.0, "top_p": 0.9, "seed": 1})
    found = settings_in_force(asked)
    assert mark(found) == "temp+top_p:ignored|seed:unknown"
    first, second = sentences(found)
    assert first.startswith("temperature 0 and top p 0.9 were requested and have no effect: the catalogue modelparams ")
    assert second.startswith("seed 1 was requested: the documentation of DeepSeek says: ")
    assert second.endswith("so whether that is in force is not known")
    dark = settings_in_force(spec("openai/m", "http://127.0.0.1:1/v1", system="s"))
    assert sentences(dark) == ["whether the server keeps to temperature 0 and a system message is not known"]
    assert mark(settings_in_force(spec("openai/m", "http://127.0.0.1:1/v1", generation={}, repeats=3))) == ""


def test_warnings_before_a_run_name_the_models_end_and_nothing_that_is_only_dark() -> None:
    said = warnings(spec("openai/gpt-5", repeats=3))
    assert len(said) == 2
    assert "lists no temperature for openai/gpt-5" in said[0]
    assert said[1].endswith("with its shutdown on 2026-12-11; the provider names openai/gpt-5.6-sol in its place")
    assert warnings(spec("openai/m", "http://127.0.0.1:1/v1")) == []
    assert warnings(spec("surface")) == []


# What a run's own answers show, over a real server.


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    lines = [
        {"id": f"s{i}", "story_prompt": f"p{i // 3}", "system": f"m{i % 3}", "text": f"Story {i}: the lamp went out."}
        for i in range(12)
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def run(server: LoopbackServer, stories: Path, **changes: Any) -> dict[str, SettingInForce]:
    asked = spec(changes.pop("judge", "openai/mock"), server.url, dataset=str(stories), eval_prompts=["ep2"], **changes)
    sit(Sitting(asked, stories.parent, ResultFolder(stories.parent / "r"), quiet=True))
    return {setting.setting: setting for setting in stored(read_manifest(stories.parent / "r" / "manifest.json"))}


def states(found: dict[str, SettingInForce]) -> dict[str, tuple[str, str]]:
    return {name: (setting.state, setting.source) for name, setting in found.items()}


def test_answers_at_temperature_0_that_are_equal_speak_for_it(loopback: Start, stories: Path) -> None:
    found = run(loopback(fixed_text="Rating: 4\nExplanation: it holds together from end to end."), stories, repeats=2)
    assert states(found) == {"temperature": ("honoured", "answers"), "n": ("honoured", "answers")}


def test_answers_at_temperature_0_that_differ_prove_nothing(loopback: Start, stories: Path) -> None:
    found = run(loopback(), stories, repeats=3)
    assert states(found) == {"temperature": ("unknown", "answers"), "n": ("honoured", "answers")}
    assert "of 12 queries differ" in found["temperature"].evidence


def test_limits_and_stop_strings_that_the_answers_pass(loopback: Start, stories: Path) -> None:
    generation = {"max_tokens": 20, "stop": ["Explanation"]}
    found = run(loopback(), stories, generation=generation)
    assert states(found) == {"max_tokens": ("ignored", "answers"), "stop": ("ignored", "answers")}
    assert "12 answers hold a stop string" in found["stop"].evidence
    facts = read([stories.parent / "r"]).facts[0]
    assert facts.not_in_force == "max_tokens+stop:ignored"
    assert any("max tokens 20 was requested and has no effect: an answer has" in note for note in facts.notes)


def test_an_answer_that_is_cut_shows_the_limit(loopback: Start, stories: Path) -> None:
    found = run(loopback(style="truncated"), stories, generation={"max_tokens": 40})
    assert states(found) == {"max_tokens": ("honoured", "answers")}


@pytest.mark.parametrize(
    ("style", "state"), [("rating", "honoured"), ({"rating": 0.6, "prose": 0.4}, "ignored")], ids=["kept", "mixed"]
)
def test_forms_that_are_kept_or_not(loopback: Start, stories: Path, style: Any, state: str) -> None:
    found = run(loopback(style=style), stories, generation={}, structured="choice")
    assert states(found) == {"structured": (state, "answers")}


@pytest.mark.parametrize(("ignores", "state"), [(False, "honoured"), (True, "ignored")])
def test_seeds(loopback: Start, stories: Path, ignores: bool, state: str) -> None:
    found = run(loopback(ignore_seed=ignores), stories, generation={"seed": 1})
    assert states(found) == {"seed": (state, "probe")}


def test_a_constant_server_proves_nothing_about_seeds(loopback: Start, stories: Path) -> None:
    found = run(loopback(fixed_text="Rating: 4"), stories, generation={"seed": 1})
    assert states(found) == {"seed": ("unknown", "none")}


def test_what_a_sitting_found_out_outlives_one_that_asks_nothing(loopback: Start, stories: Path) -> None:
    server = loopback(ignore_n=True)
    first = run(server, stories, repeats=2, generation={})
    assert states(first) == {"n": ("ignored", "answers")}
    again = run(server, stories, repeats=2, generation={})
    # What was learnt of the server is read from the result folder then, so that its source is another.
    assert {name: state for name, (state, _) in states(again).items()} == {"n": "ignored"}


def test_the_manifest_the_signature_and_old_manifests(loopback: Start, stories: Path) -> None:
    from judge.analysis.options.signature import signature
    from judge.ratings.rating_matrix import build

    run(loopback(models=["deepseek-reasoner"]), stories, judge="openai/deepseek-reasoner")
    folder = stories.parent / "r"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["in_force"]["settings"]["temperature"]["state"] == "ignored"
    assert manifest["in_force"]["settings"]["temperature"]["asked"] == 0.0
    assert manifest["in_force"]["shutdown"]["on"] == "2026-07-24"
    assert manifest["in_force"]["generation"]["temperature"] == 0.0
    table = read([folder])
    assert "|judge:openai/deepseek-reasoner|temp:ignored|rep:1|" in signature(table, build(table))
    del manifest["in_force"]["settings"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    table = read([folder])
    assert "|judge:openai/deepseek-reasoner|rep:1|" in signature(table, build(table))
