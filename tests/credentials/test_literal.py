"""Keys that stand in a definition as they are: refused with their place, never printed; harmless definitions pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.asking.run_definition.spec import load_run_spec
from judge.base.credentials.written_keys import carries_key, found_keys, says_key
from judge.base.errors import SpecError
from judge.base.files import shipped

GOOD: dict[str, Any] = {
    "name": "my-run",
    "dataset": "mans_roc",
    "judge": "openai/m",
    "criteria": "overall",
    "eval_prompts": "ep1",
}
KEY = "kX9fQ2mZ7tB4vN8wR1cY6hJ3"


def refused(tmp_path: Path, said: dict[str, Any], *overrides: str) -> str:
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(GOOD | said, sort_keys=False), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_run_spec(path, overrides)
    assert KEY not in f"{caught.value} {caught.value.hint}"
    return str(caught.value)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"headers": {"api-key": KEY}}, "line 7: headers.api-key holds a key as it stands"),
        ({"headers": {"Authorization": f"Bearer {KEY}"}}, "headers.Authorization holds a key"),
        ({"headers": {"Authorization": f"${{NAME}}{KEY}"}}, "headers.Authorization holds a key"),
        ({"headers": {"Cookie": f"a={KEY}; b=${{NAME}}"}}, "headers.Cookie holds a key"),
        ({"headers": {"X-Trace": f"Bearer {KEY}"}}, "headers.X-Trace holds what looks like a key"),
        ({"headers": {"X-Trace": "${home}"}}, "not the name of a variable"),
        ({"headers": {"X-Trace": f"${{NAME:-{KEY}}}"}}, "not the name of a variable"),
        ({"headers": {"Host": "evil.example.org"}}, "headers.Host is set by the program"),
        ({"headers": {"X-A": "a\r\nX-B: c"}}, "headers.X-A cannot be a header"),
        ({"headers": KEY}, "line 6: headers must be names with values"),
        ({"headers": [f"api-key: {KEY}"]}, "headers must be names with values"),
        ({"headers": {"X-A": 3}}, "headers must be names with values"),
        ({"engine": {"headers": {"api-key": KEY}}}, "line 7: engine.headers has moved"),
        ({"engine": {"api_key": KEY}}, "line 7: engine.api_key holds a key as it stands"),
        ({"engine": {"extra_body": [{"clientSecret": KEY}]}}, "engine.extra_body.0.clientSecret holds a key"),
        ({"api_key": KEY}, "line 6: api_key holds a key as it stands"),
        ({"api_key_env": KEY}, "line 6: api_key_env is not the name of a variable"),
        ({"base_url": f"https://me:{KEY}@host.example/v1"}, "line 6: base_url holds a user name or a password"),
        ({"base_url": ["http://a/v1", f"https://host.example/v1?subscription-key={KEY}"]}, "line 8: base_url.1 holds"),
        ({"base_url": "https://host.example/v1?x=${OPENAI_API_KEY}"}, "variables are read in headers only"),
        ({"dataset": f"https://me:{KEY}@host.example/stories.csv"}, "dataset holds a user name or a password"),
        ({"note": f"sk-{KEY}"}, "line 6: note holds what looks like an API key (sk-...)"),
        ({f"sk-{KEY}": 1}, "has a field whose name holds what looks like an API key"),
        ({"headers": {f"sk-{KEY}": "x"}}, "headers has a field whose name holds"),
    ],
)
def test_a_key_in_a_definition_is_refused_with_its_place(tmp_path: Path, said: dict[str, Any], words: str) -> None:
    assert words in refused(tmp_path, said)


@pytest.mark.parametrize(
    "pair", [f"engine.api_key={KEY}", f"headers.api-key={KEY}", f"headers.a.b={KEY}", f"api_key_env=[{KEY}", KEY]
)
def test_a_key_on_the_command_line_is_refused(tmp_path: Path, pair: str) -> None:
    assert "overrides" in refused(tmp_path, {"headers": {"a": "b"}}, pair)


def test_a_key_of_the_environment_is_known_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", KEY)
    for name in ("name", "judge", "note", "system", "identity", "dataset", "eval_prompts", "revision"):
        assert f"{name} holds the value of SOME_TOKEN" in refused(tmp_path, {name: f"x/{KEY}"})


@pytest.mark.parametrize("text", [f"api_key: [{KEY}\n", f"name: *{KEY}\n", f"name: !{KEY} a\n", f"a: '{KEY}\n"])
def test_a_broken_file_is_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_run_spec(path)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        {"headers": {"HTTP-Referer": "https://lab.example/study?id=3", "X-Title": "Story judges, spring 2026"}},
        {"headers": {"api-key": "${AZURE_OPENAI_API_KEY}", "Authorization": "Bearer ${MY_TOKEN}"}},
        {"headers": {"Cookie": "session=${SESSION}", "anthropic-version": "2023-06-01"}},
        {"headers": {"OpenAI-Organization": "org-abc123", "X-Api-Version": "2024-10-21"}},
        {"base_url": "https://me.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21"},
        {"base_url": "https://gateway.ai.cloudflare.com/v1/0123456789abcdef0123456789abcdef/gw/openai"},
        {"base_url": "https://api.cloudflare.com/client/v4/accounts/1/ai/v1/@cf/meta"},
        {"api_key_env": "UNI_KEY"},
        {"api_key_env": "none"},
        {"revision": "0123456789abcdef0123456789abcdef01234567"},
        {"judge": "openai/ft:gpt-4o-mini-2024-07-18:org::AbC123dE", "engine": {"max_tokens": 5, "eos_token": "</s>"}},
        {
            "engine": {
                "skip_special_tokens": True,
                "stop_token_ids": [1],
                "prompt_cache_key": "study-1",
                "hf_token": True,
            }
        },
        {"columns": {"text": "secret", "id": "api_key"}, "note": "Authorization: the keeper asked for it"},
    ],
)
def test_harmless_definitions_pass(tmp_path: Path, said: dict[str, Any]) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(GOOD | said), encoding="utf-8")
    assert load_run_spec(path).name == "my-run"


def test_every_shipped_definition_passes() -> None:
    files = sorted(shipped("runs").glob("*/run.yaml"))
    assert files
    for file in files:
        assert list(found_keys(yaml.safe_load(file.read_text(encoding="utf-8")))) == []


def test_names_that_say_key() -> None:
    for name in ("api_key", "apiKey", "X-API-KEY", "x-goog-api-key", "clientSecret", "hf_token", "Authorization"):
        assert says_key(name), name
    for name in ("max_tokens", "stop_token_ids", "eos_token", "tokenizer", "key", "keyword", "api_key_env", "top_k"):
        assert not says_key(name), name
    for name in ("key", "sig", "X-Vault-Token", "subscription-key", "HELICONE-AUTH"):
        assert carries_key(name), name
    for name in ("api-version", "Idempotency-Key", "X-Title", "HTTP-Referer", "OpenAI-Organization"):
        assert not carries_key(name), name
