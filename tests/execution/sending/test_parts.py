"""Limiter, schedule, retry and breaker, each alone with a clock of its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import pytest

from judge.asking.execution.sending.runner import Limiter
from judge.asking.execution.sending.schedule import Schedule, Work
from judge.asking.execution.sending.stopping import Breaker, decide
from judge.base.errors import BackendError
from judge.base.records import Criterion, Generation, Message, Query, Story

STORY = Story("s", "", "x", "text")


def work(name: str) -> Work:
    return Work(Query(name, STORY, Criterion("O", "O", "d"), "ep1", (Message("user", name),), Generation()), (0,))


def failure(kind: str, *, retryable: bool = True, retry_after: float | None = None) -> BackendError:
    return BackendError(kind, kind=kind, retryable=retryable, retry_after=retry_after)  # type: ignore[arg-type]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_limit_shrinks_at_most_once_a_second_and_grows_back_to_what_was_declared() -> None:
    clock = Clock()
    limiter = Limiter(100, clock=clock)
    for _ in range(50):
        limiter.pressed()
    assert limiter.limit == pytest.approx(70)
    clock.now = 1.0
    limiter.pressed()
    assert limiter.limit == pytest.approx(49)
    for _ in range(49):
        limiter.answered()
    assert 49.5 < limiter.limit < 50.1
    for _ in range(20_000):
        limiter.answered()
    assert limiter.limit == 100


def test_the_limit_never_falls_below_one() -> None:
    clock = Clock()
    limiter = Limiter(2, clock=clock)
    for second in range(20):
        clock.now = float(second * 2)
        limiter.pressed()
    assert limiter.limit == 1


def test_never_more_in_flight_than_the_limit() -> None:
    async def check() -> int:
        limiter, most = Limiter(3), 0

        async def one() -> None:
            nonlocal most
            await limiter.acquire()
            most = max(most, limiter.in_flight)
            await asyncio.sleep(0.001)
            limiter.release()

        await asyncio.gather(*(one() for _ in range(30)))
        assert limiter.in_flight == 0
        return most

    assert asyncio.run(check()) == 3


def test_a_groups_leader_goes_first_and_its_followers_wait_for_it() -> None:
    async def order() -> list[str]:
        seen = []
        schedule = Schedule(
            iter([[work("a1"), work("a2"), work("a3")], [work("b1"), work("b2")]]), pending=100, sleeping=9
        )
        first, second = await schedule.next(), await schedule.next()
        assert first is not None
        assert second is not None
        seen += [first.query.key, second.query.key]
        schedule.done(first)
        for _ in range(2):
            follower = await schedule.next()
            assert follower is not None
            seen.append(follower.query.key)
            schedule.done(follower)
        schedule.done(second)
        last = await schedule.next()
        assert last is not None
        schedule.done(last)
        assert await schedule.next() is None
        return [*seen, last.query.key]

    assert asyncio.run(order()) == ["a1", "b1", "a2", "a3", "b2"]


def test_groups_are_pulled_only_as_needed() -> None:
    pulled = 0

    def groups() -> Iterator[list[Work]]:
        nonlocal pulled
        for i in range(1000):
            pulled += 1
            yield [work(f"{i}-{j}") for j in range(10)]

    async def take() -> None:
        schedule = Schedule(groups(), pending=30, sleeping=9)
        for _ in range(4):
            await schedule.next()

    asyncio.run(take())
    assert pulled == 4


def test_a_retry_that_waits_keeps_nobody_else_waiting_and_the_end_waits_for_it() -> None:
    async def check() -> list[str]:
        seen: list[str] = []
        schedule = Schedule(iter([[work("slow")], [work("next")]]), pending=10, sleeping=9)

        async def worker() -> None:
            while (item := await schedule.next()) is not None:
                if item.query.key == "slow" and item.attempts == 0:
                    item.attempts += 1
                    schedule.later(item, 0.05)
                else:
                    seen.append(item.query.key)
                    schedule.done(item)

        await asyncio.gather(worker(), worker())
        return seen

    assert asyncio.run(check()) == ["next", "slow"]


def test_a_stopped_schedule_hands_out_nothing_more() -> None:
    async def check() -> bool:
        schedule = Schedule(iter([[work("a")], [work("b")]]), pending=10, sleeping=9)
        assert await schedule.next() is not None
        waiting = asyncio.create_task(schedule.next())
        schedule.stop()
        return await waiting is None and await schedule.next() is None

    assert asyncio.run(check())


@pytest.mark.parametrize(
    ("error", "attempts", "again"),
    [
        (failure("server"), 1, True),
        (failure("server"), 8, False),
        (failure("timeout"), 7, True),
        (failure("rate"), 50, True),
        (failure("request", retryable=False), 1, False),
        (failure("context", retryable=False), 1, False),
        (failure("filtered", retryable=False), 1, False),
        (failure("auth", retryable=False), 9, True),
    ],
)
def test_what_is_asked_again(error: BackendError, attempts: int, again: bool) -> None:
    assert (decide(error, attempts, 8, random.Random(1)) is not None) is again


def test_the_servers_retry_after_is_honoured_and_delays_double() -> None:
    rng = random.Random(1)
    delay = decide(failure("rate", retry_after=7.0), 1, 8, rng)
    assert delay is not None
    assert 7.0 <= delay <= 7.1
    delays = [[decide(failure("server"), n, 99, rng) or 0 for _ in range(200)] for n in (1, 2, 3, 20)]
    for found, longest in zip(delays, (0.5, 1.0, 2.0, 30.0), strict=True):
        assert longest / 2 <= min(found) <= max(found) <= longest
        assert len(set(found)) > 100


def test_the_breaker_stops_what_only_fails() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    for _ in range(2):
        breaker.failed(failure("auth", retryable=False))
    assert breaker.tripped is None
    breaker.failed(failure("auth", retryable=False))
    assert breaker.tripped is not None
    assert breaker.tripped.kind == "auth"


def test_the_breaker_waits_for_a_server_that_restarts() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    for _ in range(100):
        breaker.failed(failure("connection"))
    assert breaker.tripped is None
    clock.now = 29.0
    breaker.answered()
    clock.now = 31.0
    for _ in range(100):
        breaker.failed(failure("connection"))
    assert breaker.tripped is None
    clock.now = 62.0
    breaker.failed(failure("connection"))
    assert breaker.tripped is not None


def test_the_breaker_lets_mixed_failures_and_refused_requests_among_answers_pass() -> None:
    breaker = Breaker(clock=Clock())
    breaker.answered()
    for _ in range(100):
        breaker.failed(failure("context", retryable=False))
    assert breaker.tripped is None
    fresh = Breaker(clock=Clock())
    for _ in range(20):
        fresh.failed(failure("context", retryable=False))
    assert fresh.tripped is not None


def test_while_many_retries_wait_nothing_new_goes_out() -> None:
    async def check() -> list[int]:
        asked: list[int] = []
        schedule = Schedule(iter([[work(str(i))] for i in range(100)]), pending=50, sleeping=4)

        async def worker() -> None:
            while (item := await schedule.next()) is not None:
                asked.append(item.attempts)
                if item.attempts == 0:
                    item.attempts = 1
                    schedule.later(item, 0.02)
                else:
                    schedule.done(item)

        workers = [asyncio.create_task(worker()) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert len(asked) == 4
        await asyncio.gather(*workers)
        return asked

    asked = asyncio.run(check())
    assert asked.count(0) == asked.count(1) == 100
