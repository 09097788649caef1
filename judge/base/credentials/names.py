"""Recognises names of fields, headers and URL parameters whose value is an API key."""

from __future__ import annotations

import re

VARIABLE = r"[A-Z][A-Z0-9_]{0,99}"
"""Names of environment variables that a definition may name. Capitals alone: a key is not mistaken for one."""

REFERENCE = re.compile(r"\$\{([^{}]*)\}")

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
    """Whether a field name suggests that the field holds a key: `api_key`, `x-auth-token`, `clientSecret`; not
    `max_tokens`.
    """
    joined = "".join(_words(name))
    return joined.endswith(_ENDS) or joined in ("token", "jwt", "auth")


def carries_key(name: str) -> bool:
    """Whether the name of a header or URL parameter suggests a key: names as in `says_key`, and `key`, `sig`,
    `X-Vault-Token`...
    """
    words = _words(name)
    return says_key(name) or ("".join(words) not in _HARMLESS and bool(words) and words[-1] in _LAST)


def _words(name: str) -> list[str]:
    """Words and numbers that a name consists of, in lower case: `clientSecret2` gives client, secret, 2."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
