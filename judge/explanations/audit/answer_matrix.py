"""The answers of an audit as arrays of items x annotators; NaN: the annotator has not finished the item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError, unknown, unknown_value
from judge.explanations.audit.adjudication import disputes
from judge.explanations.audit.items import Category, Item
from judge.explanations.audit.store import AuditSnapshot
from judge.inputs.perturbations.perturbation import PerturbedName
from judge.ratings.ratings_table import perturbed_names

Floats = NDArray[np.float64]

# By what rates can be told apart.
LEVELS = (
    "judge",
    "eval_prompt",
    "criterion",
    "system",
    "rating",
    "cluster",
    "topic",
    "stratum",
    "dataset",
    "run",
    "perturbation",
)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """Answers of annotators who finished an item, as arrays.

    `given` maps a category to (items, annotators) of 1 (error), 0 or NaN (not finished); `final` to (items,): the
    settled answer, else the common one, NaN if there is neither. `settled` and `open` count (item, category) pairs with
    a difference, over all annotators of the audit. `weight` (items,) is the number of explanations that an item
    represents, NaN if not known. `story` (items,) numbers the clusters of all intervals; an item without a known story
    has a number of its own. `begun` counts (annotator, item) pairs that are not finished and hence not counted.
    """

    items: tuple[Item, ...]
    annotators: tuple[str, ...]
    categories: tuple[Category, ...]
    given: dict[str, Floats]
    final: dict[str, Floats]
    settled: int
    open: int
    weight: Floats
    story: NDArray[np.int64]
    begun: int

    def share(self, key: str) -> Floats:
        """Share of each item's annotators who see the error; NaN if nobody finished the item."""
        return _ratio((self.given[key] == 1).sum(axis=1), self.raters)

    @property
    def raters(self) -> NDArray[np.int64]:
        """Number of annotators who finished each item, one number for each item."""
        return np.asarray((~np.isnan(self.given[self.categories[0].key])).sum(axis=1), dtype=np.int64)

    @property
    def finishers(self) -> int:
        """Number of annotators who finished at least one item."""
        return int((~np.isnan(self.given[self.categories[0].key])).any(axis=0).sum())

    def levels(self, variable: str) -> list[str | None]:
        """Each item's value of a variable, e.g. the judge; None if not known. SpecError for an unknown variable."""
        if variable not in LEVELS:
            raise unknown_value("by", variable, LEVELS)
        if variable == "perturbation":
            changed = _changed(self.items)
            return [changed[item.id].done if item.id in changed else None for item in self.items]
        return [_level(item, variable) for item in self.items]


def answered(audit: AuditSnapshot, annotators: Sequence[str] = ()) -> Answered:
    """Answers of all annotators or of those named, as arrays. Raises SpecError for a name without answers."""
    all_annotators = audit.annotation.annotators
    for name in annotators:
        if name not in all_annotators:
            raise SpecError(unknown("annotator", name, all_annotators))
    names = tuple(name for name in all_annotators if not annotators or name in annotators)
    items = audit.items
    row = {item.id: i for i, item in enumerate(items)}
    column = {name: j for j, name in enumerate(names)}
    given = {c.key: np.full((len(items), len(names)), np.nan) for c in audit.categories}
    begun = set()
    for answer in audit.annotation.answers:
        if answer.annotator not in column:
            continue
        if answer.done:
            given[answer.category][row[answer.item], column[answer.annotator]] = answer.value
        else:
            begun.add((answer.annotator, answer.item))
    final, settled, left = _final(audit, given, row)
    places: dict[Any, int] = {}
    changed = _changed(items)
    story = []
    for item in items:
        origin = changed[item.id].origin if item.id in changed else item.subject.story
        # All perturbed versions of a story belong to one cluster; an item without a known story is its own.
        place = item.id if origin is None else (item.subject.dataset, origin)
        story.append(places.setdefault(place, len(places)))
    weight = np.array([np.nan if (w := item.subject.facts.weight) is None else w for item in items])
    return Answered(
        items,
        names,
        audit.categories,
        given,
        final,
        settled,
        left,
        weight,
        np.array(story, dtype=np.int64),
        len(begun),
    )


