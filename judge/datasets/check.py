"""Counts of a dataset's stories, ratings and pairs in one pass, for the tables of `judge data check`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from judge.datasets.dataset import Dataset
from judge.datasets.files.text_damage import damage_in
from judge.fingerprint import digest
from judge.records import Pair, Rating, Story


@dataclass(slots=True)
class Moments:
    """Running number, mean and standard deviation (n - 1 in the denominator) of numbers, by Welford's recurrence."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Take one number in."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)

    @property
    def sd(self) -> float | None:
        """Standard deviation; None for fewer than two numbers."""
        return math.sqrt(self.squares / (self.n - 1)) if self.n > 1 else None


@dataclass(slots=True)
class Seen:
    """Number of occurrences of a value, and the story of the first occurrence."""

    count: int = 0
    first: str = ""

    def add(self, example: str) -> None:
        """Count one more occurrence, in the story `example`."""
        self.first = self.first if self.count else example
        self.count += 1


@dataclass(slots=True)
class CriterionUse:
    """The ratings of one criterion: how often each value was given, and how many stories have any."""

    values: Counter[float] = field(default_factory=Counter)
    moments: Moments = field(default_factory=Moments)
    stories: int = 0


@dataclass(slots=True)
class RaterUse:
    """Counts for one rater: ratings `given`, ratings that can be averaged, stories rated, and leniency.

    Leniency is the mean, over the ratings of this rater that others accompany, of the rating minus the mean of the
    others' ratings of the same story and criterion. Above 0 = rates higher than the others did.
    """

    given: int = 0
    ratings: Moments = field(default_factory=Moments)
    stories: int = 0
    leniency: Moments = field(default_factory=Moments)


@dataclass(slots=True)
class PairUse:
    """Counts of the pairs that people compared: how many, how often each preference was given, and how many cannot be
    used.

    `split` are pairs of whose preferences two differ on one criterion; `unknown` name a story that is not there.
    """

    count: int = 0
    preferences: Counter[str] = field(default_factory=Counter)
    without: Seen = field(default_factory=Seen)
    split: Seen = field(default_factory=Seen)
    unknown: Seen = field(default_factory=Seen)


@dataclass(slots=True)
class Check:
    """Counts of one pass. Filled by `check`, read by `check_tables`."""

    dataset: Dataset
    fingerprint: str
    stories: int = 0
    ratings: int = 0
    unnamed: int = 0
    unrated: int = 0
    without_reference: int = 0
    own_reference: Seen = field(default_factory=Seen)
    duplicates: Seen = field(default_factory=Seen)
    rated_twice: Seen = field(default_factory=Seen)
    systems: Counter[str] = field(default_factory=Counter)
    prompts: set[bytes] = field(default_factory=set)
    words: dict[str, Moments] = field(default_factory=dict)
    criteria: dict[str, CriterionUse] = field(default_factory=dict)
    story_means: dict[tuple[str, str], Moments] = field(default_factory=dict)
    raters: dict[str, RaterUse] = field(default_factory=dict)
    damage: dict[tuple[str, str], Seen] = field(default_factory=dict)
    comments: int = 0
    pairs: PairUse | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def rater_identity(self) -> str:
        """Whether the ratings name their raters, in words."""
        if not self.ratings:
            return "no ratings"
        if self.dataset.labels_note:
            return "none, labels by construction"
        if not self.unnamed:
            return f"known ({len(self.raters)})"
        return "unknown" if self.unnamed == self.ratings else f"unknown for {self.unnamed} of {self.ratings} ratings"


def check(dataset: Dataset) -> Check:
    """Read every story once. Memory grows by some 20-100 bytes a story, for finding duplicates; texts are not kept."""
    counts = Check(dataset, dataset.fingerprint())
    texts: dict[bytes, str] = {}
    ids: set[bytes] = set()
    for story in dataset.stories():
        counts.stories += 1
        counts.systems[story.system] += 1
        if story.story_prompt:
            counts.prompts.add(digest(story.story_prompt, 8))
        counts.words.setdefault(story.system, Moments()).add(len(story.text.split()))
        first = texts.setdefault(digest(story.text, 8), story.id)
        if first != story.id:
            counts.duplicates.add(f"{story.id} = {first}")
        if story.reference is None:
            counts.without_reference += 1
        elif story.reference == story.text:
            counts.own_reference.add(story.id)
        _damage(counts, story)
        _ratings(counts, story)
        ids.add(digest(story.id, 8))
    if dataset.pairs is not None:
        counts.pairs = _pairs(dataset.pairs(), ids)
    counts.left_out = dataset.left_out() if dataset.left_out is not None else {}
    return counts


def _pairs(pairs: Iterable[Pair], ids: set[bytes]) -> PairUse:
    use = PairUse()
    for pair in pairs:
        use.count += 1
        use.preferences.update(given.value for given in pair.preferences)
        values_by_criterion: dict[str, set[str]] = {}
        for given in pair.preferences:
            values_by_criterion.setdefault(given.criterion, set()).add(given.value)
        if not pair.preferences:
            use.without.add(pair.id)
        if any(len(values) > 1 for values in values_by_criterion.values()):
            use.split.add(pair.id)
        if not all(digest(story, 8) in ids for story in (pair.first, pair.second)):
            use.unknown.add(pair.id)
    return use


def _damage(counts: Check, story: Story) -> None:
    for column in ("text", "story_prompt", "reference"):
        for kind in damage_in(getattr(story, column) or ""):
            counts.damage.setdefault((kind, column), Seen()).add(story.id)


def _ratings(counts: Check, story: Story) -> None:
    counts.ratings += len(story.ratings)
    counts.comments += sum(rating.comment is not None for rating in story.ratings)
    counts.unrated += not story.ratings
    by_criterion: dict[str, list[Rating]] = {}
    for rating in story.ratings:
        by_criterion.setdefault(rating.criterion, []).append(rating)
        counts.unnamed += rating.rater is None
    for criterion, ratings in by_criterion.items():
        use = counts.criteria.setdefault(criterion, CriterionUse())
        use.stories += 1
        for rating in ratings:
            use.values[rating.value] += 1
            use.moments.add(rating.value)
        mean = math.fsum(r.value for r in ratings) / len(ratings)
        counts.story_means.setdefault((story.system, criterion), Moments()).add(mean)
        _raters(counts, story.id, ratings)
    for rater in {r.rater for r in story.ratings if r.rater is not None}:
        counts.raters[rater].stories += 1


def _raters(counts: Check, story: str, ratings: Iterable[Rating]) -> None:
    ratings = list(ratings)
    named = Counter((r.rater, r.panel) for r in ratings if r.rater is not None)
    for (rater, _), times in named.items():
        if times > 1:
            counts.rated_twice.add(f"{story}, {rater}")
    for rating in ratings:
        if rating.rater is None:
            continue
        use = counts.raters.setdefault(rating.rater, RaterUse())
        use.given += 1
        scale = counts.dataset.labels.of(rating.criterion)
        if scale is not None and not scale.numeric:
            continue
        use.ratings.add(rating.value)
        others = [r.value for r in ratings if r.rater != rating.rater]
        if others:
            use.leniency.add(rating.value - math.fsum(others) / len(others))
