"""Hosts that the user, never a run.yaml, trusts with API keys.

JUDGE_TRUSTED_HOSTS lists hosts, separated by commas, for any key that a run names. `trusted_hosts.yaml` in the
configuration folder lists for each host the variables whose keys may go there. A definition in a trusted folder may
name servers of this machine. The hosts in OPENAI_BASE_URL and ANTHROPIC_BASE_URL are trusted with these providers'
variables. An entry without a scheme means https; plain http must be stated."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from judge.base import yaml_file
from judge.base.credentials.providers import PROVIDERS
from judge.base.credentials.written_keys import Origin, origin_of
from judge.base.errors import SpecError
from judge.base.files import config_folder, lies_in_trusted, write_whole
from judge.base.late_pattern import late

VARIABLE = "JUDGE_TRUSTED_HOSTS"
_ENTRY = late(
    r"(?:(https?)://)?(\*\.)?(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?(?:/.*)?", re.IGNORECASE
)


class UntrustedHostError(SpecError):
    """Raised when a run would send a key to a host that only its definition names."""

    def __init__(self, origin: Origin, variables: tuple[str, ...], message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.origin = origin
        self.variables = variables


@dataclass(frozen=True, slots=True)
class Trust:
    """One trusted host or, with `below`, all its subdomains and not itself. `port` None = any; `variables` None = any
    key."""

    scheme: str
    host: str
    port: int | None
    below: bool
    variables: frozenset[str] | None

    def covers(self, origin: Origin, variable: str) -> bool:
        """Whether this entry allows the key in an environment variable to be sent to an origin."""
        return self.names(origin) and (self.variables is None or variable in self.variables)

    def names(self, origin: Origin) -> bool:
        """Whether this entry covers a server, by scheme, host and port, whatever key would be sent."""
        host = origin.host.removesuffix(".")
        same = host.endswith(f".{self.host}") if self.below else host == self.host
        return same and self.scheme == origin.scheme and self.port in (None, origin.port)


def trust_file() -> Path:
    """Path of the user's file of trusted hosts, whether it exists or not."""
    return config_folder() / "trusted_hosts.yaml"


def trusted(origin: Origin, variable: str, more: Iterable[str] = ()) -> bool:
    """Whether the user allows a variable's key to be sent to an origin. `more` are entries as in
    JUDGE_TRUSTED_HOSTS."""
    if any(trust.covers(origin, variable) for trust in trusts(more)):
        return True
    return origin in _own_origins(variable)


def on_this_machine(addresses: Iterable[str], folder: Path | None) -> tuple[str, ...]:
    """Servers of this machine among `addresses`, as entries for JUDGE_TRUSTED_HOSTS, if the definition's `folder` is
    trusted or None (named on the command line). Any program can listen on a port here, so a stranger's run.yaml could
    collect keys."""
    if folder is not None and not lies_in_trusted(folder):
        return ()
    return tuple(str(origin) for origin in map(origin_of, addresses) if origin.loopback)


def elsewhere(addresses: Iterable[str]) -> tuple[str, ...]:
    """The addresses that the user trusts, as entries for JUDGE_TRUSTED_HOSTS on a machine without this
    configuration."""
    origins = map(origin_of, addresses)
    own = _own_origins()
    return tuple(str(o) for o in origins if o in own or any(trust.names(o) for trust in trusts()))


def trusts(more: Iterable[str] = ()) -> list[Trust]:
    """Trusted hosts of JUDGE_TRUSTED_HOSTS, the user's file and `more`, without variables such as OPENAI_BASE_URL."""
    named = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]
    return [
        *(_trust(entry, None, VARIABLE) for entry in [*named, *more] if entry),
        *(_trust(entry, names, str(trust_file())) for entry, names in _stored().items()),
    ]


def key_for(origin: Origin) -> str | None:
    """The variable that the user's file lists for a server; None if it lists none or several."""
    for entry, names in _stored().items():
        if len(names) == 1 and _trust(entry, names, str(trust_file())).covers(origin, names[0]):
            return names[0]
    return None


def remember(origin: Origin, variables: Iterable[str]) -> Path:
    """Add a server and its variables to the user's file of trusted hosts, whose path this is."""
    file = trust_file()
    stored = _stored()
    stored[str(origin)] = sorted({*stored.get(str(origin), ()), *variables})
    text = "# Hosts that may be sent keys, with the variables that hold them; see Keys in docs/guides/judges.md.\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text + yaml.safe_dump(stored))
    except OSError as error:
        raise SpecError(f"{file} cannot be written: {error.strerror}", hint=f"export {VARIABLE}={origin}") from error
    return file


def _own_origins(host: str | None = None) -> list[Origin]:
    # Set in the environment, such as OPENAI_BASE_URL; `host` names a variable, and only its provider's servers count
    # then.
    named = [
        provider.address_variable
        for provider in PROVIDERS
        if provider.address_variable and (host is None or provider.owns(host))
    ]
    return [origin_of(os.environ[name], name) for name in named if os.environ.get(name)]


def _stored() -> dict[str, list[str]]:
    file = trust_file()
    if not file.is_file():
        return {}
    try:
        data = yaml_file.load(file.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise SpecError(f"{file} cannot be read as YAML", hint="each line: HOST: VARIABLE") from error
    if not isinstance(data, Mapping):
        raise SpecError(f"{file} must hold hosts and variables", hint="each line: HOST: VARIABLE")
    variables_by_host = {}
    for entry, names in data.items():
        listed = [names] if isinstance(names, str) else names
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed) or not listed:
            raise SpecError(f"{file}: {entry} must name the variables that go there", hint="each line: HOST: VARIABLE")
        variables_by_host[str(entry)] = listed
    return variables_by_host


def _trust(entry: str, variables: Iterable[str] | None, where: str) -> Trust:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise SpecError(
            f"{where} has an entry that is no host", hint="hosts are written as llm.example.org or http://gpu-17:8000"
        )
    scheme, below, six, name, port = match.groups()
    return Trust(
        (scheme or "https").lower(),
        (six or name).lower().removesuffix("."),
        int(port) if port else None,
        bool(below),
        None if variables is None else frozenset(variables),
    )
