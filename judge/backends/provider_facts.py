"""Facts about providers' endpoints: address, settings that they refuse or ignore, pitfalls, sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from judge.credentials.providers import PROTOCOLS, PROVIDERS, Provider
from judge.errors import SpecError, unknown
from judge.folders.shipped import package_file


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """One endpoint, as documentation and public threads describe it.

    Attributes
    ----------
    name : str
        As `judge doctor` takes it for the option `provider`.
    base_url : str
        Its address; a word in capitals is to be filled in.
    model : str
        A model's name in the form that it takes; a word in capitals is to be filled in.
    run : mapping
        Lines of run.yaml beside judge and base_url.
    refused, ignored : mapping of str to str
        Settings of a request, and what is known of each.
    tried : str
        `imitation` or `never`: what this program was run against.
    local : bool
        A server of one's own.
    backend : str
        Which back-end asks it.
    of : str or None
        Whose endpoint it is, where its name is not the provider's.
    """

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
        """Hosts and keys of the provider; None for a server of one's own."""
        return next((provider for provider in PROVIDERS if provider.name == (self.provider_name or self.name)), None)

    @property
    def usual(self) -> bool:
        """Whether the endpoint's address is the back-end's default."""
        return self.backend != "openai" and PROTOCOLS[self.backend].address == self.base_url

    def run_lines(self, model: str | None = None, base_url: str | None = None) -> str:
        """Lines of run.yaml for this endpoint."""
        lines = {"judge": f"{self.backend}/{model or self.model}"}
        if base_url not in (None, self.base_url) or not self.usual:
            lines["base_url"] = base_url or self.base_url
        lines |= self.run
        return "".join(f"{key}: {_flow(value)}\n" for key, value in lines.items())


@lru_cache(maxsize=1)
def provider_facts() -> Mapping[str, ProviderFacts]:
    """All endpoints of which something is known, by name."""
    text = package_file("backends", "provider_facts.yaml").read_text(encoding="utf-8")
    return {name: _facts(name, row) for name, row in yaml.safe_load(text).items()}


def facts_of(name: str) -> ProviderFacts:
    """One endpoint; SpecError with the known names for another."""
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
    """A value on one line of YAML."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
