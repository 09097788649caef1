"""Circuit breaker: stops a run in which every request fails for the same reason."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from judge.base.errors import BackendError

# Decides whether and when to repeat a failed request, depending on the kind of error.

# Kinds of error that say: fewer requests at a time.
PRESSURE = frozenset({"rate", "overload", "timeout"})

# Kinds that would hit every query alike: the run stops, and no repeat counts as failed.
FATAL = frozenset({"auth", "model", "api", "capability", "address", "quota"})

_FIRST_DELAY = {"rate": 1.0, "overload": 1.0, "server": 0.5, "connection": 0.5, "timeout": 0.1, "garbage": 0.1}
# Seconds of a pause at most where the server names none: a server that is back must not stay idle for minutes.
_LONGEST = 30.0

# Seconds that a server may ask to be left alone; what it asks beyond is not kept.
LONGEST_WAIT = 600.0


@dataclass(frozen=True, slots=True)
class Decision:
    """A failed request is repeated after `delay` seconds, or given up where `delay` is None."""

    delay: float | None


def decide(error: BackendError, attempts: int, max_attempts: int, rng: random.Random) -> Decision:
    """Whether, and after which delay, to retry after the `attempts`-th failure of a repeat.

    There is no retry if it cannot help, or after `max_attempts` failures; a rate limit (429) has no such maximum. An
    error that would affect every query is retried after one second, and the breaker ends a run that gets only such
    errors. Otherwise the delay is what the server requested, at most 10 minutes. If it requested none, it is random
    between half and all of a maximum, which depends on the kind of error, doubles with each failure and is at most 30
    seconds, so that retries spread out."""
    if error.kind in FATAL:
        return Decision(1.0)
    if not error.retryable or (attempts >= max_attempts and error.kind != "rate"):
        return Decision(None)
    if error.retry_after is not None:
        return Decision(min(error.retry_after, LONGEST_WAIT) + rng.uniform(0, 0.1))
    longest = min(_LONGEST, _FIRST_DELAY.get(error.kind, 1.0) * 2 ** min(attempts - 1, 10))
    return Decision(rng.uniform(longest / 2, longest))


_FATAL_IN_A_ROW = 3
# Failures without an answer between them that end a run: three of a kind that no waiting mends (keys, accounts), else
# twenty, since single requests may be at fault.
_IN_A_ROW = 20

# Seconds without an answer before the same failure, over and over, ends the run: a restarted server comes back.
_PATIENCE = {"rate": 300.0, "overload": 60.0, "server": 30.0, "connection": 30.0, "timeout": 0.0, "garbage": 10.0}

# Failures in a row, without an answer between them.
_WORTH_SAYING = 3


class Breaker:
    """Counts answers and failures. `tripped` is the error because of which the run must stop."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.tripped: BackendError | None = None
        self._clock = clock
        self._kind: str | None = None
        self._in_a_row = 0
        self._since = clock()
        self._told_to_wait = 0.0
        self._answers = 0
        self._last = ""

    @property
    def trouble(self) -> str | None:
        """Message of the last error, if several requests failed in a row."""
        return self._last if self._in_a_row >= _WORTH_SAYING else None

    def answered(self) -> None:
        self._answers += 1
        self._kind = None
        self._in_a_row = 0

    def failed(self, error: BackendError) -> None:
        if error.kind != self._kind:
            self._kind = error.kind
            self._in_a_row = 0
            self._since = self._clock()
            self._told_to_wait = 0.0
        self._in_a_row += 1
        self._last = str(error)
        self._told_to_wait = max(self._told_to_wait, error.retry_after or 0.0)
        if self.tripped is None and self._must_stop(error):
            self.tripped = error

    def _must_stop(self, error: BackendError) -> bool:
        if error.kind in FATAL:
            return self._in_a_row >= _FATAL_IN_A_ROW
        if self._in_a_row < _IN_A_ROW:
            return False
        if error.kind in _PATIENCE:
            # A server that said when to come back is given that long, and then its usual time.
            return self._clock() - self._since >= _PATIENCE[error.kind] + min(self._told_to_wait, LONGEST_WAIT)
        # Refused requests (400, too long, filtered) say nothing about others once some were answered.
        return self._answers == 0
