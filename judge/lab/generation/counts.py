"""Numbers of stories with each fault, by system, for generated stories and for any dataset."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from judge.base.records import Story
from judge.lab.generation.faults import Fault, faults_of
from judge.lab.generation.near_duplicates import near_duplicates
from judge.lab.generation.stories import STATUSES, Status, Written


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """Counts for one system's stories: stories, mean words per story, stories with each fault, and pairs of
    near-duplicates.

    `announced` counts stories that begin with an introductory remark or with "Title: ...". `words` is None without
    texts.
    """

    system: str
    stories: int
    words: float | None
    faults: Counter[Fault]
    announced: int
    pairs: int


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """Number of requests for stories to one system (`asked`), and number of them with each status (such as `ok`, `cut`
    or `refused`).
    """

    system: str
    asked: int
    statuses: Counter[Status]


def counted(stories: Iterable[Story]) -> list[SystemCounts]:
    """Counts for the stories of any dataset, one for each system, in the order in which systems first appear."""
    by_system: dict[str, list[tuple[str, tuple[Fault, ...]]]] = defaultdict(list)
    for story in stories:
        by_system[story.system].append((story.text, faults_of(story.text, story.story_prompt)))
    return [_of_system(system, texts) for system, texts in by_system.items()]


def counted_written(stories: Sequence[Written]) -> list[SystemCounts]:
    """Counts for all generated stories that have a text, one for each system. Faulty stories are included."""
    by_system: dict[str, list[tuple[str, tuple[Fault, ...]]]] = defaultdict(list)
    for story in stories:
        if story.text.strip():
            by_system[story.system].append((story.text, story.faults))
    return [_of_system(system, texts) for system, texts in by_system.items()]


def statuses(stories: Sequence[Written]) -> list[StatusCounts]:
    """Numbers of requests for stories with each status (such as `ok`, `cut` or `refused`), by system."""
    by_system: dict[str, list[Written]] = defaultdict(list)
    for story in stories:
        by_system[story.system].append(story)
    return [
        StatusCounts(system, len(group), Counter(dict.fromkeys(STATUSES, 0)) + Counter(o.status for o in group))
        for system, group in by_system.items()
    ]


def _of_system(system: str, texts: Sequence[tuple[str, tuple[Fault, ...]]]) -> SystemCounts:
    texts_written = [text for text, _ in texts if text.strip()]
    return SystemCounts(
        system,
        len(texts),
        fmean(len(text.split()) for text in texts_written) if texts_written else None,
        Counter(fault for _, faults in texts for fault in faults),
        sum("preamble" in faults or "title" in faults for _, faults in texts),
        len(near_duplicates([text for text, _ in texts])),
    )
