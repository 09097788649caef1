"""Rate limits of requests and tokens per minute, as token buckets. A limit of the run definition is kept in every
minute, the first too. The server's are adopted: `retry-after` delays all requests, and headers on the remaining amount
set a bucket's level and rate."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from judge.answers.parsing.asked_form import FORMS, JOINT_FORM, VERDICT_FORMS, has_asked_form
from judge.asking.execution.sending.schedule import Work
from judge.asking.execution.sending.stopping import LONGEST_WAIT
from judge.backends.refusal_body import RateLimits
from judge.base.errors import BackendError
from judge.base.records import Commission, Query, Request, Response

# Early detection of a server that ignores the output format requested by `structured`.

# Answers of a sitting that tell; those that were cut, blocked or declined are not counted.
FIRST = 10

# Characters of an answer in a warning: one line of a terminal.
_SHOWN = 120


class FormWatch:
    """Checks whether a session's first answers have the format of `structured`. One that has ends the check."""

    def __init__(self, judge: str, addresses: Sequence[str] = ()) -> None:
        hosts = dict.fromkeys(_host(address) for address in addresses)
        self._who = f"{judge} at {', '.join(hosts)}" if hosts else judge
        self._without = 0
        self._decided = False

    def saw(self, query: Request, response: Response) -> BackendError | None:
        """The error that ends the run, returned once: at the tenth answer, if none had the requested format."""
        if self._decided or isinstance(query, Commission) or query.structured == "none":
            return None
        formed = has_asked_form(response, query.asked, query.structured, query.rating_pattern, query.choices)
        if formed is None:
            return None
        self._decided = formed
        self._without += 1
        if formed or self._without < FIRST:
            return None
        self._decided = True
        return self._error(query, response)

    def _error(self, query: Query, response: Response) -> BackendError:
        asked = "verdict" if query.choices else "rating"
        form = JOINT_FORM if query.criteria else (VERDICT_FORMS if query.choices else FORMS)[query.structured]
        text = " ".join(response.text.split())
        begins = f"begins {text[:_SHOWN]!r}" if text else "is empty"
        return BackendError(
            f"{self._who} does not follow structured: {query.structured}: none of its first {FIRST} answers is "
            f"{form}; one answer {begins}",
            kind="capability",
            retryable=False,
            hint="what was answered is kept; take a server or a model that constrains answers, or set structured: none "
            f"in a run with another name, whose Eval-Prompts ask for the {asked} in words",
        )


def _host(address: str) -> str:
    # The rest may contain a password or key.
    return address.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]


MINUTE = 60.0
# A declared limit gives out this part of a minute's share at once, so that a busy event loop can catch up.
_BURST = 120.0

# Characters of a token, and below it tokens of an answer, until answers tell.
_CHARACTERS = 4.0

# Tokens of an answer with a short explanation, until answers tell and where no `max_tokens` is given.
_ANSWER = 150

# Seconds after which a limit that was learnt, and not declared, is tried again.
_OFTEN = 60.0


class Bucket:
    """Token bucket: it fills at `rate` per second up to `size`. An amount above the size waits until it is full, and
    makes the level negative."""

    def __init__(self, size: float, rate: float, clock: Callable[[], float]) -> None:
        self.size = size
        self.rate = rate
        self.level = size
        self._clock = clock
        self._at = clock()

    @classmethod
    def of_requests(cls, per_minute: float, clock: Callable[[], float]) -> Bucket:
        """Bucket that lets at most `per_minute` requests through in any minute, initial content and refill together."""
        size = max(per_minute / _BURST, 1.0)
        return cls(size, (per_minute - size + 1) / MINUTE, clock)

    @classmethod
    def of_tokens(cls, per_minute: float, largest: float, clock: Callable[[], float]) -> Bucket:
        """Bucket for requests of at most `largest` tokens. A request larger than the whole limit is still sent."""
        size = min(max(per_minute / _BURST, largest), per_minute)
        return cls(size, max(per_minute - size, per_minute / 2) / MINUTE, clock)

    def delay(self, amount: float) -> float:
        self._fill()
        lacking = min(amount, self.size) - self.level
        # Less than a millionth is a matter of rounding, and waiting for it would not move the clock.
        return lacking / self.rate if lacking > 1e-6 * max(self.size, 1.0) else 0.0

    def take(self, amount: float) -> None:
        """Take the amount from the bucket (a negative amount gives it back)."""
        self._fill()
        self.level = min(self.level - amount, self.size)

    def adopt(self, size: float, rate: float, level: float) -> None:
        self._fill()
        self.size, self.rate, self.level = size, rate, min(level, size)

    def _fill(self) -> None:
        now = self._clock()
        self.level = min(self.size, self.level + (now - self._at) * self.rate)
        self._at = now


class Pace:
    """The rate limits of one judge. `learns`: a server's limits apply to all requests, since the judge has one
    address."""

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
        """Wait until the limits allow this request; its estimated tokens, or None if the run was stopped."""
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
        # Also until a request returned or the run was stopped.
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def _hold_whole(self, tokens: float, most: float) -> None:
        bucket = self._declared.get("tokens")
        if bucket is None:
            self._declared["tokens"] = Bucket.of_tokens(most, tokens, self._clock)
        elif min(tokens, most) > bucket.size:
            wider = Bucket.of_tokens(most, tokens, self._clock)
            bucket.adopt(wider.size, wider.rate, bucket.level)

    def ahead(self, work: Work) -> float:
        """Count the plan's first request, which was sent without waiting; its estimated tokens."""
        tokens = self._token_estimate.estimate(work)
        self.delay(tokens)
        self._take(tokens)
        return tokens

    def on_its_way(self, tokens: float) -> float:
        """Mark a request as in flight whose `tokens` were already taken; `tokens`."""
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
        """Send no request for `seconds`, unless the judge has no rate limits or several addresses."""
        if self._learns and (self._declared or self._learnt):
            self._held_until = max(self._held_until, self._clock() + min(seconds, LONGEST_WAIT))

    def adopt_limits(self, limits_told: RateLimits) -> None:
        """Adopt the limits of an answer's headers, minus requests in flight, which the server may not have counted. Not
        with several addresses."""
        if not self._learns:
            return
        for name, limit in limits_told.items():
            rate = limit.rate
            if rate is None:
                continue
            bucket = self._learnt.setdefault(name, Bucket(limit.most, rate, self._clock))
            bucket.adopt(limit.most, rate, limit.remaining - self._out[name])

    def stop(self) -> None:
        self._stopped = True
        self._changed.set()

    def _buckets(self, name: str) -> list[Bucket]:
        return [bucket for kind in (self._declared, self._learnt) if (bucket := kind.get(name)) is not None]


class _TokenEstimate:
    def __init__(self) -> None:
        self._characters = 0.0
        self._prompt = 0.0
        self._answers = 0
        self._answer = 0.0
        self.usual = 0.0
        self.answered = False

    def estimate(self, work: Work) -> float:
        characters = _characters(work.query)
        prompt = characters * self._prompt / self._characters if self._characters else characters / _CHARACTERS
        usual = work.query.generation.max_tokens or _ANSWER
        answer = self._answer / self._answers if self._answers else usual
        self.usual = prompt + answer * len(work.repeats)
        return self.usual

    def learn(self, work: Work, responses: Sequence[Response]) -> float | None:
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
