"""The shipped snapshot of modelparams: what it holds, how models are found in it, and how it is made again."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from judge.asking.in_force.catalogue import catalogue, endpoints, who_is_asked
from judge.base.files import package_file
from tests.catalogue_build import as_json, build


def test_the_snapshot_says_where_it_is_from_and_under_which_licence() -> None:
    data = json.loads(package_file("asking", "in_force", "models.json").read_text(encoding="utf-8"))
    assert (data["name"], data["license"]) == ("modelparams", "MIT")
    assert data["license_text"].startswith("MIT License\n\nCopyright (c) 2026 modelparams.dev contributors")
    assert data["version"] in data["source"]
    assert len(data["models"]) == catalogue().count > 300
    assert {row["params"] for row in data["models"]} == set(range(len(data["params"])))
    assert package_file("asking", "in_force", "models.json").stat().st_size < 150_000


@pytest.mark.parametrize(
    ("provider", "model", "shutdown"),
    # From modelparams 0.0.53 itself, fields shutdownOn.
    [
        ("openai", "gpt-5", "2026-12-11"),
        ("openai", "o3", "2026-12-11"),
        ("openai", "gpt-3.5-turbo", "2026-10-23"),
        ("deepseek", "deepseek-reasoner", "2026-07-24"),
        ("openai", "gpt-4.1", None),
    ],
)
def test_days_of_shutdown(provider: str, model: str, shutdown: str | None) -> None:
    entry = catalogue().find(provider, model)
    assert entry is not None
    assert entry.shutdown == shutdown


def test_models_are_found_by_alias_date_and_wire_name() -> None:
    known = catalogue()

    def name(provider: str, model: str) -> str | None:
        entry = known.find(provider, model)
        return None if entry is None else entry.model

    assert name("openai", "gpt-5-2025-08-07") == "gpt-5"
    assert name("anthropic", "claude-opus-4-1") == "claude-opus-4-1-20250805"
    assert name("google", "models/gemini-2.5-flash") == "gemini-2.5-flash"
    assert name("anthropic", "claude-sonnet-4.6") == "claude-sonnet-4-6"
    assert name("groq", "openai/gpt-oss-20b") == "gpt-oss-20b"
    # A version is no date: the entry of another version must not speak for it.
    assert name("openai", "gpt-4-1106") is None
    assert name("openai", "gpt-5-pro") is None


@pytest.mark.parametrize(
    ("model", "address", "endpoint", "entry", "by_name"),
    [
        ("gpt-4.1", "https://api.openai.com/v1", "openai", "openai/gpt-4.1", False),
        ("gpt-4.1", "https://x.openai.azure.com/openai/v1", "azure", "openai/gpt-4.1", True),
        ("my-deployment", "https://x.openai.azure.com/openai/v1", "azure", None, True),
        ("claude-opus-4-8", "https://api.anthropic.com/v1", "anthropic", "anthropic/claude-opus-4-8", False),
        ("anthropic/claude-opus-4.8", "https://openrouter.ai/api/v1", "openrouter", "anthropic/claude-opus-4-8", True),
        (
            "deepseek/deepseek-v4-pro:free",
            "https://openrouter.ai/api/v1",
            "openrouter",
            "deepseek/deepseek-v4-pro",
            True,
        ),
        ("gpt-4.1", "http://127.0.0.1:4000/v1", None, "openai/gpt-4.1", True),
        ("openai/gpt-4.1", "http://gateway.example.org/v1", None, "openai/gpt-4.1", True),
        ("Qwen/Qwen2.5-7B-Instruct", "http://127.0.0.1:8000/v1", None, None, True),
        ("gpt-4.1", "https://api.openai.com.example.org/v1", None, "openai/gpt-4.1", True),
        ("m", "https://ec2-1-2-3-4.compute.amazonaws.com/v1", None, None, True),
    ],
)
def test_who_is_asked(model: str, address: str, endpoint: str | None, entry: str | None, by_name: bool) -> None:
    who = who_is_asked(model, [address])
    assert (who.endpoint.key if who.endpoint else None) == endpoint
    assert (who.entry.name if who.entry else None) == entry
    assert who.by_name == by_name


def test_several_addresses_are_one_endpoint_only_where_all_are() -> None:
    both = ["https://api.openai.com/v1", "http://127.0.0.1:8000/v1"]
    assert who_is_asked("gpt-4.1", both).endpoint is None
    assert (
        who_is_asked("m", [], {"servers": [{"owned_by": "vllm"}, {"owned_by": "vllm"}]}).endpoint is endpoints()["vllm"]
    )
    assert who_is_asked("m", [], {"servers": [{"owned_by": "vllm"}, {"owned_by": "x"}]}).endpoint is None


def test_every_endpoint_speaks_in_known_states_and_of_known_providers() -> None:
    for key, endpoint in endpoints().items():
        assert endpoint.source.startswith("https://"), key
        assert endpoint.catalogue is None or endpoint.catalogue in catalogue().by_provider, key
        for name, said in endpoint.settings.items():
            assert said["state"] in ("honoured", "refused", "ignored", "unknown"), (key, name)
            assert said["state"] == "honoured" or said["words"], (key, name)


def test_the_snapshot_is_made_from_a_wheel(tmp_path: Path) -> None:
    thinking = {"path": "thinking.type", "type": "enum", "default": "enabled", "description": "x"}
    temperature = {
        "path": "generationConfig.temperature",
        "type": "number",
        "default": 1,
        "description": "Controls randomness. Ignored while thinking is on, where it is 1.0. Lower is calmer.",
        "range": {"min": 0, "max": 2, "step": 0.1},
        "applicability": {"except": {"thinking.type": ["enabled"]}},
    }
    tool = {"path": "tool_choice", "type": "enum", "description": "x"}
    entry = {
        "provider": "p",
        "authType": "api_key",
        "apiSurface": "s",
        "model": "m",
        "params": [temperature, thinking, tool],
    }
    subscription = entry | {"authType": "subscription"}
    other = entry | {"model": "m2", "shutdownOn": "2027-01-01", "status": "deprecated", "wireId": "x/m2"}
    wheel = tmp_path / "modelparams-9.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("modelparams/_generated/catalog.json", json.dumps([entry, subscription, other]))
        archive.writestr(
            "modelparams-9.9.dist-info/METADATA", "Name: modelparams\nVersion: 9.9\nLicense-Expression: MIT\n"
        )
        archive.writestr("modelparams-9.9.dist-info/licenses/LICENSE", "MIT License\n")
    made = build(wheel, "2026-11-22")
    assert json.loads(as_json(made)) == made
    assert (made["version"], made["taken"], made["license_text"]) == ("9.9", "2026-11-22", "MIT License\n")
    (params,) = made["params"]
    assert params == {
        "temperature": {
            "min": 0,
            "max": 2,
            "default": 1,
            "except": [{"thinking.type": ["enabled"]}],
            "words": "Ignored while thinking is on, where it is 1.0.",
        },
        "thinking.type": {"default": "enabled"},
    }
    assert [row["model"] for row in made["models"]] == ["m", "m2"]
    assert made["models"][1] == {
        "provider": "p",
        "model": "m2",
        "surface": "s",
        "params": 0,
        "id": "x/m2",
        "status": "deprecated",
        "shutdown": "2027-01-01",
    }


def test_the_snapshot_is_read_only_when_it_is_needed() -> None:
    program = (
        "import sys, judge.asking.execution.session, judge.cli.run_ask, judge.cli.run_sittings\n"
        "import judge.asking.in_force.words\n"
        "from judge.asking.in_force.catalogue import catalogue\n"
        "from judge.asking.in_force.catalogue import endpoints\n"
        "print(catalogue.cache_info().currsize, endpoints.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0"]
