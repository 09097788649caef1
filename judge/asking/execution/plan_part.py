"""A shard i/N of a run's plan, for a process that runs only this part. Stories sorted by story-prompt (or the pairs, in
their order) are cut into nearly equal parts, so that only a boundary separates stories of one prompt. Each process
computes its part without communication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.answers.journal import JournalReader
from judge.asking.plan.pairs import Planned
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import SHARDS
from judge.base.errors import SpecError
from judge.base.late_pattern import late
from judge.base.records import Story
from judge.base.wording import Advice
from judge.inputs.datasets import Dataset

_WORDS = late(r"([0-9]{1,6})/([0-9]{1,6})")
_NAME = late(r"([0-9]{1,6})-of-([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Part `number` (from 1) of a plan's first `limit` stories or pairs (None: all)."""

    number: int
    shard_count: int
    limit: int | None = None

    def __str__(self) -> str:
        return f"{self.number}/{self.shard_count}"

    @classmethod
    def parse(cls, words: str, limit: int | None = None) -> PlanPart:
        """The part that is written as i/N; SpecError for any other form."""
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
        """Fraction of rate limits and budget for this part; fixed, since parts do not communicate."""
        return 1 / self.shard_count

    def record(self) -> dict[str, int | None]:
        """This part as stored in the journal."""
        return {"number": self.number, "of": self.shard_count, "limit": self.limit}

    def folder(self, result: ResultFolder) -> ResultFolder:
        """Result folder for this part's answers, inside the whole plan's."""
        return ResultFolder(result.path / SHARDS / f"{self.number}-of-{self.shard_count}")

    def stories(self, dataset: Dataset) -> Iterator[Story]:
        """The stories of this part of the plan, in the dataset's order."""
        mine = self._places([story.story_prompt for story in dataset.stories()], "stories")
        return (story for index, story in enumerate(dataset.stories()) if index in mine)

    def among(self, wanted: Sequence[Story]) -> Iterator[Story]:
        """The elements of `wanted` (one for each story to be written) in this part."""
        mine = self._places([story.story_prompt for story in wanted], "story-prompts")
        return (story for index, story in enumerate(wanted) if index in mine)

    def _places(self, prompts: Sequence[str], unit: str) -> set[int]:
        order = sorted(range(len(prompts)), key=lambda place: (prompts[place], place))[: self.limit]
        first, end = self._cut(len(order), unit)
        return set(order[first:end])

    def comparisons(self, planned: Sequence[Planned]) -> list[Planned]:
        """This part's comparisons, in their order. Both orders of a pair stay together."""
        numbers = sorted({comparison.number for comparison in planned})[: self.limit]
        first, end = self._cut(len(numbers), "pairs")
        mine = set(numbers[first:end])
        return [comparison for comparison in planned if comparison.number in mine]

    def _cut(self, count: int, unit: str) -> tuple[int, int]:
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
    """(number, number of parts, folder) of each part begun in a result folder, sorted by number of parts and number."""
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
    """The part that a result folder holds; None where it holds a whole plan."""
    if not result.journal.is_file():
        return None
    with JournalReader(result.journal) as journal:
        kept = (journal.meta().get("definition") or {}).get("shard")
    # The journal's own words: `of` is the number of parts.
    return PlanPart(kept["number"], kept["of"], kept.get("limit")) if kept else None


def whole_of(part: ResultFolder) -> ResultFolder:
    return ResultFolder(part.path.parent.parent)
