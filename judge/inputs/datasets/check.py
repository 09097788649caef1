"""Counts of a dataset's stories, ratings and pairs in one pass, and the tables of `judge data check` made of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.base.estimate import Estimate
from judge.base.fingerprint import digest
from judge.base.late_pattern import late
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import PREFERRED, Pair, Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.faults import faults
from judge.version import __version__

# Detects damage in a text, such as lost bytes, that was already in the released file. The text is not changed.

# Kind of damage -> what shows it.
DAMAGE: Mapping[str, re.Pattern[str]] = {
    "control characters": late(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    "U+FFFD (lost bytes)": late("\ufffd"),
    # UTF-8 once read as Latin-1 or Windows-1252: the two-letter beginnings of what quotes, dashes and accents become.
    "mojibake": late("â€|Ã[\u0080-\u00bf\u0192\u201a\u2026\u2020\u2021]|Â[\u00a0-\u00bf]|ï¿½"),
    "HTML entities": late(r"&(?:[A-Za-z][A-Za-z0-9]{1,7}|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});"),
    "markup": late(r"</?[A-Za-z][^<>]{0,200}>|<\\newline>"),
    "chat debris": late(
        r"(?:^|\n|\s)(?:Assistant|Human|User|System)\s?:(?=\s|$)|###|<\|[A-Za-z_]+\|>|\[/?INST\]|<</?SYS>>"
    ),
}


# A text without any of these cannot match; looking for them first halves the time of a whole check.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "U+FFFD (lost bytes)": ("\ufffd",),
    "mojibake": ("â", "Ã", "Â", "ï"),
    "HTML entities": ("&",),
    "markup": ("<",),
    "chat debris": ("Assistant", "Human", "User", "System", "###", "<", "INST"),
}


def damage_in(text: str) -> list[str]:
    """Kinds of damage in a text, such as control characters or lost bytes, in the order of `DAMAGE`."""
    return [
        kind
        for kind, pattern in DAMAGE.items()
        if any(needed in text for needed in _NEEDED.get(kind, ("",))) and pattern.search(text)
    ]


@dataclass(slots=True)
class Moments:
    """Number, mean and sum of squared deviations of some numbers, updated by Welford's recurrence."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)

    @property
    def sd(self) -> float | None:
        """Standard deviation (n - 1 in the denominator); None for fewer than two numbers."""
        return math.sqrt(self.squares / (self.n - 1)) if self.n > 1 else None


@dataclass(slots=True)
class Seen:
    """Number of occurrences, and the story (or pair) of the first."""

    count: int = 0
    first: str = ""

    def add(self, example: str) -> None:
        self.first = self.first if self.count else example
        self.count += 1


@dataclass(slots=True)
class CriterionUse:
    """Use of one criterion: number of ratings by value, their mean and standard deviation, and number of rated
    stories."""

    values: Counter[float] = field(default_factory=Counter)
    moments: Moments = field(default_factory=Moments)
    stories: int = 0


@dataclass(slots=True)
class RaterUse:
    """One rater: all ratings (`given`), those that can be averaged (`ratings`), stories, and leniency: own rating minus
    the mean of others' of the same story and criterion, averaged where there are others. Above 0 = rates higher."""

    given: int = 0
    ratings: Moments = field(default_factory=Moments)
    stories: int = 0
    leniency: Moments = field(default_factory=Moments)


@dataclass(slots=True)
class PairUse:
    """Pairs that people compared: preferences, pairs `without` one, with different ones on one criterion (`split`), and
    with a story that is not in the dataset (`unknown`)."""

    count: int = 0
    preferences: Counter[str] = field(default_factory=Counter)
    without: Seen = field(default_factory=Seen)
    split: Seen = field(default_factory=Seen)
    unknown: Seen = field(default_factory=Seen)


@dataclass(slots=True)
class Check:
    """Counts from one pass over a dataset, filled by `check` and shown by `check_tables`.

    `unnamed` are ratings without a rater, `unrated` stories without a rating, `own_reference` stories that are their
    own reference story, `duplicates` stories with the text of an earlier one, and `rated_twice` stories that one rater
    rated more than once on a criterion. `prompts` are hashes of story-prompts; `words` per story are by system,
    `story_means` by system and criterion, and `damage` by kind and field. `left_out` are entries that the reader leaves
    out."""

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
    faults: list[str] = field(default_factory=list)
    """Sentences of `judge.inputs.datasets.faults`."""

    @property
    def rater_identity(self) -> str:
        """Text that says for how many ratings the rater is known."""
        if not self.ratings:
            return "no ratings"
        if self.dataset.labels_note:
            return "none, labels by construction"
        if not self.unnamed:
            return f"known ({len(self.raters)})"
        return "unknown" if self.unnamed == self.ratings else f"unknown for {self.unnamed} of {self.ratings} ratings"


