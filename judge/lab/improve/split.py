"""Split of a run's story-prompts into parts that write candidates, choose among them, and test the winner.

The unit is the story-prompt by its normalised text, with near-duplicates joined: stories of one story-prompt never lie
in two parts. With `WHOLE` story-prompts or more the parts are 20 / 30 / 50 per cent; with fewer, 20 per cent write the
candidates and the rest is halved, each half choosing the prompt that the other tests (a swap).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.base.errors import SpecError
from judge.base.fingerprint import digest
from judge.base.records import Story
from judge.inputs import story_prompts

Design = Literal["split", "swap"]
FEWEST, WHOLE = 20, 100
_TRAIN, _SELECT = 0.2, 0.3


@dataclass(frozen=True, slots=True)
class Split:
    """Parts of the story-prompts, each a tuple of groups, and each group the ids of its stories.

    `chooses` and `tests` are parallel: with a swap they are the two halves and the two halves the other way round.
    `keys` are the keys of all story-prompts of a group (`story_prompts.key_of`), by the group's first story.
    """

    design: Design
    seed: int
    train: tuple[tuple[str, ...], ...]
    chooses: tuple[tuple[tuple[str, ...], ...], ...]
    tests: tuple[tuple[tuple[str, ...], ...], ...]
    keys: Mapping[str, tuple[str, ...]]

    @property
    def story_prompts(self) -> int:
        """Number of story-prompts of test; of a swap, of both halves."""
        return sum(len(part) for part in self.tests)

    @property
    def test_keys(self) -> list[str]:
        """Keys of the story-prompts of test, sorted: by them uses of a test part are counted."""
        return sorted({key for part in self.tests for group in part for key in self.keys[group[0]]})

    def record(self) -> dict[str, Any]:
        """The split as plain data."""
        return {
            "design": self.design,
            "seed": self.seed,
            "train": self.train,
            "chooses": self.chooses,
            "tests": self.tests,
            "keys": dict(self.keys),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Split:
        """The split of a `record`."""
        parts = {key: tuple(map(_part, record[key])) for key in ("chooses", "tests")}
        keys = {story: tuple(names) for story, names in record["keys"].items()}
        return cls(record["design"], record["seed"], _part(record["train"]), parts["chooses"], parts["tests"], keys)


def _part(groups: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group) for group in groups)


def split(stories: Sequence[Story], *, seed: int = 1, design: Design | None = None) -> Split:
    """The split of these stories, the same for the same texts whatever their order.

    `design` None = by the number of story-prompts. A story without a story-prompt is a group of its own. Raises
    SpecError with fewer than 20 story-prompts.
    """
    numbers = story_prompts.groups_of(story.story_prompt for story in stories if story.story_prompt.strip())
    members: dict[Any, list[Story]] = defaultdict(list)
    for story in stories:
        number = numbers.get(story.story_prompt)
        members[("", story.id) if number is None else number].append(story)
    if len(members) < FEWEST:
        raise SpecError(
            f"rated stories of {len(members)} story-prompts show no gain; {FEWEST} is the fewest",
            hint=f"have stories of {FEWEST - len(members)} more story-prompts rated (judge people), better of {WHOLE}",
        )

    def place(group: list[Story]) -> bytes:
        text = min(story_prompts.normalised(story.story_prompt) or story.id for story in group)
        return digest(f"{seed}\0{text}", 16)

    ordered = sorted(members.values(), key=place)
    groups = [tuple(sorted(story.id for story in group)) for group in ordered]
    keys = {ids[0]: _keys(group) for ids, group in zip(groups, ordered, strict=True)}
    train = round(_TRAIN * len(groups))
    made: Design = design or ("split" if len(groups) >= WHOLE else "swap")
    cut = train + (round(_SELECT * len(groups)) if made == "split" else (len(groups) - train) // 2)
    first, second = tuple(groups[train:cut]), tuple(groups[cut:])
    if made == "split":
        return Split(made, seed, tuple(groups[:train]), (first,), (second,), keys)
    return Split(made, seed, tuple(groups[:train]), (first, second), (second, first), keys)


def _keys(group: Sequence[Story]) -> tuple[str, ...]:
    named = {story_prompts.key_of(story.story_prompt) or digest(f"story\0{story.id}", 8).hex() for story in group}
    return tuple(sorted(named))
