"""Interfaces of back-ends: `Backend` answers queries, `Scorer` computes log-probabilities of given texts.

A back-end does not retry: its caller decides that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from judge.errors import BackendError
from judge.records import Request, Response


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of a back-end. None = any number of repeats in one call; no limit of its own to concurrency.

    `cache_points` is how many places of a prompt may be named up to which the provider's cache shall keep it. Where it
    is not 0, queries come with such places (`Request.shared`), and of those that share one the first is answered before
    the others are sent: only then does the cache hold it. 0 = servers find shared prefixes themselves, or have none.
    """

    repeats_per_call: int | None = None
    logprobs: bool = False
    structured: frozenset[str] = frozenset()
    max_concurrency: int | None = None
    cache_points: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings with which a run opens its back-end. None and empty = not given.

    `terms_file` is where a back-end keeps what servers' refusals taught it, for the next sitting.
    `headers` may name environment variables as `${NAME}`; `api_key_env` is the variable that holds the key. `trusted`
    are hosts that the user's configuration trusts, where a back-end is opened on another machine than the user's.
    """

    base_url: tuple[str, ...] = ()
    revision: str | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)
    attempt_timeout: float = 120.0
    concurrency: int = 64
    seed: int | None = None
    api: str = "chat"
    probe_timeout: float = 3.0
    terms_file: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    api_key_env: str | None = None
    trusted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """Time for which the first query of a plan runs alone.

    After `seconds` the others follow although it is not answered yet; where `silence` is given, it is raised instead.
    """

    seconds: float
    silence: BackendError | None = None


class Backend(Protocol):
    """Connection through which queries are sent to a judge.

    `complete` returns one response for each repeat index it was given, in order, or fewer where the server gave fewer;
    it raises `BackendError` (with kind and retryable) when the call failed. Indices are given, not a count, because the
    seed of a repeat is the run's seed plus its index.
    """

    capabilities: Capabilities

    async def probe(self) -> Mapping[str, Any]:
        """Check address, key and model before the first query; return what is known of the server, for the manifest."""
        ...

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """Ask for the given repeats of a query in one call."""
        ...

    async def close(self) -> None:
        """Give back connections. Safe to call twice."""
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """A back-end that sends a plan's first query before the others, to learn what the server refuses."""

    def patience(self, query: Request) -> Patience:
        """Time for which this first query runs alone."""
        ...

    @property
    def settling(self) -> bool:
        """Whether the server has refused part of the first query."""
        ...

    async def facts(self) -> Mapping[str, Any]:
        """Facts of the server after the first query, for the manifest."""
        ...


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """Log-probabilities that a model gives one text, token by token.

    Attributes
    ----------
    ids : tuple of int
        The text's tokens as the model reads them, with the special tokens its tokenizer adds. -1 where not told.
    tokens : tuple of str
        The same as strings.
    logprobs : tuple of float
        Natural log-probability of each token given all before it. The first token of a text without a prefix has
        none: NaN.
    mean, variance : tuple of float, or None
        Of log p under the model's own distribution at each position, over the whole vocabulary: sum p log p, and
        sum p (log p)^2 - mean^2. None where the full distribution was not asked for; NaN where the log-probability is.
    truncated : bool
        Whether the text was longer than the context and only its first tokens were scored.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    mean: tuple[float, ...] | None = None
    variance: tuple[float, ...] | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ScorerFacts:
    """Identity of a scoring model; equal facts mean equal log-probabilities, up to rounding.

    `tokenizer` and `weights` are hashes (None: not told by a server), `vocabulary` counts the distribution's tokens,
    `context` is the longest text in tokens, `version` that of the package or the server that computes.
    """

    model: str
    revision: str | None = None
    tokenizer: str | None = None
    weights: str | None = None
    vocabulary: int | None = None
    context: int | None = None
    dtype: str | None = None
    version: str | None = None


class Scorer(Protocol):
    """Computes log-probabilities of given texts (contamination, perplexity), without generation."""

    async def facts(self) -> ScorerFacts:
        """Check address or weights, and say which model this is; raises `BackendError`."""
        ...

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """One result for each text, in order.

        With a `prefix`, one for all texts or a list of one for each, the tokens of prefix and text are made apart and
        joined; only the text's are returned, and all of them have a log-probability. Raises `BackendError` of kind
        `capability` where the full distribution or a prefix is not to be had, of kind `context` where a prefix leaves
        no room for its text, and ValueError where there are not as many prefixes as texts.
        """
        ...

    async def close(self) -> None:
        """Give back memory or connections. Safe to call twice."""
        ...
