"""Rate limits: decides when the next request may be sent, given limits on requests and tokens per minute.

Each limit is a token bucket. A limit from the run definition is kept in every minute, including the first. Limits
reported by the server are adopted: `retry-after` delays all requests, and headers on the remaining amount set the level
and rate of a bucket.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from judge.asking.execution.sending.retry import LONGEST_WAIT
from judge.asking.execution.sending.schedule import Work
from judge.backends.rate_limits import RateLimits
from judge.base.records import Request, Response

MINUTE = 60.0
_BURST = 120.0
"""A declared limit gives out this part of a minute's share at once, so that a busy event loop can catch up."""

_CHARACTERS = 4.0
"""Characters of a token, and below it tokens of an answer, until answers tell."""

_ANSWER = 150
"""Tokens of an answer with a short explanation, until answers tell and where no `max_tokens` is given."""

_OFTEN = 60.0
"""Seconds after which a limit that was learnt, and not declared, is tried again."""


class Bucket:
    """Token bucket for a rate limit. It fills at `rate` per second up to `size`, and each request takes an amount from
    it.

    An amount larger than the size waits until the bucket is full, and makes its level negative.
    """

    def __init__(self, size: float, rate: float, clock: Callable[[], float]) -> None:
        self.size = size
        self.rate = rate
        self.level = size
        self._clock = clock
        self._at = clock()

    @classmethod
    def of_requests(cls, per_minute: float, clock: Callable[[], float]) -> Bucket:
        """Bucket that lets at most `per_minute` requests through in any minute, counting its initial content and its
        refill.
        """
        size = max(per_minute / _BURST, 1.0)
        return cls(size, (per_minute - size + 1) / MINUTE, clock)

    @classmethod
    def of_tokens(cls, per_minute: float, largest: float, clock: Callable[[], float]) -> Bucket:
        """Bucket for requests of at most `largest` tokens, limited to `per_minute` tokens per minute. A request larger
        than the whole limit is still sent.
        """
        size = min(max(per_minute / _BURST, largest), per_minute)
        return cls(size, max(per_minute - size, per_minute / 2) / MINUTE, clock)

    def delay(self, amount: float) -> float:
        """Seconds until the amount may be taken from the bucket."""
        self._fill()
        lacking = min(amount, self.size) - self.level
        # Less than a millionth is a matter of rounding, and waiting for it would not move the clock.
        return lacking / self.rate if lacking > 1e-6 * max(self.size, 1.0) else 0.0

    def take(self, amount: float) -> None:
        """Take the amount from the bucket (a negative amount gives it back)."""
        self._fill()
        self.level = min(self.level - amount, self.size)

    def adopt(self, size: float, rate: float, level: float) -> None:
        """Set the bucket to the size, rate and level that the server reported."""
        self._fill()
        self.size, self.rate, self.level = size, rate, min(level, size)

    def _fill(self) -> None:
        now = self._clock()
        self.level = min(self.size, self.level + (now - self._at) * self.rate)
        self._at = now