def check(dataset: Dataset) -> Check:
    """Counts from one pass. Texts are not kept; memory grows by 20-100 bytes per story, for finding duplicates."""
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
    counts.faults = faults(dataset.stories())
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


# Tables of the counts made by `check`, as `judge data check` prints them.

# Distinct ratings beyond which a histogram in one cell cannot be read, as with sliders.
_MANY = 25


def check_tables(counts: Check) -> list[Table]:
    """Tables of a dataset's counts, use of the scale, systems, damaged texts and, if any is named, raters."""
    makers = [_counts, _scale_use, _systems, _check_tables_damage]
    tables = [make(counts) for make in makers]
    return [*tables, _check_tables_raters(counts)] if counts.raters and not counts.dataset.labels_note else tables


def _signature(counts: Check) -> str:
    parts = [
        f"{counts.dataset.name}:{counts.stories}",
        f"data:{counts.fingerprint}",
        f"raters:{counts.rater_identity}",
        f"v{__version__}",
    ]
    return "|".join(parts)


def _labels(counts: Check) -> list[str]:
    return [counts.dataset.labels_note] if counts.dataset.labels_note else []


def _counts(checked: Check) -> Table:
    promised = checked.dataset.expected
    counts = {
        "stories": checked.stories,
        "systems": len(checked.systems),
        "story_prompts": len(checked.prompts),
        "ratings": checked.ratings,
    }
    rows: list[dict[str, Any]] = [
        {"what": label.replace("_", "-"), "found": n, "promised": promised.get(label), "first": None}
        for label, n in counts.items()
    ]
    rows += [
        {"what": "stories without ratings", "found": checked.unrated},
        {"what": "stories without a reference story", "found": checked.without_reference},
        _seen("stories that are their own reference", checked.own_reference),
        _seen("stories with the text of an earlier one", checked.duplicates),
        {"what": "ratings without a rater's name", "found": checked.unnamed},
        _seen("criteria rated twice by one rater on one story", checked.rated_twice),
        *([{"what": "ratings with a comment", "found": checked.comments}] if checked.comments else []),
        *_pair_rows(checked),
        *({"what": f"left out: {label}", "found": count} for label, count in checked.left_out.items()),
    ]
    notes = [
        *_labels(checked),
        *([checked.dataset.licence_note] if checked.dataset.licence_note else []),
    ]
    notes += [f"Look at this: {fault}." for fault in checked.faults]
    notes += [f"The reader decodes {checked.dataset.decoded}."] if checked.dataset.decoded else []
    columns = plain("what", "found", "promised", "first")
    return Table(f"{checked.dataset.name}: counts", columns, rows, _signature(checked), notes)


def _pair_rows(counts: Check) -> list[dict[str, Any]]:
    if counts.pairs is None:
        return []
    use = counts.pairs
    return [
        {"what": "pairs", "found": use.count, "promised": counts.dataset.expected.get("pairs")},
        *({"what": f"preferences: {value}", "found": use.preferences[value]} for value in PREFERRED),
        _seen("pairs without a preference", use.without),
        _seen("pairs on which people differ", use.split),
        _seen("pairs that name a story that is not there", use.unknown),
    ]


def _seen(label: str, seen: Seen) -> dict[str, Any]:
    return {"what": label, "found": seen.count, "first": seen.first or None}


def _scale_use(counts: Check) -> Table:
    labels = counts.dataset.labels
    rows = [_use_row(counts, criterion, use, labels.of(criterion)) for criterion, use in counts.criteria.items()]
    columns = plain(
        "criterion",
        "ratings",
        ("missing", "stories without"),
        "min",
        "max",
        "mean",
        "sd",
        ("values", "value:times given"),
    )
    return Table(
        f"{counts.dataset.name}: scale use", columns, rows, _signature(counts), [*_scales(counts), *_labels(counts)]
    )


