"""Builds the addresses of a server's routes from its base_url.

A base_url may contain a query (`?api-version=2024-10-21`, as Azure's older routes require); it is added to every
request.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from judge.base.errors import SpecError


def without_slash(base_url: str) -> str:
    """The address `base_url` without the slash at the end of its path, for comparing and printing. Raises SpecError for
    an invalid address.
    """
    try:
        scheme, host, path, query, _ = urlsplit(base_url)
    except ValueError as error:
        raise SpecError(f"base_url is no address: {error}", hint="base_url: http://HOST:PORT/v1") from error
    return urlunsplit((scheme, host, path.rstrip("/"), query, ""))


def endpoint(base_url: str, route: str) -> str:
    """Address of a route such as `/chat/completions` or `/models` below a base_url; a query in base_url is kept."""
    if "?" not in base_url:
        return base_url + route
    scheme, host, path, query, _ = urlsplit(base_url)
    route, _, more = route.partition("?")
    return urlunsplit((scheme, host, path.rstrip("/") + route, "&".join(filter(None, (query, more))), ""))


def beside(base_url: str, route: str) -> str:
    """Address of a route that is outside the API's `/v1`, such as `/version` or `/tokenize`."""
    scheme, host, path, _, _ = urlsplit(base_url)
    return urlunsplit((scheme, host, path.rstrip("/").removesuffix("/v1"), "", "")) + route
