"""Cache points: positions up to which several prompts are equal, so that a provider can cache this prefix, and the
order of requests that makes use of the cache.

Used only for back-ends that mark the shared part of a prompt themselves (`Capabilities.cache_points`). The text of
prompts is not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby, pairwise
from typing import Any

from judge.asking.execution.sending.schedule import Work
from judge.base.records import Message, Request

LEAST = 40
"""Characters that a cache point must add to the one before it: for less, no query waits for another."""


def with_cache_points(groups: Iterator[list[Work]], most: int) -> Iterator[list[Work]]:
    """The groups of calls that are to be sent, with up to `most` cache points added to each query (`Request.shared`). A
    cache point is a position up to which the query's prompt equals another prompt, so that the provider can cache this
    prefix. Where `most` is 0, the groups are unchanged.

    Calls whose prompts have a common prefix stay adjacent.
    """
    return (marked(group, most) for group in groups) if most else groups


def marked(group: Sequence[Work], most: int) -> list[Work]:
    """The calls of one group, with up to `most` cache points added to each query. The prompts of a group begin with the
    same text. A cache point is a position up to which the query's prompt equals that of another call.
    """
    marked_works: list[Work] = []
    for alike in _groups_alike(group):
        for work, points in zip(alike, _points(alike, most), strict=True):
            query = replace(work.query, shared=points) if points else work.query
            marked_works.append(Work(query, work.repeats, work.attempts))
    return marked_works


def led(works: Sequence[Work]) -> list[Work]:
    """The calls that may be sent immediately (leaders), each with its followers: calls that wait until the leader has
    been answered.

    Among calls that share a cache point (a position up to which their prompts are equal), the first is the leader and
    the others follow. The same rule applies among the followers of a leader for their next cache point.
    """
    roots: list[Work] = []
    for alike in _groups_alike(works):
        roots += _led(alike, 0)
    return roots


def _led(works: Sequence[Work], depth: int) -> list[Work]:
    alone = count()

    def prefix(work: Work) -> Any:
        points = work.query.shared
        return _text(work.query)[: points[depth]] if depth < len(points) else next(alone)

    leaders = []
    for _, members in groupby(works, prefix):
        leader, *rest = members
        leader.followers = _led(rest, depth + 1) if rest else None
        leaders.append(leader)
    return leaders


def _groups_alike(group: Sequence[Work]) -> list[list[Work]]:
    """The calls of `group`, divided into smaller groups. Within each of these, requests differ only in their messages,
    not in the API or the output schema.

    The provider caches the schema as part of the prefix, because it inserts the schema before the prompt.
    """
    shapes: dict[Any, list[Work]] = {}
    for work in group:
        query = work.query
        form: Any = None
        if query.structured != "none":
            scales = tuple((criterion.name, criterion.scale) for criterion in query.criteria) or query.criterion.scale
            form = (query.asks_explanation, scales, query.choices)
        shapes.setdefault((query.api, query.structured, form), []).append(work)
    return list(shapes.values())


def _points(works: Sequence[Work], most: int) -> list[tuple[int, ...]]:
    """Cache points of each call in `works`, which are sorted by prompt. Cache points are positions, in characters, up
    to which the prompt equals that of another call; there are at most `most` per call.
    """
    queries = [work.query for work in works]
    shared = [_in_common(query, other) for query, other in pairwise(queries)]
    points_of: list[tuple[int, ...]] = [()] * len(works)
    open_: list[tuple[int, int, tuple[int, ...]]] = [(0, len(works), ())]
    while open_:
        low, high, points = open_.pop()
        alone = high - low == 1
        depth = len(_text(queries[low])) if alone else min(shared[low : high - 1])
        point = depth if alone else _word_end(_text(queries[low]), depth)
        calls = len(works[low].repeats) if alone else 2
        if calls > 1 and point - (points[-1] if points else 0) >= LEAST and len(points) < most:
            points = (*points, point)
        if alone:
            points_of[low] = points
            continue
        start = low
        for end in range(low + 1, high + 1):
            if end == high or shared[end - 1] == depth:
                open_.append((start, end, points))
                start = end
    return points_of


def _in_common(first: Request, other: Request) -> int:
    """Length in characters of the common beginning of two prompts, over all their messages."""
    total = 0
    for mine, others in zip(first.messages, other.messages, strict=False):
        if mine.role != others.role:
            break
        common = _common(mine, others)
        total += common
        if common < max(len(mine.content), len(others.content)):
            break
    return total


def _common(first: Message, other: Message) -> int:
    low, high = 0, min(len(first.content), len(other.content))
    while low < high:
        middle = (low + high + 1) // 2
        # From what is known to be equal on: each character is compared a few times, not each time.
        if first.content[low:middle] == other.content[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _word_end(text: str, position: int) -> int:
    """Last position up to `position` at which the text can be cut without splitting a word: directly after white space,
    or 0.
    """
    if position == 0 or text[position - 1].isspace():
        return position
    return max(text.rfind(blank, 0, position) + 1 for blank in " \n\t")


def _text(query: Request) -> str:
    return "".join(message.content for message in query.messages)
