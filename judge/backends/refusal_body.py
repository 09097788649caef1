"""What a server says of its limits and refusals: rate limits in headers, and messages, codes, parameters and delays in
an error's body of any format: objects, lists of objects, JSON inside a string, FastAPI's `detail`, plain text and whole
HTML pages."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

import orjson

from judge.base.late_pattern import late

# Characters of the server's words in a sentence for people.
SHOWN = 300

# Characters of the server's words that are kept to find its cause in.
_MOST = 4000

# Gateways wrap another server's JSON in their own a few levels deep; a hostile body could nest without end.
_DEEPEST = 8

_WORDS = ("message", "msg", "detail", "details", "error", "errors", "error_description", "description", "title")
_WORDS_TOO = ("raw", "status_msg", "base_resp")
_CODES = ("code", "type", "status", "reason", "reasons", "error_code", "errorcode", "error_type", "errortype")
_CODES_TOO = ("__type", "status_code", "statuscode", "quotaid", "quota_limit")
_PARAMS = ("param", "parameter", "field", "loc", "argument", "path")
_DELAYS = ("retrydelay", "retry_delay", "retry_after", "retryafter", "retry-after", "retry_after_seconds")
_DELAYS_TOO = ("retry_after_ms", "retry-after-ms", "estimated_time", "x-ratelimit-reset")
# Keys that hold what was sent: its words are the user's, and tell nothing.
_ECHOES = frozenset({"input", "ctx", "messages", "body", "request", "failed_generation", "prompt", "choices"})

# Codes that stand with every error.
_SAYS_NOTHING = frozenset({"invalid_request_error", "unknown_error", "api_error", "invalid_argument", "server_error"})

_LOC = late(r"""['"]loc['"]\s*:\s*[(\[]([^)\]]*)[)\]]""")
_ARROW = late(r"\bbody ?(?:->|→|\.) ?(\w+)")
_QUOTED = late(r"""['"]([A-Za-z_]\w*)['"]""")
_TAGS = late(r"<(?:script|style).*?</(?:script|style)>|<[^>]*>", re.S | re.I)


@dataclass(slots=True)
class ErrorBody:
    """Content of an HTTP error's body. `words` are all messages, the outermost first; `codes` are codes, types and
    reasons in lower case, numbers as text; `params` are those in a field of their own (`param`, FastAPI's `loc`);
    `delays` are fields on when to try again; `status` is the one inside."""

    words: str = ""
    codes: set[str] = field(default_factory=set)
    params: list[str] = field(default_factory=list)
    delays: list[tuple[str, Any]] = field(default_factory=list)
    status: int | None = None

    @property
    def low(self) -> str:
        """The server's messages in lower case, with straight apostrophes."""
        return self.words.lower().replace("’", "'").replace("‘", "'")

    def shown(self) -> str:
        """Text for users: at most SHOWN characters of messages, then a code that they do not contain."""
        text = self.words[:SHOWN]
        named = sorted(code for code in self.codes if "_" in code and code not in _SAYS_NOTHING)
        if named and named[0] not in text.lower():
            text = f"{text} {named[0]}".strip()
        return text[: SHOWN + 80]


# Digits of a code that is read as a number.
_LONG_CODE = 20


def read_error_body(body: bytes) -> ErrorBody:
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
    # The messages first, so that the text shown to users begins with them.
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
        names = value if isinstance(value, list) else [value]
        named = [name for name in names if isinstance(name, str) and name not in ("body", "query")]
        if named:
            error_body.params.append(".".join(named))
    elif low in (*_CODES, *_CODES_TOO):
        _read_code(low, value, error_body, parts, depth)
    elif isinstance(value, dict | list) or low in (*_WORDS, *_WORDS_TOO):
        _read(value, error_body, parts, depth + 1)


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
    # A message may be, or end in, the JSON of another server.
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


# Finds the delay that a server requests before the next attempt, in headers, in fields of the body, or in its
# messages.

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = late(
    r"(\d+(?:\.\d+)?)\s*(milliseconds?|millis|msecs?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d)"
    r"(?![a-z])"
)
_IN_WORDS = late(
    r"(?:try again|retry|retry your request|wait|come back|available|resets?|reset)\b[^.;:]{0,40}?"
    r"\b(?:in|after|for|within)\s+(?:about\s+|approximately\s+|at least\s+)?"
    r"((?:\d+(?:\.\d+)?\s*[a-z]+\s*(?:,|and)?\s*)+|\d+(?:\.\d+)?)"
)
_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


