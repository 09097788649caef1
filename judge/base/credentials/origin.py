"""Parses a server's address into scheme, host and port. Parsing is strict, because the result decides where an API key
may be sent.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from judge.base.credentials.literal import MEND, address_problem
from judge.base.errors import SpecError
from judge.base.wording import joined

_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:[/?#][^\s\\]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a server. They decide whether an API key may be sent to it."""

    scheme: str
    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether the host is this machine, written as `localhost` or as a loopback or unspecified IP address. Other
        names do not count, whatever address they resolve to.
        """
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
    """Origin (scheme, host and port) of an address. Raises SpecError if the address contains a key, or if programs
    might parse the address differently.
    """
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
