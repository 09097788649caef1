"""What every back-end is: something that answers queries. Never retries; whoever calls it decides that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from judge.records import Query, Response


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a back-end can do. None = any number of repeats in one call; no limit of its own to concurrency."""

    repeats_per_call: int | None = None
    logprobs: bool = False
    structured: frozenset[str] = frozenset()
    max_concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run wants its back-end opened. None and empty = not said."""

    base_url: tuple[str, ...] = ()
    revision: str | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)
    attempt_timeout: float = 120.0
    concurrency: int = 64
    seed: int | None = None
    api: str = "chat"


class Backend(Protocol):
    """Asks a judge.

    `complete` returns one response for each repeat index it was given, in order, or fewer where the server gave fewer;
    it raises `BackendError` (with kind and retryable) when the call failed. Indices are given, not a count, because the
    seed of a repeat is the run's seed plus its index.
    """

    capabilities: Capabilities

    async def probe(self) -> Mapping[str, Any]:
        """Check address, key and model before the first query; return what is known of the server, for the manifest."""
        ...

    async def complete(self, query: Query, repeats: Sequence[int]) -> list[Response]:
        """Ask for the given repeats of a query in one call."""
        ...

    async def close(self) -> None:
        """Give back connections. Safe to call twice."""
        ...
