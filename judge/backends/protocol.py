"""Interfaces of back-ends: `Backend` answers queries, `Scorer` gives log-probabilities. Failed calls are repeated by
the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from judge.base.errors import BackendError
from judge.base.records import Request, Response
from judge.base.wording import Advice

# Prefixes of the texts that a scorer reads: none, one for all, or one for each.


def one_each(prefix: str | Sequence[str] | None, texts: int) -> list[str | None]:
    """Each of `texts` texts' prefix. Raises ValueError for a list of another length."""
    if prefix is None or isinstance(prefix, str):
        return [prefix] * texts
    if len(prefix) != texts:
        raise ValueError(f"{len(prefix)} prefixes for {texts} texts: give one for all, or one for each")
    return list(prefix)


def no_room(scorer: str, tokens: int, context: int) -> BackendError:
    """Error for a prefix that fills the whole context."""
    return BackendError(
        f"{scorer}: the prefix of {tokens} tokens leaves no room in a context of {context}",
        kind="context",
        retryable=False,
        hint=Advice("give fewer or shorter texts with {nonmembers}, or lower {shots}"),
    )


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a back-end supports: answer formats, and the most repeats in a call and calls at a time (None: no limit).

    `cache_points` is the most positions in a prompt up to which the provider can be told to cache it. Queries then
    carry them (`Request.shared`), and the first of those that share one is answered before the others are sent, because
    the provider fills its cache only when it answers. 0: servers detect shared prefixes themselves or have no cache."""

    repeats_per_call: int | None = None
    logprobs: bool = False
    structured: frozenset[str] = frozenset()
    max_concurrency: int | None = None
    cache_points: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that open a back-end; None or empty means not set.

    `terms_file` keeps what refusals taught, for the next run. `headers` may name environment variables as `${NAME}`;
    `api_key_env` holds the key. `trusted` hosts may be sent keys beside those of the machine's configuration: this
    machine's servers in a trusted folder's definition and, for a back-end that runs elsewhere, what the user's own
    machine trusts."""

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
    """How long the first query runs alone: after `seconds` the others are sent or, if set, `silence` is raised."""

    seconds: float
    silence: BackendError | None = None


class Backend(Protocol):
    """Connection to a judge. `complete` gets indices, not a count, because a repeat's seed is the run's plus its
    index."""

    capabilities: Capabilities

    async def probe(self) -> Mapping[str, Any]:
        """Check address, key and model before the first query; facts about the server for the manifest."""
        ...

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """A call's answers, in the order of `repeats`, or fewer. Raises `BackendError` with its kind and whether to
        repeat."""
        ...

    async def close(self) -> None:
        """Close the back-end's connections. Safe to call twice."""
        ...


@runtime_checkable
class Queueing(Protocol):
    """A back-end with a queue of its own, such as one that runs a model in this process, a batch at a time."""

    def leave_waiting(self) -> None:
        """Cancel calls that wait in the queue (`asyncio.CancelledError`); those being answered are completed."""
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """A back-end that sends a plan's first query before the others, to learn which settings the server refuses."""

    def patience(self, query: Request) -> Patience:
        """How long the first query of a plan runs alone, before the other queries are sent."""
        ...

    @property
    def settling(self) -> bool:
        """Whether the server has refused a request. The other queries then wait for the first's answer or error."""
        ...

    async def facts(self) -> Mapping[str, Any]:
        """Facts about the server after the first query, for the manifest."""
        ...


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """Log-probabilities of one text under a model, token by token.

    `ids` include special tokens that the tokenizer adds; -1 if the server does not report them. `logprobs` are natural,
    given all tokens before; NaN for the first token of a text without a prefix. `mean` and `variance` are of log p
    under the model's own distribution at each position, over the whole vocabulary: sum p log p, and sum p (log p)^2 -
    mean^2; None if not requested, NaN where the log-probability is NaN. `truncated`: the text was longer than the
    context, and only its first tokens were scored."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    mean: tuple[float, ...] | None = None
    variance: tuple[float, ...] | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ScorerFacts:
    """What identifies a scoring model: if known and equal, log-probabilities are equal up to rounding. `tokenizer` and
    `weights` are hashes (None if not reported), `vocabulary` is the tokens in the distribution, `context` the most
    tokens of a text, and `version` that of the package or server."""

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
        """Facts that identify the model, after a check of the address or loading the weights. Raises `BackendError`."""
        ...

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of each text's tokens, in the order of `texts`. `prefix` is one for all, or a list.

        Prefix and text are tokenized separately and joined. Only the text's tokens are returned; with a prefix all of
        them have a log-probability. Raises `BackendError` of kind `capability` for an unsupported full distribution or
        prefix, and of kind `context` if a prefix leaves no room for its text; ValueError for another number of prefixes
        than texts."""
        ...

    async def close(self) -> None:
        """Free the scorer's memory or close its connections. Safe to call twice."""
        ...