def retry_delay(headers: Mapping[str, str], error_body: ErrorBody) -> float | None:
    """Seconds that the server asks the client to wait, at least 0; None if it gives no delay."""
    lower_headers = {key.lower(): value for key, value in headers.items()}
    for delay in (_asked(lower_headers), _in_body(error_body), _in_words(error_body.low), _reset(lower_headers)):
        if delay is not None:
            return max(0.0, delay)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait according to the headers alone; None if they give no delay."""
    return retry_delay(headers, ErrorBody())


def _asked(headers: Mapping[str, str]) -> float | None:
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (milliseconds := number(headers.get(name))) is not None:
            return milliseconds / 1000
    return moment(headers.get("retry-after"))


def _reset(headers: Mapping[str, str]) -> float | None:
    # The longest time of the exhausted limits or, if none is exhausted, the shortest time of all limits.
    spent, named = [], []
    for limit in _LIMITS:
        for prefix in ("x-ratelimit-{}-" + limit, "anthropic-ratelimit-" + limit + "-{}"):
            delay = moment(headers.get(prefix.format("reset")))
            if delay is not None:
                named.append(delay)
                if number(headers.get(prefix.format("remaining"))) == 0:
                    spent.append(delay)
    for name in ("x-ratelimit-reset", "ratelimit-reset", "x-ratelimit-reset-after"):
        if (delay := moment(headers.get(name))) is not None:
            named.append(delay)
    if spent:
        return max(spent)
    return min(named, default=None)


def _in_body(error_body: ErrorBody) -> float | None:
    # Google's retryDelay, Hugging Face's estimated_time, or headers that OpenRouter puts into the body.
    for key, value in error_body.delays:
        delay = moment(value)
        if delay is not None:
            return delay / 1000 if key.endswith("ms") else delay
    return None


def _in_words(low: str) -> float | None:
    # Such as `try again in 1.2s`, `retry after 6 seconds` or `wait 2 minutes`
    match = _IN_WORDS.search(low)
    return None if match is None else duration(match.group(1))


def duration(text: str) -> float | None:
    """Seconds in `13s`, `1m2.5s`, `120ms`, `2 minutes and 3 seconds` or a bare number; None for other texts."""
    parts = _PART.findall(text.lower())
    if parts:
        return sum(float(number) * _unit(unit) for number, unit in parts)
    return number(text)


def _unit(word: str) -> float:
    if word.startswith(("ms", "mil")):
        return _UNITS["ms"]
    return _UNITS[word[0]]


def moment(value: Any) -> float | None:
    """Seconds from now until a moment given as seconds, a duration, a date, or a Unix time (s or ms); None if
    unreadable."""
    if value is None or isinstance(value, bool):
        return None
    seconds = number(value)
    if seconds is None and isinstance(value, str):
        return _date(value) if re.search(r"\d{4}-\d\d-\d\d|[A-Z][a-z]{2},? ", value) else duration(value)
    if seconds is not None and seconds > 1e12:
        return seconds / 1000 - time.time()
    if seconds is not None and seconds > 1e9:
        return seconds - time.time()
    return seconds


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.strip()).timestamp() - time.time()
    except ValueError:
        return None


def number(value: Any) -> float | None:
    """A finite number, given as a number or as text; None for anything else."""
    try:
        parsed = float(value)
    except (TypeError, ValueError):
        return None
    return parsed if parsed == parsed and abs(parsed) != float("inf") else None


# Reads a provider's rate limits from an answer's headers: what remains of each, and how fast it is restored.

# Of each: its limit, and the headers with what remains, the maximum and the reset.
_FORMS = tuple(
    (name, *(form.format(part) for part in ("remaining", "limit", "reset")))
    for name in ("requests", "tokens")
    for form in ("x-ratelimit-{}-" + name, "anthropic-ratelimit-" + name + "-{}")
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One rate limit: its maximum `most`, the remaining amount, and the seconds until it is full again."""

    most: float
    remaining: float
    reset: float

    @property
    def rate(self) -> float | None:
        """Amount restored per second; None if the limit is full, because the rate is then unknown."""
        lacking = self.most - self.remaining
        return lacking / self.reset if lacking > 0 and self.reset > 0 else None


# Rate limits reported with an answer, with the keys `requests`, `tokens`, or both.
RateLimits = Mapping[str, Limit]


@runtime_checkable
class TellsLimits(Protocol):
    """A back-end that passes the rate limits in response headers to the callback `on_limits`."""

    on_limits: Callable[[RateLimits], None] | None


def rate_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """The rate limits in an answer's headers, of which maximum, remaining amount and reset are all given; None
    without."""
    limits = {}
    for name, remaining_of, most_of, reset_of in _FORMS:
        if remaining_of not in headers:
            continue
        most, remaining = number(headers.get(most_of)), number(headers.get(remaining_of))
        reset = moment(headers.get(reset_of))
        if most is not None and remaining is not None and reset is not None and most > 0:
            limits[name] = Limit(most, max(0.0, min(remaining, most)), max(0.0, reset))
    return limits or None


def tell_limits(listener: Callable[[RateLimits], None] | None, headers: Mapping[str, str]) -> None:
    """Pass the rate limits in an answer's headers, if there are any, to a listener, if there is one."""
    if listener is not None and (limits := rate_limits(headers)) is not None:
        listener(limits)