class Pace:
    """The rate limits of one judge. `learns` says whether limits reported by a server apply to all requests. They do if
    the judge has a single address.
    """

    def __init__(
        self,
        requests: float | None = None,
        tokens: float | None = None,
        *,
        learns: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._learns = learns
        self._tokens = tokens
        self._declared: dict[str, Bucket] = {}
        if requests is not None:
            self._declared["requests"] = Bucket.of_requests(requests, clock)
        self._learnt: dict[str, Bucket] = {}
        self._held_until = float("-inf")
        self._out = {"requests": 0.0, "tokens": 0.0}
        self._queue = asyncio.Lock()
        self._stopped = False
        self._changed = asyncio.Event()
        self._token_estimate = _TokenEstimate()

    @property
    def waits(self) -> float:
        """Seconds until the rate limits allow another request of usual size."""
        return self.delay(self._token_estimate.usual)

    async def turn(self, work: Work) -> float | None:
        """Wait until the rate limits allow this request. Returns the request's estimated tokens, or None if the run was
        stopped.
        """
        if self._declared or self._learnt or self._tokens is not None:
            async with self._queue:
                # What answers take is known from the first: until it is there, a limit of tokens could not be kept.
                while (
                    self._tokens is not None
                    and self._out["requests"]
                    and not (self._token_estimate.answered or self._stopped)
                ):
                    await self._change(None)
                while not self._stopped and (delay := self.delay(self._token_estimate.estimate(work))) > 0:
                    await self._change(delay)
            if self._stopped:
                return None
        tokens = self._token_estimate.estimate(work)
        self._take(tokens)
        return self.on_its_way(tokens)

    def delay(self, tokens: float) -> float:
        """Seconds until a request of `tokens` tokens may be sent."""
        if self._tokens is not None:
            self._hold_whole(tokens, self._tokens)
        amounts = {"requests": 1.0, "tokens": tokens}
        declared = [bucket.delay(amounts[name]) for name, bucket in self._declared.items()]
        learnt = [min(bucket.delay(amounts[name]), _OFTEN) for name, bucket in self._learnt.items()]
        return max([self._held_until - self._clock(), *declared, *learnt, 0.0])

    async def _change(self, seconds: float | None) -> None:
        """Wait for `seconds` (None: without limit), or until a request returned or the run was stopped."""
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def _hold_whole(self, tokens: float, most: float) -> None:
        """Enlarge the bucket of the configured token limit so that it can hold a request of `tokens` tokens, but not
        more than the limit (`most`).
        """
        bucket = self._declared.get("tokens")
        if bucket is None:
            self._declared["tokens"] = Bucket.of_tokens(most, tokens, self._clock)
        elif min(tokens, most) > bucket.size:
            wider = Bucket.of_tokens(most, tokens, self._clock)
            bucket.adopt(wider.size, wider.rate, bucket.level)

    def ahead(self, work: Work) -> float:
        """Count the plan's first request, which was sent without waiting; returns its estimated tokens."""
        tokens = self._token_estimate.estimate(work)
        self.delay(tokens)
        self._take(tokens)
        return tokens

    def on_its_way(self, tokens: float) -> float:
        """Mark a request as in flight whose `tokens` were already taken from the rate limits; returns `tokens`."""
        self._out["requests"] += 1
        self._out["tokens"] += tokens
        return tokens

    def _take(self, tokens: float) -> None:
        for name, amount in (("requests", 1.0), ("tokens", tokens)):
            for bucket in self._buckets(name):
                bucket.take(amount)

    def back(self, tokens: float, work: Work, responses: Sequence[Response] = ()) -> None:
        """Mark a request as returned, and replace its estimated tokens by those that its answers report."""
        self._out["requests"] -= 1
        self._out["tokens"] -= tokens
        used = self._token_estimate.learn(work, responses)
        if used is not None:
            for bucket in self._buckets("tokens"):
                bucket.take(used - tokens)
        self._changed.set()

    def hold_requests(self, seconds: float) -> None:
        """Send no request for `seconds`, as the server demanded. Without effect where the judge has no rate limits or
        several addresses.
        """
        if self._learns and (self._declared or self._learnt):
            self._held_until = max(self._held_until, self._clock() + min(seconds, LONGEST_WAIT))

    def adopt_limits(self, limits_told: RateLimits) -> None:
        """Adopt the limits from an answer's headers, minus the requests in flight, which the server may not have
        counted yet.

        Without effect where the judge has several addresses.
        """
        if not self._learns:
            return
        for name, limit in limits_told.limits.items():
            rate = limit.rate
            if rate is None:
                continue
            bucket = self._learnt.setdefault(name, Bucket(limit.most, rate, self._clock))
            bucket.adopt(limit.most, rate, limit.remaining - self._out[name])

    def stop(self) -> None:
        """End all waiting, because the run is stopped."""
        self._stopped = True
        self._changed.set()

    def _buckets(self, name: str) -> list[Bucket]:
        return [bucket for kind in (self._declared, self._learnt) if (bucket := kind.get(name)) is not None]


class _TokenEstimate:
    """Estimate of a request's tokens from earlier answers: tokens per character of a prompt, and tokens per answer."""

    def __init__(self) -> None:
        self._characters = 0.0
        self._prompt = 0.0
        self._answers = 0
        self._answer = 0.0
        self.usual = 0.0
        self.answered = False

    def estimate(self, work: Work) -> float:
        """Estimated number of tokens of a request and its answers."""
        characters = _characters(work.query)
        prompt = characters * self._prompt / self._characters if self._characters else characters / _CHARACTERS
        usual = work.query.generation.max_tokens or _ANSWER
        answer = self._answer / self._answers if self._answers else usual
        self.usual = prompt + answer * len(work.repeats)
        return self.usual

    def learn(self, work: Work, responses: Sequence[Response]) -> float | None:
        """Number of tokens that a request used, as the server counted them; None if the server reported no count.

        The count improves later estimates.
        """
        self.answered = self.answered or bool(responses)
        if not responses or responses[0].prompt_tokens is None:
            return None
        prompt, answer = responses[0].prompt_tokens, responses[0].completion_tokens or 0
        self._characters += _characters(work.query)
        self._prompt += prompt
        self._answers += len(responses)
        self._answer += answer
        return float(prompt + answer)


def _characters(query: Request) -> int:
    return sum(len(message.content) for message in query.messages)
