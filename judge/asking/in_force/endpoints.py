"""Recognises the provider of a run from the servers' addresses, and gives the provider's documented settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import yaml

from judge.asking.in_force.catalogue import Entry, catalogue
from judge.base.credentials.providers import addresses_of as named_addresses
from judge.base.folders.shipped import package_file


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One kind of server: a provider's endpoint, or an engine that users run themselves (recognised by `owned_by`).

    `speaks` is the back-end that sends requests to it, and `hosts` are patterns of its addresses. `settings` holds what
    its documentation says on settings. `catalogue` is the provider's name in the model catalogue; None: it is not
    there. `native`: the catalogue describes the models for another API of the provider. `deployments`: users choose the
    model names themselves. `routes`: it forwards requests to other providers. `makes` are beginnings of the provider's
    model names ("gpt-"), and `called` are the provider's names in MAKER/MODEL ("openai").
    """

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
    """The provider and model of a run, as far as they can be recognised from the address, the server and the model's
    name.

    `entry` is the catalogue's entry on the model. `by_name` says that it was found by the model's name only: the
    address is not the provider's own, and a gateway or the user's own server may treat settings differently.
    """

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
    """Addresses to which a run sends requests. They are taken from the stored data on the server, otherwise from the
    run definition, otherwise from the environment.
    """
    addresses = [
        str(server_entry["base_url"])
        for server_entry in (server or {}).get("servers", ())
        if server_entry.get("base_url")
    ]
    return addresses or named_addresses(base_url, backend)


def who_is_asked(
    model: str, addresses: Sequence[str], server: Mapping[str, Any] | None = None, *, backend: str = "openai"
) -> Asked:
    """The kind of server at these addresses and the catalogue's entry on the model, as far as they are recognised.
    `server` is the result of a probe.
    """
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
    """The catalogue's entry on a model by its name alone, given as NAME or MAKER/NAME; None where no maker is
    recognised.
    """
    maker, slash, name = model.rpartition("/")
    for endpoint in endpoints().values():
        if endpoint.catalogue is None or endpoint.deployments:
            continue
        called = maker.rpartition("/")[2].lower() in endpoint.called if slash else True
        if called and name.lower().startswith(endpoint.makes):
            return catalogue().find(endpoint.catalogue, name)
    return None
