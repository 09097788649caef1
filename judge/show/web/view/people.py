"""People's preference within a pair of stories: their verdicts or, without these, implied by mean ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.answers.journal import JournalReader

_LEAD = {"first": 1, "second": -1, "tie": 0}
# Means of ratings are floats: two that are equal may differ in their last bits.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Preferred:
    """People's preferences and mean ratings in one journal. `leads` is, by criterion and pair, people who prefer the
    first minus those who prefer the second. `means` is by (criterion, story id)."""

    leads: Mapping[str, Mapping[tuple[str, str], int]]
    means: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, journal: JournalReader) -> Preferred:
        leads: dict[str, dict[tuple[str, str], int]] = {}
        for pair in journal.preferences():
            for given in pair.preferences:
                by_pair = leads.setdefault(given.criterion, {})
                by_pair[pair.first, pair.second] = by_pair.get((pair.first, pair.second), 0) + _LEAD[given.value]
        return cls(leads, journal.mean_ratings())

    def lead(self, criterion: str, first: str, second: str) -> int | None:
        """1 where people prefer the first story, -1 the second, 0 neither; None where unknown."""
        if self.leads:
            by_pair = self.leads[named] if (named := beside(criterion, self.leads)) is not None else {}
            counts = [by_pair.get((first, second)), _turned(by_pair.get((second, first)))]
            defined = [count for count in counts if count is not None]
            return _sign(sum(defined)) if defined else None
        means = self.implied(criterion, first, second)
        return None if means is None else _sign(means[0] - means[1])

    def implied(self, criterion: str, first: str, second: str) -> tuple[float, float] | None:
        """Mean ratings of both stories on a judge's criterion; None where one is missing."""
        named = beside(criterion, dict.fromkeys(name for name, _ in self.means))
        if named is None or not {(named, first), (named, second)} <= self.means.keys():
            return None
        return self.means[named, first], self.means[named, second]


def beside(criterion: str, names_there: Iterable[str]) -> str | None:
    """The human criterion of the same name, else the only one, else None."""
    names = list(names_there)
    same = [name for name in names if name.casefold() == criterion.casefold()]
    return same[0] if same else names[0] if len(names) == 1 else None


def _turned(count: int | None) -> int | None:
    return None if count is None else -count


def _sign(value: float) -> int:
    return 0 if abs(value) < _SAME else 1 if value > 0 else -1
