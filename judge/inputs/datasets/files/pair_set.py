"""Pairs of stories from single preferences. Each occurs once, whoever compared them in whatever order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Pair, Preference, Preferred

# A preference, where the two stories change places.
TURNED: dict[Preferred, Preferred] = {"first": "second", "second": "first", "tie": "tie"}


@dataclass(slots=True)
class _NewPair:
    id: str
    story_prompt: str
    preferences: list[Preference] = field(default_factory=list)


@dataclass(slots=True)
class PairSet:
    """A file's compared pairs, in the order in which each was first added."""

    path: Path
    _made: dict[tuple[str, str], _NewPair] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def add(
        self,
        first: str,
        second: str,
        story_prompt: str,
        preference: Preference | None,
        row: int,
        name: str | None = None,
    ) -> None:
        """Add one comparison of two stories by id. `name` is the pair's id (None = made of the stories' ids). Raises
        DataError for a story compared with itself, another pair with the id, or a person's second preference on a pair
        and criterion."""
        if first == second:
            raise DataError("a story is compared with itself", file=self.path, row=row, found=first)
        if (second, first) in self._made:
            first, second = second, first
            if preference is not None:
                preference = Preference(preference.criterion, TURNED[preference.value], preference.rater)
        pair = self._made.get((first, second))
        if pair is None:
            name = name or f"{first}~{second}"
            if name in self._ids:
                raise DataError("the id is used for another pair too", file=self.path, row=row, column="id", found=name)
            self._ids.add(name)
            pair = self._made[first, second] = _NewPair(name, story_prompt)
        if preference is None:
            return
        judged = {(earlier.criterion, earlier.rater) for earlier in pair.preferences if earlier.rater is not None}
        if (preference.criterion, preference.rater) in judged:
            message = f"rater {preference.rater!r} compared these stories on {preference.criterion} before"
            raise DataError(message, file=self.path, row=row, found=pair.id)
        pair.preferences.append(preference)

    def add_ranking(
        self, places: Sequence[Sequence[str]], story_prompt: str, criterion: str, rater: str | None, row: int
    ) -> None:
        """Add all pairs of a ranking, best first, with tied stories in one inner list. A pair is ordered by ids, which
        does not reveal the ranking."""
        ranked = [(story, rank) for rank, tied in enumerate(places) for story in tied]
        for (better, its), (other, others) in combinations(ranked, 2):
            value: Preferred = "tie" if its == others else "first"
            if better <= other:
                self.add(better, other, story_prompt, Preference(criterion, value, rater), row)
            else:
                self.add(other, better, story_prompt, Preference(criterion, TURNED[value], rater), row)

    def pairs(self) -> Iterator[Pair]:
        """The pairs in the order of their first appearance."""
        for (first, second), pair in self._made.items():
            yield Pair(pair.id, pair.story_prompt, first, second, tuple(pair.preferences))
