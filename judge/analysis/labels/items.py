"""Labelled items: the stories of one criterion, or stories x criteria of several binary criteria.

People's label of an item is the majority label of its raters, a judge's that of its repeats. If labels are equally
frequent, the item has no label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.inputs.label_criteria import scale_of
from judge.base.arrays import Floats, Masks
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.agreement.confusion import Majority, majority
from judge.stats.resampling.bootstrap import Factor, Resamples

ALL = "all criteria"
# Names of the labels where binary criteria with different words are counted together.
PASSED = ("not positive", "positive")


@dataclass(frozen=True, slots=True)
class Part:
    """One human criterion with labels; `cells` maps (run, judge, Eval-Prompt) to rows of the rating matrix."""

    criterion: int
    name: str
    scale: Scale
    cells: Mapping[tuple[str, str, str], int]


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """A judge's majority label of each item; `asked` and `voted` mark items requested, and labelled by any repeat."""

    majority: Majority
    asked: Masks
    voted: Masks


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Stories with their labels on one criterion (or `ALL` binary criteria, an item then being a story on one of them).

    `labels` are in the order of their codes. `people`, shape (items, columns), has codes; NaN = no label. If
    `raters_known`, each column is one person of `raters`; otherwise a column mixes different people, for the reason
    `unknown_because`. `judges` are by (run, judge, Eval-Prompt)."""

    name: str
    labels: tuple[str, ...]
    positive: int | None
    people: Floats
    raters: tuple[str, ...]
    raters_known: bool
    unknown_because: str | None
    judges: Mapping[tuple[str, str, str], Labelling]
    parts: tuple[Part, ...]

    @property
    def q(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def asked(self) -> Masks:
        """Mask of the items that some judge was asked about."""
        return np.asarray(np.any([labelling.asked for labelling in self.judges.values()], axis=0), dtype=np.bool_)

    @property
    def labelled(self) -> Masks:
        """Mask of the items that some judge labelled."""
        labelled = [~np.isnan(labelling.majority.label) for labelling in self.judges.values()]
        return np.asarray(np.any(labelled, axis=0), dtype=np.bool_)

    def resamples(self, drawn: Resamples | None) -> Resamples | None:
        """Resamples of the items, in which all criteria of a story are drawn together."""
        if drawn is None or len(self.parts) == 1:
            return drawn
        (factor,) = drawn.factors
        return Resamples((Factor(factor.counts, np.tile(factor.unit, len(self.parts))),), drawn.name)


def of_part(matrix: RatingMatrix, part: Part) -> Items:
    """Labelled items of one criterion."""
    raters = matrix.by_rater(part.criterion)
    labels = part.scale.labels
    people = np.where(_codes(raters.ratings, len(labels)), raters.ratings, np.nan)
    judges = {key: _labelling(matrix, cell, len(labels)) for key, cell in part.cells.items()}
    names, named = raters.names, raters.known
    positive = part.scale.positive_code
    return Items(part.name, labels, positive, people, names, named, raters.reason, judges, (part,))


def all_criteria(parts: Sequence[Part], each: Sequence[Items]) -> Items | None:
    """Items of all binary criteria together; None if there is only one. If the names of labels differ, all positive
    labels are treated as one."""
    chosen = [(part, items) for part, items in zip(parts, each, strict=True) if part.scale.positive_code is not None]
    if len(chosen) < 2:
        return None
    scales = {(part.scale.labels, part.scale.positive) for part, _ in chosen}
    if len(scales) > 1:
        chosen = [(part, _positive_last(items)) for part, items in chosen]
    alike = [items for _, items in chosen]
    names = tuple(dict.fromkeys(name for items in alike for name in items.raters))
    named = all(items.raters_known for items in alike)
    people = [_columns(items, names) if named else items.people for items in alike]
    width = max(columns.shape[1] for columns in people)
    wide = [np.pad(columns, ((0, 0), (0, width - columns.shape[1])), constant_values=np.nan) for columns in people]
    keys = tuple(dict.fromkeys(key for items in alike for key in items.judges))
    return Items(
        name=ALL,
        labels=alike[0].labels,
        positive=alike[0].positive,
        people=np.concatenate(wide),
        raters=names if named else (),
        raters_known=named,
        unknown_because=next((items.unknown_because for items in alike if not items.raters_known), None),
        judges={key: _joined([items.judges.get(key) for items in alike], len(alike[0].people)) for key in keys},
        parts=tuple(part for part, _ in chosen),
    )


def parts_of(matrix: RatingMatrix, partner: Sequence[int | None]) -> tuple[list[Part], list[int], list[str]]:
    """Criteria that judges and people labelled, rows of the rating matrix on criteria that people did not label, and
    notes on what is left out."""
    part_of: dict[int, Part] = {}
    alone, notes = [], []
    for i, (cell, j) in enumerate(zip(matrix.cells, partner, strict=True)):
        scale = scale_of(matrix, cell.criterion)
        if scale is None:
            continue
        if j is None:
            alone.append(i)
            continue
        name, key = matrix.criteria[j], (cell.run, cell.judge, cell.eval_prompt)
        ratings = matrix.by_position(j)
        if not _codes(ratings, len(scale.labels))[~np.isnan(ratings)].all():
            notes.append(f"{matrix.dataset}: people's ratings of {name} are no codes of its labels: left out")
            continue
        part = part_of.get(j, Part(j, name, scale, {}))
        if (part.scale.labels, part.scale.positive) != (scale.labels, scale.positive):
            notes.append(f"{matrix.dataset}: {cell.criterion} has other labels than {part.name}: left out there")
            continue
        part_of[j] = Part(j, name, part.scale, {**part.cells, key: i})
    return [part_of[j] for j in sorted(part_of)], alone, list(dict.fromkeys(notes))


def _labelling(matrix: RatingMatrix, cell: int, q: int) -> Labelling:
    repeats = matrix.wide(cell)
    voted = _codes(repeats, q).any(axis=1)
    return Labelling(majority(repeats, q), matrix.asked[cell] > 0, np.asarray(voted, dtype=np.bool_))


def _codes(ratings: Floats, q: int) -> Masks:
    # A mean between two codes is no code.
    return np.isin(ratings, np.arange(q))


def _positive_last(items: Items) -> Items:
    flip = items.positive == 0

    def turned(codes: Floats) -> Floats:
        return np.asarray(1 - codes if flip else codes, dtype=np.float64)

    judges = {
        key: Labelling(
            Majority(turned(labelling.majority.label), labelling.majority.tied), labelling.asked, labelling.voted
        )
        for key, labelling in items.judges.items()
    }
    return Items(
        items.name,
        PASSED,
        1,
        turned(items.people),
        items.raters,
        items.raters_known,
        items.unknown_because,
        judges,
        items.parts,
    )


def _columns(items: Items, names: Sequence[str]) -> Floats:
    """Codes of people's labels, one column for each of these names; NaN = no label."""
    wide = np.full((len(items.people), len(names)), np.nan)
    wide[:, [names.index(name) for name in items.raters]] = items.people
    return wide


def _joined(some: Sequence[Labelling | None], n: int) -> Labelling:
    nothing = np.zeros(n, dtype=np.bool_)
    none = Labelling(Majority(np.full(n, np.nan), nothing), nothing, nothing)
    # A criterion that the judge was not asked about has no labels.
    every = [labelling or none for labelling in some]
    label = np.concatenate([labelling.majority.label for labelling in every])
    tied = np.concatenate([labelling.majority.tied for labelling in every])
    asked, voted = (np.concatenate([getattr(labelling, name) for labelling in every]) for name in ("asked", "voted"))
    return Labelling(Majority(label, tied), asked, voted)
