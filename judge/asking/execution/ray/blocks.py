"""Blocks of queries that the driver sends to Ray workers as bytes. They are created when needed.

The driver divides the plan's missing queries into blocks, so that a worker can use its prefix cache: a prefix group
(queries with a common beginning of the prompt) is never divided. `Feed` runs as one Ray actor between the driver and
the workers. It holds a few blocks, and hands a block out again if its worker was killed.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import orjson

from judge.asking.execution.sending.schedule import Work
from judge.base.records import Commission, Criterion, Generation, Message, Query, Request, Story, StoryPrompt

MOST_WORKERS = 5
"""Workers that may die over one block. Ray starts dead workers again for ever; a block that kills each is given up."""

Group = list[tuple[Request, tuple[int, ...]]]
"""Queries of one prefix group, each with its repeats still to be asked."""


def blocks(groups: Iterator[list[Work]], size: int) -> Iterator[list[Group]]:
    """Yield blocks of queries for Ray workers, each with at least `size` calls. A block is made of groups of queries
    whose prompts have a common prefix. No group is split; the last block may be smaller.
    """
    block: list[Group] = []
    count = 0
    for group in groups:
        if not group:
            continue
        block.append([(work.query, work.repeats) for work in group])
        count += len(group)
        if count >= size:
            yield block
            block, count = [], 0
    if block:
        yield block


def encode(block: list[Group]) -> bytes:
    """A block of queries for a Ray worker as compressed bytes. Stories, story-prompts and criteria are stored once and
    referred to by the requests.
    """
    stories: dict[str, list[Any]] = {}
    criteria: dict[str, dict[str, Any]] = {}
    groups = []
    for group in block:
        members = []
        for query, repeats in group:
            messages = [(message.role, message.content) for message in query.messages]
            sampled = query.generation
            generation = [sampled.temperature, sampled.top_p, sampled.max_tokens, sampled.seed, sampled.stop]
            common: list[Any] = [query.key, messages, generation, query.api, query.flags, repeats]
            if isinstance(query, Commission):
                wanted = query.wanted
                members.append([*common, [wanted.id, wanted.text, wanted.reference, query.writer_prompt], None])
                continue
            story, criterion = query.story, query.criterion
            for shown in (story, query.other) if query.other is not None else (story,):
                stories[shown.id] = [shown.id, shown.story_prompt, shown.system, shown.text, shown.reference]
            for criterion_asked in query.criteria or (criterion,):
                criteria[criterion_asked.name] = criterion_asked.record()
            asked: list[Any] = [story.id, criterion.name, query.eval_prompt, query.structured, query.scoring]
            compared = None if query.other is None else [query.other.id, query.pair, query.choices]
            names = [criterion_asked.name for criterion_asked in query.criteria]
            members.append([*common, None, [*asked, query.asks_explanation, compared, names]])
        groups.append(members)
    # A story stands in the messages of all its queries: even the fastest compression takes nearly all of that away.
    return zlib.compress(orjson.dumps([list(stories.values()), list(criteria.values()), groups]), 1)


def decode(data: bytes) -> list[Group]:
    """The block of queries that `encode` converted to bytes; human ratings of the stories are not included."""
    story_rows, criteria_told, groups = orjson.loads(zlib.decompress(data))
    stories = {row[0]: Story(*row) for row in story_rows}
    criteria = {record["name"]: Criterion.of(record) for record in criteria_told}
    return [[_request(member, stories, criteria) for member in group] for group in groups]


def _request(
    member: list[Any], stories: dict[str, Story], criteria: dict[str, Criterion]
) -> tuple[Request, tuple[int, ...]]:
    key, sent, (temperature, top_p, max_tokens, seed, stop), api, flags, repeats, written, judged = member
    messages = tuple(Message(role, content) for role, content in sent)
    generation = Generation(temperature, top_p, max_tokens, seed, tuple(stop))
    if written is not None:
        wanted, writer_prompt = StoryPrompt(*written[:3]), written[3]
        return Commission(key, wanted, writer_prompt, messages, generation, api, flags=tuple(flags)), tuple(repeats)
    story, criterion, eval_prompt, structured, scoring, asks, compared, names = judged
    together = tuple(criteria[name] for name in names)
    other, pair, choices = compared or (None, None, ())
    query = Query(
        key=key,
        story=stories[story],
        criterion=Criterion.together(together) if together else criteria[criterion],
        eval_prompt=eval_prompt,
        messages=messages,
        generation=generation,
        api=api,
        structured=structured,
        scoring=scoring,
        asks_explanation=asks,
        flags=tuple(flags),
        other=None if other is None else stories[other],
        choices=tuple(choices),
        pair=pair,
        criteria=together,
    )
    return query, tuple(repeats)


class Feed:
    """Queue of blocks of queries between the driver of a run on Ray and its workers. All methods run in one event loop,
    as in an asynchronous Ray actor.

    A worker requests a block with a ticket (a row of Ray's Dataset). The first request with a ticket gets the next
    block, and later requests get the same block until it is done. A worker that replaces a killed one thus continues
    its block.
    """

    def __init__(self) -> None:
        self._next: deque[bytes] = deque()
        self._given: dict[int, bytes] = {}
        self._shown: Counter[int] = Counter()
        self._units: dict[int, int] = {}
        self._done: set[int] = set()
        self._ended = False
        self._stopped = False
        self._changed = asyncio.Condition()

    async def put(self, block: bytes, most: int) -> bool:
        """Add a block of queries once fewer than `most` blocks are waiting; returns False where no more blocks are
        wanted.

        Blocks that workers have taken are not counted, because the pipeline itself limits them.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._stopped or len(self._next) < most)
            if not self._stopped:
                self._next.append(block)
                self._changed.notify_all()
            return not self._stopped

    async def end(self) -> None:
        """Announce that no more blocks of queries will come. Workers' tickets without a block then get empty bytes."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()

    async def stop(self) -> None:
        """Hand out no new blocks of queries, and tell workers to end early."""
        async with self._changed:
            self._stopped = self._ended = True
            self._next.clear()
            self._changed.notify_all()

    async def stopped(self) -> bool:
        """Whether workers should end early."""
        return self._stopped

    async def get(self, ticket: int) -> bytes:
        """The block of queries (as bytes) that belongs to a worker's ticket. Empty bytes where no block is left for the
        ticket, and where its block is done or was given up.
        """
        async with self._changed:
            await self._changed.wait_for(
                lambda: ticket in self._given or ticket in self._done or bool(self._next) or self._ended
            )
            if ticket in self._done or (self._stopped and ticket not in self._given):
                return b""
            if ticket not in self._given:
                if not self._next:
                    return b""
                self._given[ticket] = self._next.popleft()
                self._changed.notify_all()
            self._shown[ticket] += 1
            if self._shown[ticket] > MOST_WORKERS:
                self._given.pop(ticket)
                self._done.add(ticket)
                return b""
            return self._given[ticket]

    async def given_up(self) -> int:
        """Number of blocks of queries that were given up because five workers (`MOST_WORKERS`) that had them died."""
        return sum(shown > MOST_WORKERS for shown in self._shown.values())

    async def done(self, ticket: int, units: int = 1, total: int = 1) -> None:
        """Record that `units` of the `total` units of a ticket's block of queries are stored durably. The block is
        dropped when all are.

        A unit is the whole block for an HTTP judge, and one repeat for vLLM.
        """
        async with self._changed:
            self._units[ticket] = self._units.get(ticket, 0) + units
            if self._units[ticket] >= total:
                self._given.pop(ticket, None)
                self._units.pop(ticket, None)
                self._done.add(ticket)
