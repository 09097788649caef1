"""Limits of a minute and budgets: simulated minute by minute with a clock of their own, and learnt from a server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import accumulate

import pytest

from judge.asking.execution.sending.pace import Pace
from judge.asking.execution.sending.schedule import Work
from judge.asking.execution.sending.stopping import Account, Budget
from judge.backends.refusal_body import Limit
from judge.base.records import Criterion, Generation, Message, Query, Response, Story

Sent = list[tuple[float, float]]
"""(time, tokens) of requests."""


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def work(characters: int = 400) -> Work:
    messages = (Message("user", "x" * characters),)
    query = Query("k", Story("s", "", "x", "t"), Criterion("O", "O", "d"), "ep1", messages, Generation())
    return Work(query, (0,))


def busiest(sent: Sent, seconds: float = 60.0) -> float:
    """The largest sum of tokens in any half-open window."""
    times = [time for time, _ in sent]
    sums = [0.0, *accumulate(tokens for _, tokens in sent)]
    most, last = 0.0, 0
    for first, begin in enumerate(times):
        while last < len(times) and times[last] < begin + seconds - 1e-6:
            last += 1
        most = max(most, sums[last] - sums[first])
    return most


def drive(pace: Pace, clock: Clock, count: int, tokens: Callable[[], int], *, characters: int = 400) -> Sent:
    """Send as soon as the limits let it go; each answer comes at once and tells its tokens."""
    sent: Sent = []
    for _ in range(count):
        one = work(characters)
        while (delay := pace.delay(pace._token_estimate.estimate(one))) > 0:
            clock.now += delay
        counted = pace.on_its_way(pace.ahead(one))
        used = tokens()
        sent.append((clock.now, used))
        pace.back(counted, one, [Response("4", prompt_tokens=used - 10, completion_tokens=10)])
    return sent


@pytest.mark.parametrize("limit", [1, 2, 7, 60, 500, 10_000])
def test_no_minute_holds_more_requests_than_declared_and_little_less(limit: int) -> None:
    clock = Clock()
    sent = [(time, 1.0) for time, _ in drive(Pace(limit, clock=clock), clock, 3 * limit + 2, lambda: 50)]
    assert busiest(sent) <= limit
    # Three minutes' worth of requests take three minutes, or hardly longer.
    assert sent[-1][0] <= 3 * 60 * (limit + 1) / limit + 1


@pytest.mark.parametrize("limit", [1_000, 30_000, 2_000_000])
def test_no_minute_holds_more_tokens_than_declared(limit: int) -> None:
    clock, rng = Clock(), random.Random(3)
    largest = limit // 10
    pace = Pace(tokens=limit, clock=clock)
    # Requests of about a thirtieth of the limit, a few of a tenth; what was counted too low is made good later.
    sent = drive(pace, clock, 200, lambda: rng.choice([limit // 30] * 9 + [largest]), characters=limit // 8)
    assert busiest(sent) <= limit + largest
    total = sum(tokens for _, tokens in sent)
    assert sent[-1][0] <= 60 * total / limit * 1.25


def test_a_request_of_more_than_the_whole_limit_goes_all_the_same() -> None:
    clock = Clock()
    sent = drive(Pace(tokens=100, clock=clock), clock, 3, lambda: 500)
    assert len(sent) == 3
    assert sent[-1][0] >= 2 * 60 * 4  # each leaves a debt of 400, which fills in four minutes or longer


def test_a_retry_after_holds_everybody_back() -> None:
    clock = Clock()
    pace = Pace(600, clock=clock)
    pace.hold_requests(20.0)
    assert pace.delay(0.0) == pytest.approx(20.0)
    clock.now = 21.0
    assert pace.delay(0.0) == 0.0
    unlimited = Pace(clock=clock)
    unlimited.hold_requests(20.0)  # no limits to keep: the refused request alone waits, as it always did
    assert unlimited.delay(0.0) == 0.0


def test_what_remains_by_the_servers_word_counts_without_what_is_in_flight() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    for _ in range(3):
        pace.on_its_way(pace.ahead(work()))
    pace.adopt_limits({"requests": Limit(100, 5, 47.5)})  # two a second; three of the five may be gone already
    times = []
    for _ in range(4):
        while (delay := pace.delay(0.0)) > 0:
            clock.now += delay
        pace.on_its_way(pace.ahead(work()))
        times.append(round(clock.now, 6))
    assert times == [0.0, 0.0, 0.5, 1.0]


def test_with_several_servers_one_ones_word_holds_nobody_back() -> None:
    pace = Pace(60, learns=False)
    pace.adopt_limits({"requests": Limit(100, 0, 50)})
    pace.hold_requests(30.0)
    assert pace.delay(0.0) == 0.0


def test_with_a_limit_of_tokens_the_first_answer_tells_what_answers_take() -> None:
    async def scenario() -> list[str]:
        pace, order = Pace(tokens=1_000_000), []
        first = await pace.turn(work())
        assert first is not None

        async def second() -> None:
            await pace.turn(work())
            order.append("second")

        task = asyncio.create_task(second())
        await asyncio.sleep(0.05)
        order.append("first answered")
        pace.back(first, work(), [Response("4", prompt_tokens=100, completion_tokens=3_000)])
        await task
        assert pace._token_estimate.estimate(work()) == pytest.approx(3_100)
        return order

    assert asyncio.run(scenario()) == ["first answered", "second"]


def test_nobody_waits_for_a_limit_once_the_run_is_stopped() -> None:
    async def scenario() -> float | None:
        pace = Pace(1)
        assert await pace.turn(work()) is not None
        waiting = asyncio.create_task(pace.turn(work()))
        await asyncio.sleep(0.05)
        pace.stop()
        return await asyncio.wait_for(waiting, 1)

    assert asyncio.run(scenario()) is None


def test_calls_go_out_only_as_far_as_the_budget_holds_all_in_flight() -> None:
    async def scenario() -> None:
        budget = Budget(1.0, "all")
        one, other = Account([budget]), Account([budget])
        assert await one.admit()
        # What calls cost is not known: a second call of the same judge waits, and the other's first does not.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(one.admit(), 0.05)
        assert await other.admit()
        one.called(0.3)
        await one.settle()
        other.called(0.2)
        await other.settle()
        assert await one.admit()  # 0.5 spent, 0.3 in flight
        assert await other.admit()  # and 0.2: all of it is spoken for
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(other.admit(), 0.05)
        one.called(0.1)  # cheaper than feared
        await one.settle()
        assert await other.admit()
        for _ in range(2):
            other.called(0.2)
            await other.settle()
        assert one.spent + other.spent == pytest.approx(1.0)
        assert not await one.admit()
        assert (one.refused, other.refused) == ("max_cost $1.0000 for all is reached", None)

    asyncio.run(scenario())


def test_what_does_not_fit_one_budget_takes_nothing_from_the_other() -> None:
    async def scenario() -> None:
        own, common = Budget(0.1), Budget(1.0, "all")
        small, large = Account([common, own]), Account([common])
        assert await small.admit()
        small.called(0.1)
        await small.settle()
        assert not await small.admit()
        assert small.refused == "max_cost $0.1000 for this run is reached"
        for _ in range(9):
            assert await large.admit()
            large.called(0.1)
            await large.settle()
        assert not await large.admit()

    asyncio.run(scenario())
