"""Extracts messages, codes, parameters and delays from the body of an HTTP error in any format.

Providers send objects, lists of objects, JSON inside a string, FastAPI's `detail`, plain text and whole HTML pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

SHOWN = 300
"""Characters of the server's words in a sentence for people."""

_MOST = 4000
"""Characters of the server's words that are kept to find its cause in."""

# Gateways wrap another server's JSON in their own a few levels deep; a hostile body could nest without end.
_DEEPEST = 8

_WORDS = ("message", "msg", "detail", "details", "error", "errors", "error_description", "description", "title")
_WORDS_TOO = ("raw", "status_msg", "base_resp")
_CODES = ("code", "type", "status", "reason", "reasons", "error_code", "errorcode", "error_type", "errortype")
_CODES_TOO = ("__type", "status_code", "statuscode", "quotaid", "quota_limit")
_PARAMS = ("param", "parameter", "field", "loc", "argument", "path")
_DELAYS = ("retrydelay", "retry_delay", "retry_after", "retryafter", "retry-after", "retry_after_seconds")
_DELAYS_TOO = ("retry_after_ms", "retry-after-ms", "estimated_time", "x-ratelimit-reset")
_ECHOES = frozenset({"input", "ctx", "messages", "body", "request", "failed_generation", "prompt", "choices"})
"""Keys that hold what was sent: its words are the user's, and tell nothing."""

_SAYS_NOTHING = frozenset({"invalid_request_error", "unknown_error", "api_error", "invalid_argument", "server_error"})
"""Codes that stand with every error."""

_LOC = re.compile(r"""['"]loc['"]\s*:\s*[(\[]([^)\]]*)[)\]]""")
_ARROW = re.compile(r"\bbody ?(?:->|→|\.) ?(\w+)")
_QUOTED = re.compile(r"""['"]([A-Za-z_]\w*)['"]""")
_TAGS = re.compile(r"<(?:script|style).*?</(?:script|style)>|<[^>]*>", re.S | re.I)


@dataclass(slots=True)
class ErrorBody:
    """Content of the body of an HTTP error.

    Attributes
    ----------
    words : str
        All messages in the body, the outermost first.
    codes : set of str
        Codes, types and reasons in lower case, including numbers as text.
    params : list of str
        Parameters that the body names in a separate field (`param`, FastAPI's `loc`).
    delays : list of (str, object)
        Fields that say when to try again, as (key, value).
    status : int or None
        HTTP status given inside the body.
    """

    words: str = ""
    codes: set[str] = field(default_factory=set)
    params: list[str] = field(default_factory=list)
    delays: list[tuple[str, Any]] = field(default_factory=list)
    status: int | None = None

    @property
    def low(self) -> str:
        """The server's messages in lower case, with straight instead of typographic apostrophes."""
        return self.words.lower().replace("’", "'").replace("‘", "'")

    def shown(self) -> str:
        """The error as a text for users: at most SHOWN characters of the server's messages, then an error code unless
        the text already contains it.
        """
        text = self.words[:SHOWN]
        named = sorted(code for code in self.codes if "_" in code and code not in _SAYS_NOTHING)
        if named and named[0] not in text.lower():
            text = f"{text} {named[0]}".strip()
        return text[: SHOWN + 80]


_LONG_CODE = 20
"""Digits of a code that is read as a number."""


def read_error_body(body: bytes) -> ErrorBody:
    """Messages, codes and other fields of an error body in any format."""
    error_body = ErrorBody()
    parts: list[str] = []
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        parts.append(_plain(body.decode("utf-8", "replace")))
    else:
        _read(data, error_body, parts, depth=0)
    kept = list(dict.fromkeys(" ".join(part.split()) for part in parts))
    # A wrapper repeats what it wraps: what stands in a longer part need not stand twice.
    kept = [part for part in kept if part and not any(part != other and part in other for other in kept)]
    error_body.words = " | ".join(kept)[:_MOST]
    for inside in _LOC.findall(error_body.words):
        error_body.params += [name for name in _QUOTED.findall(inside) if name not in ("body", "query")]
    error_body.params += _ARROW.findall(error_body.words)
    return error_body


