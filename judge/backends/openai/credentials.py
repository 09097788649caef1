"""Keys and headers of a run's requests: each server gets its own, no other host any. They are added to each request to
a server of the run, not to the HTTP session, so that no redirect can carry a key or a story elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse

from judge.backends.protocol import Settings
from judge.base import redaction
from judge.base.credentials.providers import OPENAI, Provider, provider_of
from judge.base.credentials.trust import VARIABLE, UntrustedHostError, key_for, trust_file, trusted
from judge.base.credentials.written_keys import REFERENCE, Origin, carries_key, origin_of
from judge.base.errors import BackendError, SpecError
from judge.base.files import VARIABLE as FOLDERS

# Builds the addresses of a server's routes from its base_url.


def without_slash(base_url: str) -> str:
    """The address without the slash at its path's end. Raises SpecError for an invalid one."""
    try:
        scheme, host, path, query, _ = urlsplit(base_url)
    except ValueError as error:
        raise SpecError(f"base_url is no address: {error}", hint="base_url: http://HOST:PORT/v1") from error
    return urlunsplit((scheme, host, path.rstrip("/"), query, ""))


def endpoint(base_url: str, route: str) -> str:
    """Address of a route such as `/chat/completions` below a base_url, whose query is kept."""
    if "?" not in base_url:
        return base_url + route
    scheme, host, path, query, _ = urlsplit(base_url)
    route, _, more = route.partition("?")
    return urlunsplit((scheme, host, path.rstrip("/") + route, "&".join(filter(None, (query, more))), ""))


def beside(base_url: str, route: str) -> str:
    """Address of a route that is outside the API's `/v1`, such as `/version` or `/tokenize`."""
    scheme, host, path, _, _ = urlsplit(base_url)
    return urlunsplit((scheme, host, path.rstrip("/").removesuffix("/v1"), "", "")) + route


def proxy_of(url: str) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, NO_PROXY...) sets for this address."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def connect(url: str, credentials: Credentials, timeout: float, **headers: str) -> aiohttp.ClientSession:
    """HTTP session that sends requests only to the run's servers, each with its own key. `url` decides the proxy, and
    `timeout` is in seconds per request."""
    return aiohttp.ClientSession(
        headers={"Content-Type": "application/json", **headers},
        middlewares=(credentials.attach,),
        # The limiter above decides how many requests are in flight.
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
        timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=10),
        cookie_jar=aiohttp.DummyCookieJar(),
        # aiohttp's own look at the environment (trust_env) costs two thread hops for each request.
        proxy=proxy_of(url),
    )


# `api_key_env: none` sends no key.
NO_KEY = "none"


_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class RedirectError(aiohttp.ClientError):
    """Raised when a server redirects a request, which is not followed."""


def not_redirected(response: ClientResponse) -> ClientResponse:
    """The response. Raises RedirectError if it redirects."""
    if response.status in _REDIRECTS:
        # Followed, a POST would become a question without a question, and its answer a judgment.
        response.release()
        location = response.headers.get("Location", "")
        raise RedirectError(f"the server redirects to {redaction.redact(location)[:200]} (HTTP {response.status})")
    return response


@dataclass(frozen=True, slots=True)
class Sent:
    """A server's headers and the environment variables in them. `wanted` are a provider's key variables if one is
    needed and none set."""

    headers: Mapping[str, str]
    variables: tuple[str, ...]
    wanted: tuple[str, ...] = ()