def _use_row(counts: Check, criterion: str, use: CriterionUse, scale: Scale | None) -> dict[str, Any]:
    # Labels without an order have no minimum, maximum, mean and standard deviation.
    row: dict[str, Any] = {
        "criterion": criterion,
        "ratings": use.moments.n,
        "missing": counts.stories - use.stories,
        "min": min(use.values),
        "max": max(use.values),
        "mean": use.moments.mean,
        "sd": use.moments.sd,
        "values": _histogram(use.values, scale),
    }
    if scale is not None and not scale.numeric:
        row |= dict.fromkeys(("min", "max", "mean", "sd"), _no_order(use.moments.n))
    return row


def _no_order(n: int) -> Estimate:
    return Estimate.undefined("undefined: its labels have no order", n)


def _scales(counts: Check) -> list[str]:
    # Points of a scale, or codes of labels.
    labels, scale = counts.dataset.labels, counts.dataset.scale
    scales = {criterion: labels.of(criterion) for criterion in counts.criteria}
    coded = dict.fromkeys(label_scale for label_scale in scales.values() if label_scale is not None)
    notes = [
        f"Numbers are the codes of labels: {', '.join(f'{w} {c}' for c, w in enumerate(s.labels))}." for s in coded
    ]
    if scale is not None and not scale.labels:
        notes.append(f"The scale is {scale.min:g} to {scale.max:g}.")
    elif None in scales.values() or not scales:
        notes.append("The file does not say what the scale is.")
    return notes


def _histogram(values: dict[float, int], scale: Scale | None) -> str:
    if scale is not None:
        return " ".join(f"{scale.label_of(value) or f'{value:g}'}:{n}" for value, n in sorted(values.items()))
    if len(values) > _MANY:
        return f"{len(values)} distinct values"
    return " ".join(f"{value:g}:{times}" for value, times in sorted(values.items()))


def _systems(counts: Check) -> Table:
    rows: list[dict[str, Any]] = []
    for system, stories in counts.systems.items():
        base = {"system": system, "stories": stories, "words": counts.words[system].mean}
        rated = [c for c in counts.criteria if (system, c) in counts.story_means]
        if not rated:
            nothing = Estimate.undefined("no rater rated this system's stories")
            rows.append({**base, "criterion": None, "rated": 0, "mean": nothing, "sd": nothing})
        for criterion in rated:
            means = counts.story_means[system, criterion]
            scale = counts.dataset.labels.of(criterion)
            none = _no_order(means.n) if scale is not None and not scale.numeric else None
            spread = {"mean": none or means.mean, "sd": none or _sd(means)}
            rows.append({**base, "criterion": criterion, "rated": means.n, **spread})
    columns = plain("system", "stories", Column("words", "words", 0), "criterion", "rated", "mean", "sd")
    notes = [
        "Mean and sd (n - 1) are over stories, each story's ratings averaged first. Words are counted between blanks.",
        *_labels(counts),
    ]
    return Table(f"{counts.dataset.name}: systems", columns, rows, _signature(counts), notes)


def _sd(moments: Moments) -> Estimate | float:
    return moments.sd if moments.sd is not None else Estimate.undefined("one story has no spread", moments.n)


def _check_tables_damage(counts: Check) -> Table:
    rows: list[dict[str, Any]] = [
        {"damage": kind, "column": column, "stories": seen.count, "first": seen.first}
        for (kind, column), seen in sorted(counts.damage.items())
    ]
    columns = plain("damage", ("column", "in"), "stories", ("first", "first story"))
    notes = ["Texts are judged as they are; nothing is mended."] if rows else ["No damage was found in any text."]
    return Table(f"{counts.dataset.name}: text damage", columns, rows, _signature(counts), notes)


def _check_tables_raters(counts: Check) -> Table:
    rows: list[dict[str, Any]] = []
    for rater, use in sorted(counts.raters.items(), key=lambda item: (-item[1].given, item[0])):
        alone = Estimate.undefined("no other rater rated the same stories")
        rows.append(
            {
                "rater": rater,
                "n": use.given,
                "stories": use.stories,
                "mean": use.ratings.mean if use.ratings.n else _no_order(0),
                "sd": _sd(use.ratings) if use.ratings.n > 1 else Estimate.undefined("one rating has no spread", 1),
                "leniency": Estimate(use.leniency.mean, use.leniency.n) if use.leniency.n else alone,
            }
        )
    columns = plain("rater", "n", "stories", "mean", "sd", "leniency")
    notes = [
        "Leniency: mean of a rating minus the other raters' mean on the same story and criterion; above 0 rates higher."
    ]
    return Table(f"{counts.dataset.name}: raters", columns, rows, _signature(counts), notes)
