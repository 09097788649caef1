"""Scorer `openai/<model>`: log-probabilities of given texts from a server's completions route.

There are two routes. They are tried in this order, and the first that works is used:

- vLLM: `/tokenize` returns tokens (so that a text can be cut to the context and a prefix put before it), and
  `/v1/completions` returns `prompt_logprobs`. If the server was started with `--max_logprobs -1`, this includes the
  whole distribution.
- `echo` with `logprobs`, from the old completions protocol. It supports no prefix and no distribution, and the
  server refuses a text that is longer than its context.

Chat services give no log-probabilities of the texts they are sent; the scorer then raises an error that says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import aiohttp
import orjson

from judge.backends.openai.answers import Asker
from judge.backends.openai.credentials import Credentials, beside, connect, endpoint, without_slash
from judge.backends.openai.errors import connection_error, read_body, status_error, timed_out
from judge.backends.openai.negotiation import ask_plainly, probe_server, with_model_names
from judge.backends.protocol import ScorerFacts, Settings, TokenLogprobs, no_room, one_each
from judge.base.credentials.providers import addresses_of
from judge.base.errors import BackendError
from judge.base.wording import Advice

Answer = TypeVar("Answer")

_ATTEMPTS = 4
# Seconds before the second try; each later pause is twice the one before, where the server names none.
_PAUSE = 1.0


def open_scorer(model: str, settings: Settings) -> OpenAIScorer:
    """The scorer, after a check that the key may be sent to the server. No connection is made yet."""
    scorer = OpenAIScorer(model, settings)
    scorer.check()
    return scorer


class OpenAIScorer:
    """Log-probabilities of texts under a server's model, with at most `settings.concurrency` requests at once."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.model = model
        self.url = without_slash(addresses_of(settings.base_url)[0])
        self._settings = settings
        self._credentials = Credentials((self.url,), settings)
        self._session: aiohttp.ClientSession | None = None
        self._facts: ScorerFacts | None = None
        self._tokenizes: bool | None = None
        self._context: int | None = None

    def check(self) -> None:
        """Raise SpecError if the key may not be sent to the scorer's server."""
        self._credentials.check()

    async def facts(self) -> ScorerFacts:
        """Facts that the server gives about its model. They do not identify weights and tokenizer."""
        if self._facts is None:
            reported = await self._probed()
            await self._find_route()
            context = self._context or reported.get("max_model_len")
            version = f"vLLM {reported['version']}" if "version" in reported else reported.get("server")
            self._facts = ScorerFacts(self.model, self._settings.revision, context=context, version=version)
        return self._facts

    async def token_logprobs(
        self, texts: Sequence[str], *, full_distribution: bool = False, prefix: str | Sequence[str] | None = None
    ) -> list[TokenLogprobs]:
        """Log-probabilities of each text's tokens, by a request each. `full_distribution` adds mean and variance of log
        p over the vocabulary. Raises BackendError for that or a prefix (one for all, or a list) without a route
        `/tokenize`."""
        await self.facts()
        if not self._tokenizes and (full_distribution or prefix is not None):
            figures = "the full distribution" if full_distribution else "a text after a prefix"
            raise self._cannot(f"it gives no log-probabilities of {figures} (it has no /tokenize route, as vLLM has)")
        prefixes = one_each(prefix, len(texts))
        slots = asyncio.Semaphore(self._settings.concurrency)

        async def start_of(each: str) -> list[int]:
            async with slots:
                return await self._tokens(each, special=True)

        async def logprobs_of(text: str, after: str | None) -> TokenLogprobs:
            async with slots:
                if not self._tokenizes:
                    return await self._echoed(text)
                return await self._scored(text, None if after is None else before[after], full_distribution)

        distinct = list(dict.fromkeys(each for each in prefixes if each is not None))
        before = dict(zip(distinct, await _gather(map(start_of, distinct)), strict=True))
        return await _gather(map(logprobs_of, texts, prefixes))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _probed(self) -> dict[str, Any]:
        asker = Asker(self._client, self.url, self.model)
        probed = await probe_server(asker, self._settings.probe_timeout)
        if not probed.listed:
            with contextlib.suppress(TimeoutError, aiohttp.ClientError):
                error = await ask_plainly(asker)
                if error is not None and error.kind in ("auth", "quota", "model"):
                    raise with_model_names(error, asker, probed.names)
        return probed.facts

    async def _find_route(self) -> None:
        try:
            await self._tokens("a", special=True)
            self._tokenizes = True
        except BackendError as error:
            if error.kind in ("auth", "connection", "timeout", "model"):
                raise
            self._tokenizes = False

    async def _tokens(self, text: str, *, special: bool) -> list[int]:
        body = {"model": self.model, "prompt": text, "add_special_tokens": special}
        reported = await self._post(beside(self.url, "/tokenize"), body)
        try:
            self._context = reported.get("max_model_len") or self._context
            return [int(token) for token in reported["tokens"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._garbage("/tokenize") from error

    async def _scored(self, text: str, prefix: list[int] | None, full: bool) -> TokenLogprobs:
        ids, before = await self._tokens(text, special=prefix is None), prefix or []
        # One token is left for the answer, which the protocol cannot do without.
        room = (self._context or 1 << 60) - 1 - len(before)
        if room < 1:
            raise no_room(self.url, len(before), self._context or 0)
        kept = ids[:room]
        if not kept:
            return TokenLogprobs((), (), ())
        body = {
            "model": self.model,
            "prompt": [*before, *kept],
            "max_tokens": 1,
            "temperature": 0,
            "prompt_logprobs": -1 if full else 0,
        }
        try:
            answer = await self._post(endpoint(self.url, "/completions"), body)
        except BackendError as error:
            if full and error.kind in ("request", "capability") and "logprobs" in str(error):
                raise self._cannot(
                    "it does not give the full distribution; start vLLM with --max-logprobs -1"
                ) from error
            raise
        try:
            entries = answer["choices"][0]["prompt_logprobs"]
            if not entries:
                raise self._cannot("it ignores prompt_logprobs")
            rows = entries[len(before) :]
            return from_entries(kept, rows, full, truncated=len(ids) > room)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
            raise self._garbage("/completions") from error

    async def _echoed(self, text: str) -> TokenLogprobs:
        body = {"model": self.model, "prompt": text, "max_tokens": 0, "echo": True, "logprobs": 0, "temperature": 0}
        try:
            answer = await self._post(endpoint(self.url, "/completions"), body)
        except BackendError as error:
            if error.kind in ("request", "address", "api", "capability"):
                raise self._cannot(f"it says: {error}") from error
            raise
        try:
            answer = answer["choices"][0].get("logprobs")
            if not answer or not answer.get("token_logprobs"):
                raise self._cannot("it ignores echo with logprobs")
            values = [math.nan if value is None else float(value) for value in answer["token_logprobs"]]
            tokens = tuple(str(token) for token in answer["tokens"])
            if len(tokens) != len(values) or "".join(tokens)[:1] != text[:1]:
                raise self._cannot("what it scored is not the text it was sent")
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
            raise self._garbage("/completions") from error
        return TokenLogprobs((-1,) * len(tokens), tokens, tuple(values))

    async def _post(self, url: str, body: dict[str, Any]) -> Any:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._send(url, body)
            except BackendError as error:
                if not error.retryable or attempt == _ATTEMPTS:
                    raise
                await asyncio.sleep(error.retry_after or _PAUSE * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    async def _send(self, url: str, body: dict[str, Any]) -> Any:
        try:
            async with self._client().post(url, data=orjson.dumps(body)) as reply:
                content = await read_body(reply)
                if reply.status != 200:
                    raise status_error(reply.status, reply.headers, content, url)
                return orjson.loads(self._credentials.clean(content))
        except orjson.JSONDecodeError as error:
            raise self._garbage(url) from error
        except TimeoutError:
            raise timed_out(url, self._settings.attempt_timeout) from None
        except aiohttp.ClientError as error:
            raise connection_error(error, url) from error

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = connect(self.url, self._credentials, self._settings.attempt_timeout)
        return self._session

    def _cannot(self, why: str) -> BackendError:
        return BackendError(
            f"{self.url}: the server gives no log-probabilities of the texts it is sent: {why}",
            kind="capability",
            retryable=False,
            hint=Advice("serve the weights with vLLM, or score them here: {model}", model="hf/MODEL"),
        )

    def _garbage(self, where: str) -> BackendError:
        return BackendError(
            f"{self.url}: the answer of {where} is not what vLLM answers", kind="garbage", retryable=False
        )


async def _gather(asked: Iterable[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    # The first error cancels the others.
    tasks = [asyncio.create_task(answer) for answer in asked]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def from_entries(ids: Sequence[int], entries: Sequence[Any], full: bool, *, truncated: bool) -> TokenLogprobs:
    """Log-probabilities from vLLM's `prompt_logprobs`, per token {token id: {logprob, decoded_token}}, or None (then
    NaN) for the first. `full` adds mean and variance of log p over a token's entries; `truncated`: the text was cut to
    the context."""
    logprobs, tokens, mean, variance = [], [], [], []
    for token, entry in zip(ids, entries, strict=True):
        fields = entry[str(token)] if entry else {}
        logprobs.append(float(fields["logprob"]) if entry else math.nan)
        tokens.append(str(fields.get("decoded_token") or ""))
        mu, var = (
            _moments([float(alternative["logprob"]) for alternative in entry.values()])
            if full and entry
            else (math.nan, math.nan)
        )
        mean.append(mu)
        variance.append(var)
    scored = TokenLogprobs(tuple(ids), tuple(tokens), tuple(logprobs), truncated=truncated)
    return replace(scored, mean=tuple(mean), variance=tuple(variance)) if full else scored


def _moments(logs: Sequence[float]) -> tuple[float, float]:
    # Under p, given a whole distribution.
    pairs = [(math.exp(log), log) for log in logs if log > -1e30]
    mean = math.fsum(p * log for p, log in pairs)
    return mean, math.fsum(p * (log - mean) ** 2 for p, log in pairs)