class Credentials:
    """A run's keys and headers, read only from the environment. For hosts of no known provider, `protocol` decides the
    header and the variables of the key."""

    def __init__(self, urls: Sequence[str], settings: Settings, protocol: Provider = OPENAI) -> None:
        self._urls = tuple(urls)
        self._settings = settings
        self._protocol = protocol
        self._sent: dict[Origin, Sent] | None = None
        self._by_url: dict[str, Mapping[str, str]] = {}

    def check(self) -> None:
        """Read every key. Raises SpecError, e.g. UntrustedHostError if a key may not be sent to a server of the run."""
        if self._sent is not None:
            return
        where = "base_url" if self._settings.base_url else self._protocol.address_variable
        self._sent = {origin: self._for(origin) for origin in (origin_of(url, where) for url in self._urls)}

    def headers(self, url: str) -> Mapping[str, str]:
        if (headers := self._by_url.get(url)) is None:
            self.check()
            headers = self._by_url[url] = (self._sent or {})[origin_of(url)].headers
        return headers

    def require(self) -> None:
        """Raise BackendError if a server of a known provider is used and none of its key variables is set."""
        self.check()
        for origin, sent in (self._sent or {}).items():
            if sent.wanted:
                names = " or ".join(sent.wanted)
                raise BackendError(
                    f"{origin} needs a key and {names} is not set",
                    kind="auth",
                    retryable=False,
                    hint=f"export {sent.wanted[0]}=..., or give base_url for a server of your own",
                )

    async def attach(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """aiohttp middleware that adds a server's headers. Raises RedirectError for a host that is no server of the
        run, or a redirect."""
        headers = self._by_place.get((request.url.scheme, request.url.host, request.url.port))
        if headers is None:
            raise RedirectError(f"the server redirects to {request.url.origin()}, which the run does not name")
        if headers:
            request.headers.update(headers)
        return not_redirected(await handler(request))

    async def post(self, client: aiohttp.ClientSession, url: str, route: str, body: bytes) -> ClientResponse:
        """The response to a POST to a route of the server at `url`, with its headers; the caller releases it. Raises
        RedirectError for a redirect. Does what `attach` does, which aiohttp would wrap once more for each request."""
        return not_redirected(
            await client.post(route, data=body, headers=self.headers(url), allow_redirects=False, middlewares=())
        )

    def clean(self, body: bytes) -> bytes:
        """The body without the run's keys, because some servers repeat keys in their answers."""
        return redaction.cleaned(body, self._values)

    @cached_property
    def _by_place(self) -> dict[tuple[str, str | None, int | None], Mapping[str, str]]:
        self.check()
        return {
            (origin.scheme, origin.host, origin.port): credential.headers
            for origin, credential in (self._sent or {}).items()
        }

    @cached_property
    def _values(self) -> tuple[str, ...]:
        self.check()
        names = {name for credential in (self._sent or {}).values() for name in credential.variables}
        return tuple(sorted(value for value in map(_value, names) if redaction.is_key_value(value)))

    def _for(self, origin: Origin) -> Sent:
        own = {name: _filled(name, value) for name, value in self._settings.headers.items()}
        variables = [name for value in self._settings.headers.values() for name in REFERENCE.findall(value)]
        provider = provider_of(origin.host)
        key, wanted = self._key(origin, provider, any(map(carries_key, own)))
        if key is not None:
            variables.append(key)
            header, scheme = self._carrier(provider)
            own = {**own, header: scheme + _value(key)}
        secret = tuple(dict.fromkeys(variables))
        self._refuse(origin, provider, secret)
        return Sent(own, secret, wanted)

    def _carrier(self, provider: Provider | None) -> tuple[str, str]:
        # The text before the key is, e.g., "Bearer ".
        if self._protocol.own_header and provider in (None, self._protocol):
            return self._protocol.own_header, ""
        return (provider or OPENAI).header, (provider or OPENAI).scheme

    def _key(self, origin: Origin, provider: Provider | None, given: bool) -> tuple[str | None, tuple[str, ...]]:
        # The second value names the provider's key variables if one must be set and none is. `given`: a header in
        # run.yaml already carries a key.
        named = self._settings.api_key_env
        if named == NO_KEY or (named is None and given):
            return None, ()
        if named is not None:
            return named, ()
        own = provider.variables if provider is not None else ()
        for name in filter(None, (key_for(origin), *own)):
            if os.environ.get(name, "").strip():
                return name, ()
        for usual in self._protocol.variables:
            # A server of this machine usually needs no key, so that there the provider's own is for trusted ones alone.
            allowed = provider is None and not origin.loopback
            allowed = allowed or trusted(origin, usual, self._settings.trusted)
            if allowed and os.environ.get(usual, "").strip():
                return usual, ()
        return None, own

    def _refuse(self, origin: Origin, provider: Provider | None, variables: tuple[str, ...]) -> None:
        secure = origin.scheme == "https"
        kept = tuple(
            name
            for name in variables
            if not (secure and provider is not None and provider.owns(name))
            and not trusted(origin, name, self._settings.trusted)
        )
        if not kept:
            return
        names = " and ".join(kept)
        folders = f", or name the run's folder in {FOLDERS}" if origin.loopback else ""
        why = "over plain http" if not secure and provider is not None else "which your own configuration does not name"
        raise UntrustedHostError(
            origin,
            kept,
            f"the run would send {names} to {origin}, {why}: nothing was sent",
            hint=f"if you trust that server with it: export {VARIABLE}={origin}, or put '{origin}: {kept[0]}' into "
            f"{trust_file()}{folders}; for a server that needs no key: api_key_env: none",
        )


def _filled(header: str, value: str) -> str:
    # Each `${NAME}` is replaced by that environment variable.
    return REFERENCE.sub(lambda found: _value(found[1], f"headers.{header}"), value)


def _value(name: str, where: str = "api_key_env") -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise SpecError(f"{where} names {name}, which is not set", hint=f"export {name}=...")
    if (wrong := re.search(r"[^\x20-\x7e]", value)) is not None:
        raise SpecError(
            f"{name} holds a character that no header can carry (place {wrong.start() + 1} of {len(value)})",
            hint=f"export {name} again; a line break or a typographic quote may have come in with it",
        )
    redaction.remember(value)
    return value
