"""Reads a provider's rate limits from an answer's headers: what remains of each, and how fast it is restored.

Known are the names of OpenAI (also used by Azure, Groq, Together and most gateways) and of Anthropic. `reset` is the
time until a limit is full again, so that the amount used divided by it is the rate of restoring: "limit 5000, remaining
4999, reset 12ms" (https://community.openai.com/t/how-to-get-rate-limit-reset-time-for-response-api/1268905, read
2026-11-22) means 83 per second, or 5,000 per minute. Daily limits are read in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from judge.backends.server_refusals.body import moment, number

_FORMS = {
    "requests": ("x-ratelimit-{}-requests", "anthropic-ratelimit-requests-{}"),
    "tokens": ("x-ratelimit-{}-tokens", "anthropic-ratelimit-tokens-{}"),
}


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


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Rate limits reported with an answer, with the keys `requests`, `tokens`, or both."""

    limits: Mapping[str, Limit]


@runtime_checkable
class TellsLimits(Protocol):
    """A back-end that passes the rate limits in response headers to the callback `on_limits`."""

    on_limits: Callable[[RateLimits], None] | None


def rate_limits(headers: Mapping[str, str]) -> RateLimits | None:
    """The rate limits in an answer's headers, of which maximum, remaining amount and reset are all given; None
    without."""
    limits = {}
    for name, forms in _FORMS.items():
        for form in forms:
            if form.format("remaining") not in headers:
                continue
            most, remaining = number(headers.get(form.format("limit"))), number(headers.get(form.format("remaining")))
            reset = moment(headers.get(form.format("reset")))
            if most is not None and remaining is not None and reset is not None and most > 0:
                limits[name] = Limit(most, max(0.0, min(remaining, most)), max(0.0, reset))
    return RateLimits(limits) if limits else None
