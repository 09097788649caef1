"""What looks wrong in stories and people's ratings, told before a judge is paid for them; nothing is repaired."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import StatisticsError, correlation, median

from judge.base.fingerprint import digest
from judge.base.records import Criterion, Scale, Story

# A story is long from so many times the median on; means of two criteria run against each other below this
# correlation over at least so many stories; a person is constant from so many ratings on.
TIMES_MEDIAN, AGAINST, LEAST_STORIES, LEAST_RATINGS = 20, -0.5, 20, 10
# Of ratings whose scale is not known: share that may lie apart from the others, and still be slips.
_SLIPS = 0.02
_SHOWN = 3


@dataclass(slots=True)
class _Seen:
    """Ratings of one criterion: their values with the story of each value's first, and the stories' means."""

    values: Counter[float] = field(default_factory=Counter)
    first: dict[float, str] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Stories:
    words: dict[str, int] = field(default_factory=dict)
    texts: dict[bytes, str] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    criteria: dict[str, _Seen] = field(default_factory=dict)
    raters: dict[str, Counter[float]] = field(default_factory=dict)


def faults(stories: Iterable[Story], criteria: Sequence[Criterion] = (), *, set_name: str | None = None) -> list[str]:
    """One sentence for each fault of stories and people's ratings, in one pass: ratings out of scale or between its
    points, criteria that run against each other, people who gave one rating throughout, texts that occur twice, and
    stories many times longer than the others. Scales are those of `criteria` by name (of the set `set_name`, for the
    sentence); where a criterion's is not known, single ratings far from all others are named."""
    seen = _Stories()
    for story in stories:
        _add(seen, story)
    scales = {criterion.name.casefold(): criterion.scale for criterion in criteria}
    return [
        *_off_scale(seen.criteria, scales, set_name),
        *_against(seen.criteria),
        *_constant(seen.raters),
        *_repeated(seen.twice, len(seen.words)),
        *_long(seen.words),
    ]


def _add(seen: _Stories, story: Story) -> None:
    if story.text:
        seen.words[story.id] = len(story.text.split())
        first = seen.texts.setdefault(digest(story.text, 8), story.id)
        if first != story.id:
            seen.twice.append(f"{story.id} = {first}")
    by_criterion: dict[str, list[float]] = {}
    for rating in story.ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating.value)
        if rating.rater is not None:
            seen.raters.setdefault(rating.rater, Counter())[rating.value] += 1
    for criterion, values in by_criterion.items():
        its = seen.criteria.setdefault(criterion, _Seen())
        its.values.update(values)
        its.means[story.id] = math.fsum(values) / len(values)
        for value in values:
            its.first.setdefault(value, story.id)


def _off_scale(seen: Mapping[str, _Seen], scales: Mapping[str, Scale], set_name: str | None) -> Iterator[str]:
    for criterion, its in seen.items():
        scale = scales.get(criterion.casefold())
        total = its.values.total()
        if scale is None:
            apart = _apart(its.values)
            if apart:
                others = its.values.keys() - apart
                where = f"apart from the others ({min(others):g}-{max(others):g})"
                yield _sentence(its, apart, f"of {total:,} ratings of {criterion}", where)
            continue
        if scale.labels:
            continue
        outside = {value for value in its.values if value not in scale}
        if outside:
            whose = f"outside the scale {scale.min:g}-{scale.max:g}" + (f" of the set {set_name}" if set_name else "")
            yield _sentence(its, outside, f"of {total:,} ratings of {criterion}", whose)
        between = {value for value in its.values if value in scale and not scale.on_step(value)}
        # Of means most lie between the points.
        if between and 2 * sum(its.values[value] for value in between) < total:
            yield _sentence(its, between, f"of {total:,} ratings of {criterion}", "between the points of its scale")


def _sentence(its: _Seen, values: set[float], of: str, where: str) -> str:
    count = sum(its.values[value] for value in values)
    shown = ", ".join(f"{value:g} (story {its.first[value]})" for value in sorted(values)[:_SHOWN])
    return f"{count:,} {of} {'lies' if count == 1 else 'lie'} {where}: {shown}"


def _apart(values: Counter[float]) -> set[float]:
    """Few values that lie more than the width of all others away from these."""
    total, apart = values.total(), set()
    for candidate in (min(values), max(values)):
        others = values.keys() - {candidate}
        if len(others) < 2 or values[candidate] > max(1, _SLIPS * total):
            continue
        low, high = min(others), max(others)
        if candidate > high + (high - low) or candidate < low - (high - low):
            apart.add(candidate)
    return apart


def _against(seen: Mapping[str, _Seen]) -> Iterator[str]:
    names = list(seen)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            both = seen[first].means.keys() & seen[second].means.keys()
            if len(both) < LEAST_STORIES:
                continue
            order = sorted(both)
            try:
                r = correlation([seen[first].means[s] for s in order], [seen[second].means[s] for s in order])
            except StatisticsError:  # one of them is constant
                continue
            if round(r, 9) < AGAINST:
                yield (
                    f"people's {first} and {second} run against each other (r {r:.2f} over {len(both):,} stories): "
                    "is the scale of one reversed?"
                )


def _constant(raters: Mapping[str, Counter[float]]) -> Iterator[str]:
    for rater, values in raters.items():
        if len(values) == 1 and values.total() >= LEAST_RATINGS:
            yield f"{rater} gave one rating throughout: {next(iter(values)):g}, {values.total():,} times"


def _repeated(twice: Sequence[str], stories: int) -> Iterator[str]:
    if twice:
        shown = ", ".join(twice[:_SHOWN]) + (", ..." if len(twice) > _SHOWN else "")
        yield f"{len(twice):,} of {stories:,} stories have the text of an earlier one: {shown}"


def _long(words: Mapping[str, int]) -> Iterator[str]:
    middle = median(words.values()) if words else 0
    long = {story: count for story, count in words.items() if middle and count > TIMES_MEDIAN * middle}
    for story, count in sorted(long.items(), key=lambda item: -item[1])[:_SHOWN]:
        yield f"story {story} has {count:,} words, {count / middle:,.0f} times the median of {middle:,.0f}"
    if len(long) > _SHOWN:
        yield f"{len(long):,} stories are {TIMES_MEDIAN} times longer than the median of {middle:,.0f} words"
