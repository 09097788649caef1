"""Detects API keys written into a run definition, which is then refused. The keys are not printed."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from judge.base import redaction
from judge.base.errors import SpecError
from judge.base.late_pattern import late
from judge.base.wording import joined

# Recognises names of fields, headers and URL parameters whose value is an API key.

# Names of environment variables that a definition may name. Capitals alone: a key is not mistaken for one.
VARIABLE = r"[A-Z][A-Z0-9_]{0,99}"

REFERENCE = late(r"\$\{([^{}]*)\}")

_ENDS = (
    "apikey",
    "accesskey",
    "accesstoken",
    "accountkey",
    "apitoken",
    "authkey",
    "authorization",
    "authtoken",
    "bearer",
    "bearertoken",
    "cookie",
    "credential",
    "credentials",
    "hftoken",
    "idtoken",
    "masterkey",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretkey",
    "securitytoken",
    "sessiontoken",
    "subscriptionkey",
)
_LAST = frozenset({"auth", "code", "jwt", "key", "pass", "pat", "pwd", "session", "sig", "signature", "token"})
_HARMLESS = frozenset({"idempotencykey", "promptcachekey", "cachekey"})


def says_key(name: str) -> bool:
    """Whether a field's name suggests a key: `api_key`, `x-auth-token`, `clientSecret`; not `max_tokens`."""
    joined = "".join(_words(name))
    return joined.endswith(_ENDS) or joined in ("token", "jwt", "auth")


def carries_key(name: str) -> bool:
    """Whether a header's or URL parameter's name suggests a key: as `says_key`, and `key`, `sig`, `X-Vault-Token`..."""
    words = _words(name)
    return says_key(name) or ("".join(words) not in _HARMLESS and bool(words) and words[-1] in _LAST)


def _words(name: str) -> list[str]:
    # `clientSecret2` gives client, secret, 2.
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


# Where a value stands in plain data: names of fields, numbers in lists.
Place = tuple[str | int, ...]

