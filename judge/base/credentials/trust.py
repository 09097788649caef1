"""Hosts that the user trusts with API keys. They come from the environment and from a file of the user, not from a
run.yaml.

JUDGE_TRUSTED_HOSTS lists hosts, separated by commas, to which any key that a run names may be sent.
`trusted_hosts.yaml` in the user's configuration folder lists, for each host, the variables whose keys may be sent
there. A definition in a trusted folder may name servers of this machine. The host in OPENAI_BASE_URL is trusted with
OpenAI's variables, and that in ANTHROPIC_BASE_URL with Anthropic's. An entry without a scheme means https; plain http
is trusted only if the entry states it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from judge.base import yaml_file
from judge.base.credentials.literal import Origin, origin_of
from judge.base.credentials.providers import PROVIDERS
from judge.base.errors import SpecError
from judge.base.folders.trusted import config_folder, lies_in_trusted
from judge.base.whole_file import write_whole

VARIABLE = "JUDGE_TRUSTED_HOSTS"
_ENTRY = re.compile(
    r"(?:(https?)://)?(\*\.)?(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?(?:/.*)?", re.IGNORECASE
)


class UntrustedHostError(SpecError):
    """Raised when a run would send an API key to a host that only the run definition names, and not the user's
    configuration.
    """

    def __init__(self, origin: Origin, variables: tuple[str, ...], message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.origin = origin
        self.variables = variables


@dataclass(frozen=True, slots=True)
class Trust:
    """One trusted host or, with `below`, all its subdomains and not the host itself. `port` None = any port.
    `variables` are the environment variables whose keys may be sent there; None = any.
    """

    scheme: str
    host: str
    port: int | None
    below: bool
    variables: frozenset[str] | None

    def covers(self, origin: Origin, variable: str) -> bool:
        """Whether this entry allows the key in an environment variable to be sent to an origin."""
        return self.names(origin) and (self.variables is None or variable in self.variables)

    def names(self, origin: Origin) -> bool:
        """Whether this entry of the user's trusted hosts covers a server, by scheme, host and port. Which key would be
        sent does not matter.
        """
        host = origin.host.removesuffix(".")
        same = host.endswith(f".{self.host}") if self.below else host == self.host
        return same and self.scheme == origin.scheme and self.port in (None, origin.port)


def trust_file() -> Path:
    """Path of the user's file of trusted hosts, whether it exists or not."""
    return config_folder() / "trusted_hosts.yaml"


def trusted(origin: Origin, variable: str, more: Iterable[str] = ()) -> bool:
    """Whether the user's configuration allows the key in an environment variable to be sent to an origin. `more` holds
    further entries in the format of JUDGE_TRUSTED_HOSTS.
    """
    if any(trust.covers(origin, variable) for trust in trusts(more)):
        return True
    return origin in _own_origins(variable)


def on_this_machine(addresses: Iterable[str], folder: Path | None) -> tuple[str, ...]:
    """Those of the servers in `addresses` that run on this machine, as entries for JUDGE_TRUSTED_HOSTS, if the folder
    of the definition that names them lies in a trusted folder; otherwise none. `folder` is None where the user named
    the servers on the command line.

    Any program on this machine can listen on a port, so that a stranger's run.yaml could collect keys there too.
    """
    if folder is not None and not lies_in_trusted(folder):
        return ()
    return tuple(str(origin) for origin in map(origin_of, addresses) if origin.loopback)


def elsewhere(addresses: Iterable[str]) -> tuple[str, ...]:
    """Those of the servers in `addresses` that the user's configuration trusts, as entries for JUDGE_TRUSTED_HOSTS on a
    machine without this configuration.
    """
    origins = map(origin_of, addresses)
    own = _own_origins()
    return tuple(str(o) for o in origins if o in own or any(trust.names(o) for trust in trusts()))


def trusts(more: Iterable[str] = ()) -> list[Trust]:
    """Trusted hosts from JUDGE_TRUSTED_HOSTS, from the user's file, and from `more`, which holds entries as in
    JUDGE_TRUSTED_HOSTS. Addresses in variables such as OPENAI_BASE_URL are not among them.
    """
    named = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]
    return [
        *(_trust(entry, None, VARIABLE) for entry in [*named, *more] if entry),
        *(_trust(entry, names, str(trust_file())) for entry, names in _stored().items()),
    ]


def key_for(origin: Origin) -> str | None:
    """Environment variable that the user's file of trusted hosts lists for a server; None if the file lists none or
    several.
    """
    for entry, names in _stored().items():
        if len(names) == 1 and _trust(entry, names, str(trust_file())).covers(origin, names[0]):
            return names[0]
    return None


def remember(origin: Origin, variables: Iterable[str]) -> Path:
    """Add a server to the user's file of trusted hosts, with the environment variables whose keys may be sent to it;
    returns the file's path.
    """
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
    """Servers whose addresses the user set in the environment (such as in OPENAI_BASE_URL). If `host`, the name of an
    environment variable, is given, only servers of the provider to which this variable belongs.
    """
    named = [
        provider.address_variable
        for provider in PROVIDERS
        if provider.address_variable and (host is None or provider.owns(host))
    ]
    return [origin_of(os.environ[name], name) for name in named if os.environ.get(name)]


def _stored() -> dict[str, list[str]]:
    """Content of the user's file of trusted hosts: list of variables by host. Empty if there is no file."""
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
