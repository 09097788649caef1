"""Decides whether and when to repeat a failed request, depending on the kind of error."""

from __future__ import annotations

import random
from dataclasses import dataclass

from judge.base.errors import BackendError

PRESSURE = frozenset({"rate", "overload", "timeout"})
"""Kinds of error that say: fewer requests at a time."""

FATAL = frozenset({"auth", "model", "api", "capability", "address", "quota"})
"""Kinds that would hit every query alike: the run stops, and no repeat counts as failed."""

_FIRST_DELAY = {"rate": 1.0, "overload": 1.0, "server": 0.5, "connection": 0.5, "timeout": 0.1, "garbage": 0.1}
_LONGEST = 30.0
"""Seconds of a pause at most where the server names none: a server that is back must not stay idle for minutes."""

LONGEST_WAIT = 600.0
"""Seconds that a server may ask to be left alone; what it asks beyond is not kept."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision on a failed request: it is repeated after `delay` seconds, or given up where `delay` is None."""

    delay: float | None


def decide(error: BackendError, attempts: int, max_attempts: int, rng: random.Random) -> Decision:
    """Whether, and after which delay, to retry after the `attempts`-th failure of a repeat.

    There is no retry if the error is of a kind that a retry cannot remove, or after `max_attempts` failures; for a
    rate-limit error (429), the number of failures is not limited. An error that would affect every query is always
    retried, after one second. The circuit breaker ends a run that gets only such errors.

    Otherwise the delay is the one that the server requested, but at most 10 minutes. If the server requested none, a
    maximum delay is computed, which depends on the kind of error, doubles with each failure and is at most 30 seconds.
    The delay is drawn at random between half of this maximum and all of it, so that retries spread out.
    """
    if error.kind in FATAL:
        return Decision(1.0)
    if not error.retryable or (attempts >= max_attempts and error.kind != "rate"):
        return Decision(None)
    if error.retry_after is not None:
        return Decision(min(error.retry_after, LONGEST_WAIT) + rng.uniform(0, 0.1))
    longest = min(_LONGEST, _FIRST_DELAY.get(error.kind, 1.0) * 2 ** min(attempts - 1, 10))
    return Decision(rng.uniform(longest / 2, longest))