def _plain(text: str) -> str:
    if "<" in text and re.search(r"<(?:!doctype|html|head|body|title)\b", text, re.I):
        text = _TAGS.sub(" ", text)
    return " ".join(text.split())[:_MOST]


def _read(data: Any, error_body: ErrorBody, parts: list[str], depth: int) -> None:
    if depth > _DEEPEST:
        return
    if isinstance(data, str):
        _read_text(data, error_body, parts, depth)
    elif isinstance(data, list):
        for item in data:
            _read(item, error_body, parts, depth + 1)
    elif isinstance(data, dict):
        for key, value in _in_order(data):
            _read_key(key, value, error_body, parts, depth)


def _in_order(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of an error body with the messages first, so that the text shown to users begins with
    them.
    """
    for name in (*_WORDS, *_WORDS_TOO):
        yield from ((key, value) for key, value in data.items() if key.lower() == name)
    yield from ((key, value) for key, value in data.items() if key.lower() not in (*_WORDS, *_WORDS_TOO))


def _read_key(key: str, value: Any, error_body: ErrorBody, parts: list[str], depth: int) -> None:
    low = key.lower()
    if low in _ECHOES or value is None:
        return
    if low == "flagged_input":
        # OpenRouter's mark of a request that its moderation stopped; the value is the user's text.
        error_body.codes.add("moderation")
        return
    if low in (*_DELAYS, *_DELAYS_TOO) and not isinstance(value, dict):
        error_body.delays.append((low, value[0] if isinstance(value, list) and value else value))
    elif low in _PARAMS:
        _read_param(value, error_body)
    elif low in (*_CODES, *_CODES_TOO):
        _read_code(low, value, error_body, parts, depth)
    elif isinstance(value, dict | list) or low in (*_WORDS, *_WORDS_TOO):
        _read(value, error_body, parts, depth + 1)


def _read_param(value: Any, error_body: ErrorBody) -> None:
    names = value if isinstance(value, list) else [value]
    named = [name for name in names if isinstance(name, str) and name not in ("body", "query")]
    if named:
        error_body.params.append(".".join(named))


def _read_code(key: str, value: Any, error_body: ErrorBody, parts: list[str], depth: int) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, int) or (isinstance(value, str) and value.isdecimal() and len(value) < _LONG_CODE):
        error_body.codes.add(str(value))
        if (
            error_body.status is None
            and key in ("code", "status", "status_code", "statuscode")
            and 400 <= int(value) < 600
        ):
            error_body.status = int(value)
    elif isinstance(value, str):
        error_body.codes.add(value.strip().lower())
        if " " in value.strip():
            # Gemini's compatible route has been seen with its sentence in `status`.
            parts.append(value)
    elif isinstance(value, dict | list):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                error_body.codes.add(item.lower())
            else:
                _read(item, error_body, parts, depth + 1)


def _read_text(text: str, error_body: ErrorBody, parts: list[str], depth: int) -> None:
    """Read the message `text` into `parts` (the texts found so far) and `error_body`. If it is JSON of another server,
    or ends in such JSON, this JSON is read too.
    """
    start = min((position for position in (text.find("{"), text.find("[{")) if position >= 0), default=-1)
    if start >= 0 and ('"' in text[start:]):
        try:
            inner = orjson.loads(text[start : max(text.rfind("}"), text.rfind("]")) + 1])
        except orjson.JSONDecodeError:
            inner = None
        if isinstance(inner, dict | list):
            if text[:start].strip():
                parts.append(_plain(text[:start]))
            _read(inner, error_body, parts, depth + 1)
            return
    parts.append(_plain(text))