MEND = (
    "export the key as an environment variable and write its name: api_key_env: NAME, or headers: {api-key: ${NAME}}; "
    "a key that stood in a file may have been read by others: replace it"
)
_NO_HEADER = frozenset({"host", "content-length", "content-type", "connection", "transfer-encoding", "upgrade", "te"})
_HEADER = late(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_KEY_VALUE = late(r"(?:[A-Za-z][A-Za-z0-9-]{0,15} |[A-Za-z][\w-]{0,31}=)?\$\{" + VARIABLE + r"\}")
_SCHEME = late(r"\s*(?:bearer|basic|token|apikey)\s+\S", re.IGNORECASE)
_USER = late(r"(?:[A-Za-z][\w+.-]*:)?(?://)?[^/?#]*@")
_PARAMETER = late(r"[?&#;]([^=?&#;/]+)=([^&#;]+)")
# Letters of both cases and digits without a break, as in keys and in no name.
_RANDOM = late(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{32,}")


def refuse_keys(data: Mapping[str, Any], where: str, text: str | None = None) -> None:
    """Raise SpecError for the first API key in a run definition from the file `where`, with its line in `text`, if
    given."""
    for path, why in found_keys(data):
        line = _line(text, path) if text is not None else None
        name = ".".join(str(part) for part in path)
        location = f"{where}, line {line}" if line is not None else where
        raise SpecError(joined(location, f": {name} {why}" if name else f": {why}"), hint=MEND)


def found_keys(data: Any, path: Place = ()) -> Iterator[tuple[Place, str]]:
    """(path of names and positions, description of the mistake) for each API key in `data`, which lies at `path` of the
    definition. A key in a field's name ends the path before it."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            if why := _key_kind(str(name)):
                yield path, f"has a field whose name holds {why}"
                continue
            yield from _field((*path, str(name)), value)
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from _field((*path, number), value)


def address_problem(address: str) -> str | None:
    """What is wrong with a server's address, as the end of a sentence: "holds a user name or a password"."""
    if _USER.match(address):
        return "holds a user name or a password"
    for name, value in _PARAMETER.findall(address):
        if carries_key(unquote(name)) or _key_kind(unquote(value)):
            return "holds a key among its parameters"
    if REFERENCE.search(address):
        return "names a variable, and variables are read in headers only"
    if why := _key_kind(unquote(address)):
        return f"holds {why}"
    return "holds what looks like a key" if _RANDOM.search(address) else None


def _field(path: Place, value: Any) -> Iterator[tuple[Place, str]]:
    top, name = path[0], path[-1]
    if path == ("engine", "headers") and value:
        yield path, "has moved: headers are written beside engine, as headers: {NAME: VALUE}, keys as ${VARIABLE}"
    elif top == "headers":
        yield from _headers(path, value)
    elif isinstance(value, Mapping | list | tuple):
        yield from found_keys(value, path)
    elif value is not None and not isinstance(value, bool) and (why := _scalar(path, str(name), str(value))):
        yield path, why


def _scalar(path: Place, name: str, value: str) -> str | None:
    # The end of a sentence such as "holds a key as it stands".
    if path == ("api_key_env",):
        fine = value == "none" or re.fullmatch(VARIABLE, value)
        return None if fine and not _key_kind(value) else "is not the name of a variable (capitals, digits, _) or none"
    if path[0] != "columns" and says_key(name) and value:
        return "holds a key as it stands"
    if path[0] == "base_url" or re.match(r"[A-Za-z][\w+.-]*://", value):
        return address_problem(value)
    if why := _key_kind(value):
        return f"holds {why}"
    return "holds what looks like a key" if path[0] == "engine" and _RANDOM.search(value) else None


def _headers(path: Place, value: Any) -> Iterator[tuple[Place, str]]:
    if len(path) == 1 and isinstance(value, Mapping):
        yield from found_keys(value, path)
    elif len(path) == 1 or not isinstance(value, str) or not isinstance(path[1], str):
        yield path[:1], "must be names with values in quotation marks, like headers: {X-Title: 'my study'}"
    elif why := _header(path[1], value):
        yield path, why


def _header(name: str, value: str) -> str | None:
    if not _HEADER.fullmatch(name) or not value.isprintable():
        return "cannot be a header"
    if name.lower() in _NO_HEADER:
        return "is set by the program and cannot be given"
    if any(not re.fullmatch(VARIABLE, variable) for variable in REFERENCE.findall(value)):
        return "has ${...} around what is not the name of a variable (capitals, digits, _)"
    if carries_key(name) and not _KEY_VALUE.fullmatch(value):
        return "holds a key as it stands; its value must be ${NAME}, or a word and ${NAME}, as in Bearer ${NAME}"
    rest = REFERENCE.sub("", value)
    if why := _key_kind(rest):
        return f"holds {why}"
    if _RANDOM.search(rest) or _SCHEME.match(rest):
        return "holds what looks like a key"
    return None


def _key_kind(text: str) -> str | None:
    return redaction.held_in(text) or redaction.looks_in(text)


def _line(text: str, path: Place) -> int | None:
    # From 1; of the last part found, if only the path's beginning is.
    import yaml

    node, line = yaml.compose(text, Loader=yaml.SafeLoader), None
    for part in path:
        if isinstance(node, yaml.MappingNode):
            entry = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if entry is None:
                return line
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


# Parses a server's address into scheme, host and port. Parsing is strict, because the result decides where an API key
# may be sent.

_PORTS = {"http": 80, "https": 443}
_PLAIN = late(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:[/?#][^\s\\]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a server. They decide whether an API key may be sent to it."""

    scheme: str
    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether the host is `localhost` or a loopback or unspecified IP address. Other names do not count, whatever
        they resolve to."""
        if self.host == "localhost":
            return True
        try:
            number = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        mapped = getattr(number, "ipv4_mapped", None) or number
        return bool(mapped.is_loopback or mapped.is_unspecified)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def origin_of(address: str, where: str = "base_url") -> Origin:
    """Origin of an address. Raises SpecError if it contains a key, or programs might parse it differently."""
    if (problem := address_problem(address)) is not None:
        raise SpecError(joined(where, f" {problem}"), hint=MEND)
    if not _PLAIN.fullmatch(address):
        raise SpecError(
            joined(where, f" {address!r} is not an address"),
            hint="write it like https://api.openai.com/v1, in ASCII letters",
        )
    try:
        parts = urlsplit(address)
        host = str(parts.hostname)
        number = ipaddress.ip_address(host).compressed if ":" in host else host
        return Origin(parts.scheme, number, parts.port or _PORTS[parts.scheme])
    except ValueError as error:
        raise SpecError(joined(where, f" {address!r} is not an address: {error}")) from error
