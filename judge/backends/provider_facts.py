"""Facts about providers' endpoints: address, settings that they refuse or ignore, pitfalls, sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from judge.base.credentials.providers import PROTOCOLS, PROVIDERS, Provider
from judge.base.errors import SpecError, unknown
from judge.base.files import package_file


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """Facts about one endpoint from documentation and public threads.

    `name` is the word for `judge doctor`, `title` the one for printing. A word in capitals in `base_url` or `model` (an
    example) must be replaced by the user. `tried` is what this program was tested against: `imitation` (of the
    endpoint) or `never`. `run` has further lines of run.yaml. `refused` and `ignored` map settings to explanations;
    `traps` are sentences about pitfalls. `local`: users run the server. `provider_name` is the provider's, if it
    differs from `name`."""

    name: str
    title: str
    base_url: str
    model: str
    tried: str
    run: Mapping[str, Any]
    refused: Mapping[str, str]
    ignored: Mapping[str, str]
    traps: tuple[str, ...]
    sources: tuple[str, ...]
    local: bool = False
    backend: str = "openai"
    provider_name: str | None = None

    @property
    def provider(self) -> Provider | None:
        """Provider with its hosts and key variables; None for a server that users run themselves."""
        return next((provider for provider in PROVIDERS if provider.name == (self.provider_name or self.name)), None)

    @property
    def usual(self) -> bool:
        """Whether the endpoint's address is the back-end's default."""
        return self.backend != "openai" and PROTOCOLS[self.backend].address == self.base_url

    def run_lines(self, model: str | None = None, base_url: str | None = None) -> str:
        """Lines of run.yaml for this endpoint, as text."""
        lines = {"judge": f"{self.backend}/{model or self.model}"}
        if base_url not in (None, self.base_url) or not self.usual:
            lines["base_url"] = base_url or self.base_url
        lines |= self.run
        return "".join(f"{key}: {_flow(value)}\n" for key, value in lines.items())


@lru_cache(maxsize=1)
def provider_facts() -> Mapping[str, ProviderFacts]:
    """All known endpoints by name."""
    text = package_file("backends", "provider_facts.yaml").read_text(encoding="utf-8")
    return {name: _facts(name, row) for name, row in yaml.safe_load(text).items()}


def facts_of(name: str) -> ProviderFacts:
    """The endpoint with this name. Raises SpecError, with the known names, for an unknown one."""
    facts_by_name = provider_facts()
    facts = facts_by_name.get(name.lower().replace("_", ".")) or facts_by_name.get(name.lower())
    if facts is None:
        raise SpecError(unknown("provider", name, tuple(facts_by_name)))
    return facts


def _facts(name: str, row: Mapping[str, Any]) -> ProviderFacts:
    return ProviderFacts(
        name,
        row["title"],
        row["base_url"],
        row["model"],
        row["tried"],
        row.get("run") or {},
        row.get("refused") or {},
        row.get("ignored") or {},
        tuple(row.get("traps") or ()),
        tuple(row.get("sources") or ()),
        row.get("local", False),
        row.get("backend", "openai"),
        row.get("of"),
    )


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
