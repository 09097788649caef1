"""Interfaces of back-ends: `Backend` answers queries, `Scorer` computes log-probabilities of given texts.

A back-end does not repeat failed calls; its caller does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from judge.base.errors import BackendError
from judge.base.records import Request, Response


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a back-end supports.

    `repeats_per_call` is the largest number of repeats in one call, and `max_concurrency` the largest number of calls
    at the same time (None: no limit by the back-end). `logprobs` says whether answers can have log-probabilities.
    `structured` holds the structured answer formats that can be requested.

    `cache_points` is the largest number of positions in a prompt up to which the provider can be told to cache it. If
    it is not 0, queries carry these positions (`Request.shared`). The provider fills its cache only when it answers;
    therefore, of the queries that share a position, the first is answered before the others are sent. 0 means that
    servers detect shared prefixes themselves or have no cache.
    """

    repeats_per_call: int | None = None
    logprobs: bool = False
    structured: frozenset[str] = frozenset()
    max_concurrency: int | None = None
    cache_points: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings with which a run opens its back-end. None or empty means not set.

    `terms_file` stores what the back-end learnt from servers' refusals, for the next run. `headers` may refer to
    environment variables as `${NAME}`. `api_key_env` is the variable that holds the key. `trusted` are hosts that may
    be sent keys, beside those that the configuration of the machine trusts: servers of this machine that a definition
    in a trusted folder names and, for a back-end that runs elsewhere, those that the user's own machine trusts.
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
    """How long the first query of a plan runs alone, before the other queries are sent.

    After `seconds` the other queries are sent even if the first has no answer yet. But if `silence` is set, this error
    is raised instead.
    """

    seconds: float
    silence: BackendError | None = None


class Backend(Protocol):
    """Connection through which queries are sent to a judge.

    `complete` returns one response for each given repeat index, in order, or fewer if the server gave fewer. If the
    call failed, it raises `BackendError`, which holds the kind of error and whether the call may be repeated.
    `complete` takes indices instead of a count because the seed of a repeat is the run's seed plus its index.
    """

    capabilities: Capabilities

    async def probe(self) -> Mapping[str, Any]:
        """Check address, key and model before the first query. Returns facts about the server, for the manifest."""
        ...

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """The answers to the given repeats of a query, requested in one call. There may be fewer answers than repeats.
        Raises `BackendError` if the call fails.
        """
        ...

    async def close(self) -> None:
        """Close the back-end's connections. Safe to call twice."""
        ...


@runtime_checkable
class Queueing(Protocol):
    """A back-end with a queue of its own, such as one that runs a model in this process, a batch at a time."""

    def leave_waiting(self) -> None:
        """Cancel the calls of `complete` that still wait in the queue: they raise `asyncio.CancelledError`. Calls that
        are being answered are completed.
        """
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """A back-end that sends the first query of a plan before the others, to learn which settings the server refuses."""

    def patience(self, query: Request) -> Patience:
        """How long the first query of a plan runs alone, before the other queries are sent."""
        ...

    @property
    def settling(self) -> bool:
        """Whether the server has refused at least one request. The other queries then wait until the first has an
        answer or an error.
        """
        ...

    async def facts(self) -> Mapping[str, Any]:
        """Facts about the server after the first query, for the manifest."""
        ...


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """Log-probabilities of one text under a model, token by token.

    Attributes
    ----------
    ids : tuple of int
        Ids of the text's tokens, including special tokens that the tokenizer adds; -1 if the server does not
        report them.
    tokens : tuple of str
        The same tokens as strings.
    logprobs : tuple of float
        Natural log-probability of each token given all tokens before it. NaN for the first token of a text without
        a prefix.
    mean, variance : tuple of float, or None
        Mean and variance of log p under the model's own distribution at each position, over the whole vocabulary:
        sum p log p, and sum p (log p)^2 - mean^2. None if the full distribution was not requested; NaN where the
        log-probability is NaN.
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
    """Facts that identify a scoring model. If all facts of two models are known and equal, their log-probabilities are
    equal up to rounding.

    `tokenizer` and `weights` are hashes (None if a server does not report them). `vocabulary` is the number of tokens
    in the distribution, and `context` the maximum length of a text in tokens. `version` is the version of the package
    or server that computes the log-probabilities.
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
        """Check the address or load the weights, and return facts that identify the model. Raises `BackendError`."""
        ...

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of the tokens of each text, in the order of `texts`.

        `prefix` is one prefix for all texts or a list with one for each. Prefix and text are tokenized separately and
        joined. Only the text's tokens are returned, and with a prefix all of them have a log-probability.

        Raises `BackendError` of kind `capability` if the scorer does not support the full distribution or a prefix, and
        of kind `context` if a prefix leaves no room for its text. Raises ValueError if the numbers of prefixes and
        texts differ.
        """
        ...

    async def close(self) -> None:
        """Free the scorer's memory or close its connections. Safe to call twice."""
        ...
