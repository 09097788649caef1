"""Snapshot of the model catalogue modelparams, shipped with the program: the settings and availability of each
model.
"""

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
    """The model catalogue's entry on a provider's model. `params` are the model's settings by their names in run.yaml,
    and `surface` is the API to which they apply. `status`, `shutdown` (a date) and `replacement` describe the model's
    availability.
    """

    provider: str
    model: str
    surface: str
    params: Mapping[str, Mapping[str, Any]]
    status: str | None = None
    shutdown: str | None = None
    replacement: str | None = None

    @property
    def name(self) -> str:
        """The model as `provider/model`, as the catalogue writes it."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A snapshot of the model catalogue: its source, and `by_provider`, a map from a provider to its entries by model
    name.
    """

    version: str
    taken: str
    source: str
    license: str
    count: int
    by_provider: Mapping[str, Mapping[str, Entry]]

    @property
    def named(self) -> str:
        """The model catalogue's name, version and snapshot date, for use in a sentence."""
        return f"the catalogue modelparams {self.version} (snapshot of {self.taken})"

    def find(self, provider: str, model: str) -> Entry | None:
        """The provider's entry on a model; None where there is none.

        The model is searched by its name, then by its name without a date. A name without a date also matches a dated
        one, if there is only one.
        """
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
        """Whether the catalogue lists this setting for any model of the provider. If it does not, the fact that a
        model's entry lacks the setting shows nothing.
        """
        return any(setting in entry.params for entry in self.by_provider.get(provider, {}).values())


@cache
def catalogue() -> Catalogue:
    """The catalogue's snapshot that is shipped with the program."""
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
