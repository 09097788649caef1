"""Snapshot of the model catalogue modelparams, shipped with the program: each model's settings and availability."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from judge.base.folders.shipped import package_file

_DATE = re.compile(r"[-@]20\d\d(?:-\d\d-\d\d|\d{4})$")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry on a provider's model. `params` are settings by their names in run.yaml, `surface` is their API, and
    `shutdown` is a date."""

    provider: str
    model: str
    surface: str
    params: Mapping[str, Mapping[str, Any]]
    status: str | None = None
    shutdown: str | None = None
    replacement: str | None = None

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A snapshot and its source. `by_provider` maps a provider to its entries by model name."""

    version: str
    taken: str
    source: str
    license: str
    count: int
    by_provider: Mapping[str, Mapping[str, Entry]]

    @property
    def named(self) -> str:
        """The catalogue's name, version and snapshot date, for use in a sentence."""
        return f"the catalogue modelparams {self.version} (snapshot of {self.taken})"

    def find(self, provider: str, model: str) -> Entry | None:
        """The entry on a model, by its name, then without its date; a name without a date matches a single dated
        one."""
        entries = self.by_provider.get(provider, {})
        name = _key(model)
        if name in entries:
            return entries[name]
        undated = _DATE.sub("", name)
        if undated in entries:
            return entries[undated]
        dated = {entry.model: entry for key, entry in entries.items() if _DATE.sub("", key) == name}
        return next(iter(dated.values())) if len(dated) == 1 else None

    def lists(self, provider: str, setting: str) -> bool:
        """Whether the setting is listed for any model of the provider. If not, its absence from an entry shows
        nothing."""
        return any(setting in entry.params for entry in self.by_provider.get(provider, {}).values())


@cache
def catalogue() -> Catalogue:
    data = orjson.loads(package_file("asking", "in_force", "models.json").read_bytes())
    by_provider: dict[str, dict[str, Entry]] = {}
    for row in data["models"]:
        for key, entry in _entries(row, data["params"]):
            by_provider.setdefault(entry.provider, {}).setdefault(key, entry)
    return Catalogue(data["version"], data["taken"], data["source"], data["license"], len(data["models"]), by_provider)


def _entries(row: Mapping[str, Any], params: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Entry]]:
    entry = Entry(
        row["provider"],
        row["model"],
        row["surface"],
        params[row["params"]],
        row.get("status"),
        row.get("shutdown"),
        row.get("next"),
    )
    yield _key(entry.model), entry
    if "id" in row:
        yield _key(row["id"]), entry


def _key(model: str) -> str:
    # Routers write claude-sonnet-4.5 where the maker writes claude-sonnet-4-5; Gemini's list says models/NAME.
    return model.lower().removeprefix("models/").partition(":")[0].replace(".", "-")
