"""People's preference within a pair of stories: from their own verdicts or, without these, implied by their mean
ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.answers.journal import JournalReader

_LEAD = {"first": 1, "second": -1, "tie": 0}
# Means of ratings are floats: two that are equal may differ in their last bits.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Preferred:
    """People's preferences and mean ratings, read from one journal.

    `leads` maps a criterion and then a pair of story ids to the number of people who prefer the first story minus the
    number who prefer the second. `means` maps (criterion, story id) to the mean rating.
    """

    leads: Mapping[str, Mapping[tuple[str, str], int]]
    means: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, journal: JournalReader) -> Preferred:
        """People's preferences and mean ratings, read from a journal."""
        leads: dict[str, dict[tuple[str, str], int]] = {}
        for pair in journal.preferences():
            for given in pair.preferences:
                by_pair = leads.setdefault(given.criterion, {})
                by_pair[pair.first, pair.second] = by_pair.get((pair.first, pair.second), 0) + _LEAD[given.value]
        return cls(leads, journal.mean_ratings())

    def lead(self, criterion: str, first: str, second: str) -> int | None:
        """People's preference between two stories on a judge's criterion: 1 where they prefer the first story, -1 where
        they prefer the second, 0 where they prefer neither. None where their preference is unknown.
        """
        if self.leads:
            by_pair = self.leads[named] if (named := beside(criterion, self.leads)) is not None else {}
            counts = [by_pair.get((first, second)), _turned(by_pair.get((second, first)))]
            defined = [count for count in counts if count is not None]
            return _sign(sum(defined)) if defined else None
        means = self.implied(criterion, first, second)
        return None if means is None else _sign(means[0] - means[1])

    def implied(self, criterion: str, first: str, second: str) -> tuple[float, float] | None:
        """People's mean ratings of the first and of the second story on a judge's criterion; None where a mean is
        missing.
        """
        named = beside(criterion, dict.fromkeys(name for name, _ in self.means))
        if named is None or not {(named, first), (named, second)} <= self.means.keys():
            return None
        return self.means[named, first], self.means[named, second]


def beside(criterion: str, names_there: Iterable[str]) -> str | None:
    """The human criterion with which a judge's criterion is compared: the one with the same name. If there is none, it
    is the human criterion if there is only one, else None. `names_there` are the names of the human criteria.
    """
    names = list(names_there)
    same = [name for name in names if name.casefold() == criterion.casefold()]
    return same[0] if same else names[0] if len(names) == 1 else None


def _turned(count: int | None) -> int | None:
    return None if count is None else -count


def _sign(value: float) -> int:
    return 0 if abs(value) < _SAME else 1 if value > 0 else -1
