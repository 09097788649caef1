"""Pairs of stories that a run compares, and their orders. A pair's default order is that of the dataset's own pair,
else of the dataset. (first, second) and (second, first) are two queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from judge.asking.run_definition.spec import PairsSpec, RunSpec
from judge.base.errors import SpecError, unknown
from judge.base.fingerprint import digest
from judge.base.records import Pair, Story

_EITHER = 2


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """Facts of a story that decide with which other stories it is compared."""

    id: str
    story_prompt: str
    system: str

    @classmethod
    def of(cls, story: Story) -> StoryPlace:
        return cls(story.id, story.story_prompt, story.system)


class Planned(NamedTuple):
    """One planned comparison. `number` is the pair's, from 0; `first` and `second` are the stories' ids as shown."""

    number: int
    pair: str
    first: str
    second: str


def pairs_of(
    spec: RunSpec, stories: Sequence[StoryPlace], named: Iterable[Pair] | None, listed: Sequence[Pair] | None = None
) -> list[Pair]:
    """The run's pairs, sorted by story-prompt and the dataset's order: `named` (the dataset's own; None = it has none)
    if the setting `pairs` is `given`, `listed` if it names a file, else chosen among `stories`. Raises SpecError
    without a pair, or if one does not fit."""
    wanted = spec.pairs
    own = None if named is None else list(named)
    if wanted == "given":
        if own is None:
            raise SpecError(
                f"pairs: given, and dataset {spec.dataset!r} has no pairs that people compared",
                hint="pairs: all compares each story with the others of its story-prompt",
            )
        pairs = own
    elif isinstance(wanted, PairsSpec) and wanted.file is not None:
        pairs = list(listed or ())
    else:
        pairs = list(_drawn(spec, stories, own or ()))
    _check(spec, pairs, {story.id: story for story in stories})
    return _in_order(pairs, stories)


def comparisons_of(spec: RunSpec, pairs: Sequence[Pair], stories: Sequence[StoryPlace]) -> list[Planned]:
    """Each pair in every order shown, in the order of requests. Those with the same first story are adjacent."""
    comparisons = []
    for number, pair in enumerate(pairs):
        given = Planned(number, pair.id, pair.first, pair.second)
        turned = Planned(number, pair.id, pair.second, pair.first)
        if spec.orders == "both":
            comparisons += [given, turned]
        else:
            comparisons.append(turned if spec.orders == "random" and _drawn_turned(pair) else given)
    order = {story.id: (story.story_prompt, number) for number, story in enumerate(stories)}
    return sorted(comparisons, key=lambda comparison: (*order[comparison.first], order[comparison.second]))


def _drawn_turned(pair: Pair) -> bool:
    # The random choice depends only on the two stories.
    return bool(digest(f"order\0{pair.first}\0{pair.second}", 1)[0] & 1)


def _drawn(spec: RunSpec, stories: Sequence[StoryPlace], named: Iterable[Pair]) -> Iterator[Pair]:
    # A selected pair that is one of the dataset's own is used as that.
    own_pairs: dict[frozenset[str], Pair] = {}
    for pair in named:
        own_pairs.setdefault(frozenset((pair.first, pair.second)), pair)
    position = {story.id: number for number, story in enumerate(stories)}
    groups: dict[str, list[StoryPlace]] = {}
    for story in stories:
        groups.setdefault("" if spec.across else story.story_prompt, []).append(story)
    if isinstance(spec.pairs, PairsSpec) and spec.pairs.against is not None:
        systems = list(dict.fromkeys(story.system for story in stories))
        if spec.pairs.against not in systems:
            raise SpecError(f"pairs: against: {unknown('system', spec.pairs.against, systems)}")
    for group in groups.values():
        for story_a, story_b in _within(spec, group):
            first, second = sorted((story_a, story_b), key=lambda story: position[story.id])
            own = own_pairs.get(frozenset((first.id, second.id)))
            same = first.story_prompt if first.story_prompt == second.story_prompt else ""
            yield own or Pair(f"{first.id}|{second.id}", same, first.id, second.id)


def _within(spec: RunSpec, group: Sequence[StoryPlace]) -> Iterator[tuple[StoryPlace, StoryPlace]]:
    if not isinstance(spec.pairs, PairsSpec):
        yield from combinations(group, _EITHER)
    elif spec.pairs.against is not None:
        mine = [story for story in group if story.system == spec.pairs.against]
        yield from ((own, other) for own in mine for other in group if other.system != spec.pairs.against)
    elif spec.pairs.each is not None:
        seed = spec.pairs.seed or 0
        # By hash and not by a generator of random numbers: a further story moves no story that is there.
        drawn = sorted(group, key=lambda story: digest(f"{seed}\0{story.story_prompt}\0{story.id}", 16))
        yield from ((drawn[i], drawn[j]) for i, j in circulant(len(drawn), spec.pairs.each))


def circulant(count: int, each: int) -> Iterator[tuple[int, int]]:
    """The edges of a circulant graph: each of `count` nodes is joined to `each` others, connected if `each` is 2 or
    more. If both are odd, none exists, and one node has an edge fewer. With at most `each` + 1 nodes, all pairs."""
    if each >= count - 1:
        yield from combinations(range(count), _EITHER)
        return
    for step in range(1, each // 2 + 1):
        yield from ((position, (position + step) % count) for position in range(count))
    if each % 2:
        half = count // 2
        yield from ((position, position + half) for position in range(half))


def _check(spec: RunSpec, pairs: Sequence[Pair], stories: dict[str, StoryPlace]) -> None:
    if not pairs:
        raise SpecError(
            f"dataset {spec.dataset!r} has no two stories to compare for one story-prompt",
            hint="across: true compares stories for different story-prompts too",
        )
    seen: set[str] = set()
    for pair in pairs:
        for story in (pair.first, pair.second):
            if story not in stories:
                raise SpecError(f"pair {pair.id!r} names story {story!r}, which dataset {spec.dataset!r} does not have")
        if pair.first == pair.second:
            raise SpecError(f"pair {pair.id!r} names story {pair.first!r} twice")
        if pair.id in seen:
            raise SpecError(f"two pairs have the id {pair.id!r}", hint="give each pair an id of its own")
        seen.add(pair.id)
        if not spec.across and stories[pair.first].story_prompt != stories[pair.second].story_prompt:
            raise SpecError(
                f"the stories of pair {pair.id!r} are for different story-prompts",
                hint="across: true compares them all the same, without showing a story-prompt",
            )


def _in_order(pairs: Sequence[Pair], stories: Sequence[StoryPlace]) -> list[Pair]:
    # Pairs are requested in this order, and a limit keeps the first ones.
    order = {story.id: (story.story_prompt, number) for number, story in enumerate(stories)}
    return sorted(pairs, key=lambda pair: (*order[pair.first], order[pair.second]))
