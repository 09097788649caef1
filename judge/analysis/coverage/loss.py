"""Does what a judge lost go with people's ratings? Two tests a cell, and the finding in a sentence. Never fills a gap.

A judge that answers only what is easy is flattered by its correlation. Loss can go with people's rating itself (the bad
stories are refused) or with its distance from people's mean (the middling stories are: what is left is easy to order).
The unit is the story, lost when one of its repeats has no rating.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judge.rating_matrix import RatingMatrix
from judge.stats.estimation import multiplicity
from judge.stats.estimation.association import Association, with_number

_ALPHA = 0.05
_LONGEST = 6
"""Judges with an Eval-Prompt that are named; the rest are counted."""

RATING, DISTANCE = "rating", "distance"
_HALF = 0.5


def against_people(matrix: RatingMatrix, i: int) -> dict[str, tuple[str, Association]]:
    """The two tests of cell i, each with what its table calls it; nothing where nothing was lost or nobody rated."""
    asked = matrix.asked[i] > 0
    lost = (matrix.valid[i] < matrix.asked[i])[asked]
    names = {name.casefold(): j for j, name in enumerate(matrix.criteria)}
    same = names.get(matrix.cells[i].criterion.casefold(), 0 if len(matrix.criteria) == 1 else None)
    if not lost.any() or same is None:
        return {}
    people, name = matrix.people[same][asked], f"people's {matrix.criteria[same]}"
    if np.isnan(people).all():
        return {RATING: (name, with_number(lost, people))}
    distance = np.abs(people - float(np.nanmean(people)))
    return {
        RATING: (name, with_number(lost, people)),
        DISTANCE: (f"{name}, distance from its mean", with_number(lost, distance.round(9))),
    }


def findings(matrices: Sequence[RatingMatrix]) -> list[str]:
    """One sentence for each kind of loss that goes with people's ratings (Holm over all of them, p < .05)."""
    tests = [
        (matrix, i, kind, test)
        for matrix in matrices
        for i in range(len(matrix.cells))
        for kind, (_, test) in against_people(matrix, i).items()
        if test.p is not None
    ]
    if not tests:
        return []
    p = np.array([test.p for *_, test in tests], dtype=np.float64)
    adjusted = multiplicity.adjust(p, "holm", family="tests of loss").p
    found: dict[str, dict[str, list[str]]] = {}
    for (matrix, i, kind, test), value in zip(tests, adjusted, strict=True):
        if value < _ALPHA and test.effect is not None:
            cell = matrix.cells[i]
            groups = found.setdefault(_which(kind, test.effect), {})
            groups.setdefault(f"{cell.judge} with {cell.eval_prompt}", []).append(cell.criterion)
    return [_sentence(which, groups, len(tests)) for which, groups in found.items()]


def _which(kind: str, auc: float) -> str:
    if kind == RATING:
        return "that people rate higher" if auc > _HALF else "that people rate lower"
    return "far from people's mean" if auc > _HALF else "near people's mean"


def _sentence(which: str, groups: dict[str, list[str]], tests: int) -> str:
    family = f"Holm, p < .05, {tests} tests" if tests > 1 else "p < .05"
    return (
        f"loss goes with people's ratings: stories {which} were lost more often by {'; '.join(_named(groups))} "
        f"({family}); what stands here is of the stories that were kept"
    )


def _named(groups: dict[str, list[str]]) -> Iterator[str]:
    for name, criteria in list(groups.items())[:_LONGEST]:
        yield f"{name} ({', '.join(criteria)})"
    if len(groups) > _LONGEST:
        yield f"and {len(groups) - _LONGEST} more"
