"""What the loopback server has seen and sent: counters, prompts, arrivals. Never decides what is sent."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass, field
from typing import Any

from tests.server.settings import FAULTS

COUNTERS = (
    "requests",
    "body_bytes",
    "answered",
    "choices",
    "repeats_after_answer",
    "refused",
    "disconnects",
    "connections",
    "max_in_flight",
    "other",
)


def _cpu_seconds() -> float:
    """Processor time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass(slots=True)
class Arrival:
    """One completion request: its label, when it came, when it was answered properly (monotonic seconds)."""

    label: str | None
    arrived: float
    answered: float | None = None


@dataclass(slots=True)
class Ledger:
    """Counters of one stretch of work, from start or reset on.

    `prompts` maps a prompt's digest to its attempts so far; `given` maps (digest, seed, model) to the choices answered
    so far. `connections` are those that carried a completion request. `refused` counts errors that the settings asked
    for (key, model, context, quota, limit), `faults` those that were drawn.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    faults: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FAULTS.values(), 0))
    prompts: dict[bytes, int] = field(default_factory=dict)
    given: dict[tuple[bytes, int | None, str], int] = field(default_factory=dict)
    answered_prompts: set[bytes] = field(default_factory=set)
    prefixes: set[int] = field(default_factory=set)
    bodies: list[bytes] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    first_request: float | None = None
    last_request: float | None = None
    last_answer: float | None = None
    cpu_at_start: float = field(default_factory=_cpu_seconds)

    def stats(self, in_flight: int) -> dict[str, Any]:
        """Everything countable as plain data. Times are monotonic seconds, those named `_unix` seconds since 1970."""
        to_unix = time.time() - time.monotonic()
        span = self.last_answer - self.first_request if self.last_answer and self.first_request else 0.0
        return {
            **self.counts,
            "faults": dict(self.faults),
            "unique": len(self.prompts),
            "unique_answered": len(self.answered_prompts),
            "in_flight": in_flight,
            "first_request": self.first_request,
            "last_request": self.last_request,
            "last_answer": self.last_answer,
            "first_request_unix": self.first_request + to_unix if self.first_request else None,
            "last_answer_unix": self.last_answer + to_unix if self.last_answer else None,
            "span_s": round(span, 4),
            "server_cpu_s": round(_cpu_seconds() - self.cpu_at_start, 4),
            "pid": os.getpid(),
        }

    def arrival_list(self) -> list[list[Any]]:
        """Arrivals as [label, arrived, answered or None], in order."""
        return [[each.label, each.arrived, each.answered] for each in self.arrivals]
