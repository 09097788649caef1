"""What is documented of a run's models: the catalogue's entries, the provider behind an address with its settings, and
the date on which a model is shut down, which is not compared with today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import yaml

from judge.asking.run_definition.spec import load_run_specs
from judge.base.credentials.providers import PROTOCOLS, JudgeName
from judge.base.credentials.providers import addresses_of as named_addresses
from judge.base.errors import JudgeError
from judge.base.files import package_file
from judge.base.late_pattern import late

# Snapshot of the model catalogue modelparams, shipped with the program: each model's settings and availability.

_DATE = late(r"[-@]20\d\d(?:-\d\d-\d\d|\d{4})$")


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


# Recognises the provider of a run from the servers' addresses, and gives the provider's documented settings.


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's endpoint, or an engine that users run (recognised by `owned_by`).

    `hosts` are patterns of addresses; `catalogue` is the provider's name there, or None; `native`: it describes another
    API of the provider. `deployments`: users name the models. `routes`: requests go on to other providers. `makes`
    begin its model names ("gpt-"), `called` are its names in MAKER/MODEL ("openai")."""

    key: str
    name: str
    source: str
    speaks: str = "openai"
    hosts: tuple[str, ...] = ()
    owned_by: str | None = None
    catalogue: str | None = None
    native: bool = False
    deployments: bool = False
    routes: bool = False
    makes: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A run's provider and model, as far as recognised. `by_name`: the entry was found by the model's name only; a
    gateway or the user's own server may treat settings differently."""

    endpoint: Endpoint | None
    entry: Entry | None
    by_name: bool = False


@cache
def endpoints() -> Mapping[str, Endpoint]:
    """Map from key to each known kind of server."""
    data = yaml.safe_load(package_file("asking", "in_force", "endpoints.yaml").read_text(encoding="utf-8"))
    return {key: _endpoint(key, row) for key, row in data.items()}


def _endpoint(key: str, row: Mapping[str, Any]) -> Endpoint:
    lists: dict[str, Any] = {name: tuple(row.get(name, ())) for name in ("hosts", "makes", "called")}
    statements = {
        name: {"state": value} if isinstance(value, str) else value for name, value in row.get("settings", {}).items()
    }
    rest = {name: value for name, value in row.items() if name not in (*lists, "settings")}
    return Endpoint(key, **rest, **lists, settings=statements)


def addresses_of(
    base_url: Sequence[str], server: Mapping[str, Any] | None = None, *, backend: str = "openai"
) -> list[str]:
    """Addresses of a run's requests, from the stored data on the server, else its definition, else the environment."""
    addresses = [
        str(server_entry["base_url"])
        for server_entry in (server or {}).get("servers", ())
        if server_entry.get("base_url")
    ]
    return addresses or named_addresses(base_url, backend)


def who_is_asked(
    model: str, addresses: Sequence[str], server: Mapping[str, Any] | None = None, *, backend: str = "openai"
) -> Asked:
    """The kind of server at these addresses and the catalogue's entry on the model. `server` is a probe's result."""
    keys = {_at(address, backend) for address in addresses}
    endpoint = endpoints()[next(iter(keys)) or ""] if len(keys) == 1 and None not in keys else None
    if endpoint is None:
        owners = {server_entry.get("owned_by") for server_entry in (server or {}).get("servers", ())}
        engine = [
            candidate
            for candidate in endpoints().values()
            if candidate.owned_by is not None and owners == {candidate.owned_by}
        ]
        # A server of one's own: names of models are its owner's, and prove nothing.
        return Asked(engine[0], None) if engine else Asked(None, _by_name(model), by_name=True)
    if endpoint.routes:
        return Asked(endpoint, _by_name(model), by_name=True)
    entry = catalogue().find(endpoint.catalogue, model) if endpoint.catalogue else None
    return Asked(endpoint, entry, by_name=endpoint.deployments)


def _at(address: str, backend: str) -> str | None:
    try:
        host = (urlsplit(address).hostname or "").lower()
    except ValueError:
        return None  # no address at all: the back-end says so
    for key, endpoint in endpoints().items():
        if endpoint.speaks == backend and any(fnmatchcase(host, pattern) for pattern in endpoint.hosts):
            return key
    return None


def _by_name(model: str) -> Entry | None:
    # As NAME or MAKER/NAME.
    maker, slash, name = model.rpartition("/")
    for endpoint in endpoints().values():
        if endpoint.catalogue is None or endpoint.deployments:
            continue
        called = maker.rpartition("/")[2].lower() in endpoint.called if slash else True
        if called and name.lower().startswith(endpoint.makes):
            return catalogue().find(endpoint.catalogue, name)
    return None


@dataclass(frozen=True, slots=True)
class Life:
    """A model's availability in the catalogue. `on` is the day of the shutdown as YYYY-MM-DD (None: not listed),
    `status` a word such as "deprecated", `instead` the replacement. `by_name`: not at its provider's own address."""

    model: str
    on: str | None
    status: str | None
    instead: str | None
    by_name: bool

    @property
    def ends(self) -> bool:
        """Whether the provider has shut the model down, or has announced the shutdown."""
        return self.on is not None or self.status in ("retired", "deprecated")

    @property
    def sentence(self) -> str:
        """Clause for warnings: which shutdown is listed, and in which catalogue. It does not name the judge."""
        when = f"with its shutdown on {self.on}" if self.on else f"as {self.status}, without a date"
        instead = f"; the provider names {self.instead} in its place" if self.instead else ""
        alone = " (recognised by its name alone)" if self.by_name else ""
        return f"{catalogue().named} lists {self.model}{alone} {when}{instead}"

    def record(self) -> dict[str, str | None]:
        """Dict for the manifest with `model`, `on`, `status` and `source` (the catalogue)."""
        return {"model": self.model, "on": self.on, "status": self.status, "source": catalogue().named}


def life_in(manifest: Mapping[str, Any]) -> Life | None:
    """A stored run's listed shutdown, or None, by the current catalogue, which may be newer than the run."""
    force = manifest.get("in_force") or {}
    life = life_of(str(manifest.get("judge", "")), force.get("base_url") or (), force.get("server"))
    return life if life is not None and life.ends else None


def ending(runs: Path) -> dict[str, tuple[Life, list[Path]]]:
    """Judge -> a listed shutdown and the folders of the runs directly under `runs` that use it."""
    lives: dict[str, tuple[Life, list[Path]]] = {}
    for definition in sorted(runs.glob("*/run.yaml")):
        try:
            specs = load_run_specs(definition).asked
        except JudgeError:
            continue  # judge run says what is wrong with it
        for spec in specs:
            life = life_of(spec.judge, spec.base_url)
            if life is not None and life.ends:
                lives.setdefault(spec.judge, (life, []))[1].append(definition.parent)
    return lives


def life_of(judge: str, base_url: Sequence[str] = (), server: Mapping[str, Any] | None = None) -> Life | None:
    """The model's availability; None where the catalogue lacks it or it runs on the user's own machine."""
    backend, model = JudgeName.of(judge)
    if backend not in PROTOCOLS:
        return None
    who = who_is_asked(model, addresses_of(base_url, server, backend=backend), server, backend=backend)
    entry = who.entry
    if entry is None:
        return None
    return Life(entry.name, entry.shutdown, entry.status, entry.replacement, who.by_name)
