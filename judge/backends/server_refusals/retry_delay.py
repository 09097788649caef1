"""Finds the delay that a server requests before the next attempt, in headers, in fields of the body, or in its
messages.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from judge.backends.server_refusals.body import ErrorBody

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s*(milliseconds?|millis|msecs?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d)"
    r"(?![a-z])"
)
_IN_WORDS = re.compile(
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
    """Seconds to wait according to a `retry-after` header; None without one."""
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (milliseconds := number(headers.get(name))) is not None:
            return milliseconds / 1000
    return moment(headers.get("retry-after"))


def _reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until rate limits are full again, from their headers. It is the longest time of the exhausted limits or,
    if none is exhausted, the shortest time of all limits. None without such headers.
    """
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
    """Seconds to wait according to a field of the body: Google's retryDelay, Hugging Face's estimated_time, or headers
    that OpenRouter puts into the body. None without one.
    """
    for key, value in error_body.delays:
        delay = moment(value)
        if delay is not None:
            return delay / 1000 if key.endswith("ms") else delay
    return None


def _in_words(low: str) -> float | None:
    """Seconds to wait according to a message such as `try again in 1.2s`, `retry after 6 seconds` or `wait 2 minutes`;
    None without one.
    """
    match = _IN_WORDS.search(low)
    return None if match is None else duration(match.group(1))


def duration(text: str) -> float | None:
    """Number of seconds in `13s`, `1m2.5s`, `120ms` or `2 minutes and 3 seconds`. A bare number is seconds; None for
    other texts.
    """
    parts = _PART.findall(text.lower())
    if parts:
        return sum(float(number) * _unit(unit) for number, unit in parts)
    return number(text)


def _unit(word: str) -> float:
    if word.startswith(("ms", "mil")):
        return _UNITS["ms"]
    return _UNITS[word[0]]


def moment(value: Any) -> float | None:
    """Seconds from now until a moment given as a number of seconds, a duration, a date, or a Unix time (s or ms); None
    if unreadable.
    """
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
