"""One of several parts of a run's plan (a shard i/N), for a process that runs only this part.

The plan's stories are sorted by story-prompt and cut into parts of nearly equal length; in a run that compares, the
plan's pairs are cut in their order. Stories of one story-prompt are thus separated only at a boundary between parts.
Each process computes its part without communication.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.answers.journal import JournalReader
from judge.asking.plan.pairs import Planned
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import SHARDS
from judge.base.errors import SpecError
from judge.base.records import Story
from judge.base.wording import Advice
from judge.inputs.datasets import Dataset

_WORDS = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_NAME = re.compile(r"([0-9]{1,6})-of-([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Part `number` (from 1) of the `shard_count` parts into which a plan is divided. Only the plan's first `limit`
    stories or pairs are divided; None: all.
    """

    number: int
    shard_count: int
    limit: int | None = None

    def __str__(self) -> str:
        return f"{self.number}/{self.shard_count}"

    @classmethod
    def parse(cls, words: str, limit: int | None = None) -> PlanPart:
        """The part of a plan that is written as i/N on the command line; SpecError for any other form."""
        match = _WORDS.fullmatch(words.strip())
        number, shard_count = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= shard_count:
            raise SpecError(
                Advice("{shard} is none of 1/N to N/N", shard=words),
                hint=Advice("e.g. {shard}, the third of sixteen", shard="3/16"),
            )
        return cls(number, shard_count, limit)

    @property
    def share(self) -> float:
        """Fraction of the run's rate limits and budget that this part may use. It is fixed, since parts do not
        communicate.
        """
        return 1 / self.shard_count

    def record(self) -> dict[str, int | None]:
        """This part of the plan as a dict, as stored in the journal."""
        return {"number": self.number, "of": self.shard_count, "limit": self.limit}

    def folder(self, result: ResultFolder) -> ResultFolder:
        """Result folder for the answers to this part of the plan, inside the result folder of the whole plan."""
        return ResultFolder(result.path / SHARDS / f"{self.number}-of-{self.shard_count}")

    def stories(self, dataset: Dataset) -> Iterator[Story]:
        """The stories of this part of the plan, in the dataset's order."""
        mine = self._places([story.story_prompt for story in dataset.stories()], "stories")
        return (story for index, story in enumerate(dataset.stories()) if index in mine)

    def among(self, wanted: Sequence[Story]) -> Iterator[Story]:
        """The elements of `wanted` that belong to this part of the plan. `wanted` has one element for each story to be
        written.
        """
        mine = self._places([story.story_prompt for story in wanted], "story-prompts")
        return (story for index, story in enumerate(wanted) if index in mine)

    def _places(self, prompts: Sequence[str], unit: str) -> set[int]:
        """Indices of the elements of `prompts` that belong to this part of the plan. `prompts` holds the story-prompt
        of each story of the plan, and `unit` names the elements in the error message.
        """
        order = sorted(range(len(prompts)), key=lambda place: (prompts[place], place))[: self.limit]
        first, end = self._cut(len(order), unit)
        return set(order[first:end])

    def comparisons(self, planned: Sequence[Planned]) -> list[Planned]:
        """The comparisons that belong to this part of the plan, in their order. Both orders of a pair stay together."""
        numbers = sorted({comparison.number for comparison in planned})[: self.limit]
        first, end = self._cut(len(numbers), "pairs")
        mine = set(numbers[first:end])
        return [comparison for comparison in planned if comparison.number in mine]

    def _cut(self, count: int, unit: str) -> tuple[int, int]:
        """(start, end) of this part in a list of `count` stories or pairs; `end` is excluded. SpecError where there are
        more parts than elements.

        `unit` names the elements in the error message.
        """
        if self.shard_count > count:
            raise SpecError(
                Advice(
                    "{shard}: the plan has {} {}, too few for {} parts", count, unit, self.shard_count, shard=str(self)
                ),
                hint=f"take {count} parts at most",
            )
        first, end = (count * number // self.shard_count for number in (self.number - 1, self.number))
        return first, end


def parts_in(result: ResultFolder) -> list[tuple[int, int, ResultFolder]]:
    """(number, number of parts, folder) of each part of a plan that was begun in a result folder, sorted by number of
    parts and number.
    """
    try:
        folders = list((result.path / SHARDS).iterdir())
    except OSError:
        return []
    named = [(_NAME.fullmatch(folder.name), ResultFolder(folder)) for folder in folders]
    return sorted(
        ((int(name[1]), int(name[2]), folder) for name, folder in named if name and folder.journal.is_file()),
        key=lambda part: (part[1], part[0]),
    )


def part_of(result: ResultFolder) -> PlanPart | None:
    """The part of a plan that a result folder holds; None where it holds a whole plan."""
    if not result.journal.is_file():
        return None
    with JournalReader(result.journal) as journal:
        kept = (journal.meta().get("definition") or {}).get("shard")
    # The journal's own words: `of` is the number of parts.
    return PlanPart(kept["number"], kept["of"], kept.get("limit")) if kept else None


def whole_of(part: ResultFolder) -> ResultFolder:
    """Result folder of the whole plan, given the result folder of one of its parts."""
    return ResultFolder(part.path.parent.parent)