def _final(audit: AuditSnapshot, given: dict[str, Floats], row: dict[int, int]) -> tuple[dict[str, Floats], int, int]:
    final = {}
    for key, values in given.items():
        count, errors = (~np.isnan(values)).sum(axis=1), (values == 1).sum(axis=1)
        final[key] = np.where((count > 0) & ((errors == 0) | (errors == count)), _ratio(errors, count), np.nan)
    settled = left = 0
    for dispute in disputes(audit):
        settled, left = settled + len(dispute.settled), left + len(dispute.open)
        for key, value in dispute.settled.items():
            final[key][row[dispute.item]] = value
    return final, settled, left


def _ratio(part: Any, whole: Any) -> Floats:
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), np.nan), dtype=np.float64)


def _changed(items: Sequence[Item]) -> dict[int, PerturbedName]:
    stories: dict[str | None, set[str]] = {}
    for item in items:
        if item.subject.story is not None:
            stories.setdefault(item.subject.dataset, set()).add(item.subject.story)
    names_by_dataset = {dataset: perturbed_names(some) for dataset, some in stories.items()}
    asked = ((item.id, names_by_dataset.get(item.subject.dataset, {}).get(item.subject.story or "")) for item in items)
    return {number: name for number, name in asked if name is not None}


def _level(item: Item, variable: str) -> str | None:
    subject = item.subject
    if variable == "criterion":
        return subject.criterion.name if subject.criterion else None
    # A sample drawn by topics keeps them as the explanations' clusters.
    variable = "cluster" if variable == "topic" else variable
    value = getattr(subject if variable in ("system", "dataset") else subject.facts, variable)
    if variable == "rating" and value is not None:
        return subject.text_of(value)
    return None if value is None else f"{value:g}" if isinstance(value, float) else str(value)


# Lists the items on which annotators differ: each answer, the reasons given, and the settled answer. No rate is
# computed.


@dataclass(frozen=True, slots=True)
class Split:
    """A category on which the annotators of an item differ, with the number of yes and no answers."""

    category: Category
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which annotators differ, and the categories (`differ`) on which they do. `final` holds (category,
    settled answer), `by` (adjudicator, reason), `notes` (annotator, note) of round 1; `dissent` counts answers against
    the majority."""

    item: Item
    differ: tuple[Split, ...]
    final: tuple[tuple[Category, int], ...]
    by: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    dissent: int


def disagreements(audit: AuditSnapshot, matrix: Answered) -> tuple[Disagreement, ...]:
    """Items on which annotators differ, those with most answers against the majority first."""
    settled = {(answer.item, answer.category): answer for answer in audit.adjudication.answers}
    result = []
    for i, item in enumerate(matrix.items):
        counts = [(c, matrix.given[c.key][i]) for c in matrix.categories]
        splits = [Split(c, int(np.sum(values == 1)), int(np.sum(values == 0))) for c, values in counts]
        differ = tuple(split for split in splits if split.yes and split.no)
        if not differ:
            continue
        last = [(split.category, settled[key]) for split in differ if (key := (item.id, split.category.key)) in settled]
        adjudicators = dict.fromkeys(answer.annotator for _, answer in last)
        notes = [(who, audit.annotation.note(who, item.id)) for who in matrix.annotators]
        result.append(
            Disagreement(
                item=item,
                differ=differ,
                final=tuple((category, answer.value) for category, answer in last),
                by=tuple((who, audit.adjudication.note(who, item.id)) for who in adjudicators),
                notes=tuple((who, note) for who, note in notes if note),
                dissent=sum(min(split.yes, split.no) for split in differ),
            )
        )
    return tuple(sorted(result, key=lambda row: (-row.dissent, row.item.id)))
