"""What the program says of providers: true of the imitations that it was tried against, and as the page prints it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from judge.asking.run_definition.spec import parse_run_spec
from judge.backends.provider_check import facts_of, provider_facts
from judge.base.credentials.providers import PROVIDERS
from judge.base.errors import SpecError
from tests.conformance.provider_page import PAGE, page
from tests.conformance.providers import IMITATIONS, Imitation

ASKED_FOR = (
    "OpenAI",
    "Azure OpenAI",
    "Anthropic",
    "Anthropic's compatible endpoint",
    "Gemini",
    "Gemini's compatible endpoint",
    "OpenRouter",
    "Groq",
    "Together",
    "DeepSeek",
    "Mistral",
    "Ollama",
    "llama.cpp",
    "SGLang",
    "LM Studio",
    "TGI (Text Generation Inference)",
    "vLLM",
)


def test_the_page_is_made_from_the_facts() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.conformance.provider_page --write"
    for title in ASKED_FOR:
        section = page().split(f"\n## {title}\n")[1].split("\n## ")[0]
        assert len([line for line in section.splitlines() if line]) >= 10, title


def test_tried_is_said_of_what_the_tests_imitate_and_of_nothing_else() -> None:
    said = {name for name, facts in provider_facts().items() if facts.tried == "imitation"}
    # Imitated by messages_api and gemini: these two speak no dialect of OpenAI's.
    assert said == {imitation.facts for imitation in IMITATIONS} | {"anthropic", "gemini"}
    assert {facts.tried for facts in provider_facts().values()} == {"imitation", "never"}


@pytest.mark.parametrize("imitation", IMITATIONS, ids=lambda imitation: str(imitation.name))
def test_what_an_imitation_refuses_or_ignores_is_known(imitation: Imitation) -> None:
    facts = facts_of(imitation.facts)
    assert {refused.name for refused in imitation.refuses} <= set(facts.refused)
    assert imitation.ignores <= set(facts.ignored)


def test_every_provider_of_the_table_of_keys_and_no_stranger_is_known() -> None:
    local = {name for name, facts in provider_facts().items() if facts.local}
    compatible = {"anthropic-openai", "gemini-openai"}
    assert set(provider_facts()) - local == {provider.name for provider in PROVIDERS} | compatible
    assert local == {"ollama", "llama.cpp", "vllm", "sglang", "lmstudio", "tgi"}
    for name in set(provider_facts()) - local:
        facts = facts_of(name)
        assert facts.provider is not None
        host = facts.base_url.split("/")[2]
        assert any(host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in facts.provider.hosts)


@pytest.mark.parametrize("name", list(provider_facts()))
def test_the_lines_are_lines_of_a_run(name: str) -> None:
    lines = yaml.safe_load(facts_of(name).run_lines())
    spec = parse_run_spec({"name": "t", "dataset": "d", "criteria": "overall", "eval_prompts": ["ep1"], **lines}, "t")
    assert spec.judge == f"{facts_of(name).backend}/{facts_of(name).model}"
    refused = facts_of(name).refused
    # What is refused in general does not stand in the lines that are to be copied.
    assert not {key for key in lines.get("generation", {}) if key in refused} - {"max_tokens"}


def test_a_name_that_is_not_known_is_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'gemini'"):
        facts_of("gemni")


def test_the_page_is_linked_and_shipped() -> None:
    root = Path(PAGE).parents[1]
    assert "providers.md" in (root / "docs/guides/judges.md").read_text(encoding="utf-8")
    assert '"docs"' in (root / "pyproject.toml").read_text(encoding="utf-8").split("sdist]")[1].split("]")[0]
