"""Blocks and their feed, without Ray: nothing changes on the way, nothing is lost or given twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from judge.asking.execution.ray.blocks import MOST_WORKERS, Feed, blocks, decode, encode
from judge.asking.execution.sending.schedule import Work
from judge.base.records import Criterion, Generation, Message, Query, Rating, Scale, Story

CRITERION = Criterion("Relevance", "RE", "how well it fits", Scale(1, 5, 0.5), ("bad", "good"))


def query(number: int) -> Query:
    return Query(
        key=f"b2:{number}",
        story=Story(f"s{number // 2}", "Ein Prompt", "GPT", "Text\n…", "Reference", (Rating("Relevance", 2.0),)),
        criterion=CRITERION,
        eval_prompt="ep1",
        messages=(Message("system", "S"), Message("user", f"Rate {number}")),
        generation=Generation(0.7, 0.9, 100, 3, ("\n\n", "END")),
        api="completions",
        structured="json",
        scoring="logprobs",
        asks_explanation=True,
        flags=("reference_is_target",),
    )


def test_a_block_comes_out_as_it_went_in_but_for_peoples_ratings() -> None:
    block = [[(query(0), (0, 2)), (query(1), (1,))], [(query(2), (0,))]]
    came = decode(encode(block))
    assert came == [[(replace(q, story=replace(q.story, ratings=())), r) for q, r in group] for group in block]


def test_blocks_hold_whole_groups_and_lose_none() -> None:
    groups = [[Work(query(10 * g + i), (0,)) for i in range(size)] for g, size in enumerate([2, 0, 3, 1, 4, 2])]
    cut = list(blocks(iter(groups), 4))
    assert [[len(group) for group in block] for block in cut] == [[2, 3], [1, 4], [2]]
    assert [q.key for block in cut for group in block for q, _ in group] == [w.query.key for g in groups for w in g]


def test_every_block_is_given_once_and_again_to_who_takes_over() -> None:
    async def course() -> None:
        feed = Feed()
        assert await feed.put(b"a", 2)
        assert await feed.put(b"b", 2)
        waiting = asyncio.create_task(feed.put(b"c", 2))
        await asyncio.sleep(0)
        assert not waiting.done()
        # Tickets come in any order; the first that is shown gets the first block.
        assert await feed.get(7) == b"a"
        assert await waiting
        assert await feed.get(3) == b"b"
        assert await feed.get(7) == b"a"
        await feed.done(7)
        assert await feed.get(7) == b""
        late = asyncio.create_task(feed.get(4))
        assert await late == b"c"
        await feed.end()
        assert await feed.get(5) == b""
        await feed.done(3, 1, 2)
        assert await feed.get(3) == b"b"
        await feed.done(3, 1, 2)
        assert await feed.get(3) == b""
        assert await feed.given_up() == 0

    asyncio.run(course())


def test_two_who_wait_with_one_ticket_get_one_block() -> None:
    async def course() -> None:
        feed = Feed()
        both = [asyncio.create_task(feed.get(0)) for _ in range(2)]
        await asyncio.sleep(0)
        await feed.put(b"a", 9)
        await feed.put(b"b", 9)
        assert await asyncio.gather(*both) == [b"a", b"a"]
        assert await feed.get(1) == b"b"

    asyncio.run(course())


def test_a_stop_ends_the_driver_and_those_who_wait() -> None:
    async def course() -> None:
        feed = Feed()
        await feed.put(b"a", 1)
        waiting = asyncio.create_task(feed.put(b"b", 1))
        await asyncio.sleep(0)
        await feed.stop()
        assert await waiting is False
        assert await feed.wanted() == (True, False, None)
        assert await feed.get(0) == b""

    asyncio.run(course())


def test_a_pause_hands_out_nothing_until_it_ends_or_the_run_does() -> None:
    async def course() -> None:
        feed = Feed()
        await feed.put(b"a", 2)
        await feed.put(b"b", 2)
        assert await feed.get(0) == b"a"
        await feed.steer(3, paused=True)
        assert await feed.wanted() == (False, True, 3)
        waiting = [asyncio.create_task(feed.get(ticket)) for ticket in (0, 1)]
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in waiting)
        await feed.steer(None, paused=False)
        assert await asyncio.gather(*waiting) == [b"a", b"b"]
        await feed.steer(None, paused=True)
        late = asyncio.create_task(feed.get(2))
        await asyncio.sleep(0.01)
        assert not late.done()
        await feed.stop()
        assert await late == b""

    asyncio.run(course())


def test_a_block_over_which_every_worker_dies_is_given_up() -> None:
    async def course() -> None:
        feed = Feed()
        await feed.put(b"a", 1)
        given = [await feed.get(0) for _ in range(MOST_WORKERS + 2)]
        assert given == [b"a"] * MOST_WORKERS + [b"", b""]
        assert await feed.given_up() == 1
        assert await feed.put(b"b", 1)

    asyncio.run(course())
