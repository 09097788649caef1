"""Tests whether the ratings that a judge failed to give differ from those it gave; findings in sentences.

A judge that answers only easy stories has an inflated correlation. Loss can depend on the human rating itself (bad
stories are refused) or on its distance from the mean human rating (average stories are refused, and the remaining ones
are easy to order). The unit is the story, which counts as lost if one of its repeats has no rating.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.inputs.candidates import match
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.estimation import paired_differences
from judge.stats.estimation.association import Association, with_group, with_number

_ALPHA = 0.05
# Judges with an Eval-Prompt that are named; the rest are counted.
_LONGEST = 6

SYSTEM, LENGTH, RATING, DISTANCE = "system", "length", "rating", "distance"
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class LossTest:
    """One test: is a judge's loss of ratings associated with a variable? `kind` is the variable: system, length, human
    rating, or its distance from the mean; `against` is its name in tables.
    """

    run: str
    judge: str
    eval_prompt: str
    criterion: str
    kind: str
    against: str
    test: Association


def loss_tests(matrices: Sequence[RatingMatrix], rng: np.random.Generator) -> tuple[LossTest, ...]:
    """Tests of loss against system, length, human rating and its distance from the mean, where a rating was lost. `rng`
    is used for permutation tests, which are made where counts are small.
    """
    return tuple(
        test
        for matrix in matrices
        for i, partner in enumerate(match(matrix).partner)
        for test in (*_against_stories(matrix, i, rng), *_against_people(matrix, i, partner))
    )


def tests_against_people(matrices: Sequence[RatingMatrix]) -> tuple[LossTest, ...]:
    """Tests of loss against human ratings; unlike other tests of loss, they need no `rng`."""
    return tuple(
        test
        for matrix in matrices
        for i, partner in enumerate(match(matrix).partner)
        for test in _against_people(matrix, i, partner)
    )


def findings(tests: Sequence[LossTest]) -> tuple[str, ...]:
    """A sentence for each kind of loss significantly associated with human ratings (as `selective`)."""
    family = len(_against_ratings(tests))
    return tuple(_sentence(which, groups, family) for which, groups in selective(tests).items())


def selective(tests: Sequence[LossTest]) -> dict[str, dict[str, list[str]]]:
    """Criteria by judge with Eval-Prompt, by description of the stories lost more often, where loss is significantly
    associated with human ratings. p is adjusted by Holm's method over all tests against these; the level is .05.
    """
    family = _against_ratings(tests)
    if not family:
        return {}
    p = np.array([test.test.p for test in family], dtype=np.float64)
    adjusted = paired_differences.adjust(p, "holm", family="tests of loss").p
    groups_by_direction: dict[str, dict[str, list[str]]] = {}
    for test, value in zip(family, adjusted, strict=True):
        if value < _ALPHA and test.test.effect is not None:
            groups = groups_by_direction.setdefault(_direction(test.kind, test.test.effect), {})
            groups.setdefault(f"{test.judge} with {test.eval_prompt}", []).append(test.criterion)
    return groups_by_direction


def _against_ratings(tests: Sequence[LossTest]) -> list[LossTest]:
    return [test for test in tests if test.kind in (RATING, DISTANCE) and test.test.p is not None]


def _against_stories(matrix: RatingMatrix, i: int, rng: np.random.Generator) -> Iterator[LossTest]:
    asked = matrix.asked[i] > 0
    lost = (matrix.valid[i] < matrix.asked[i])[asked]
    if not lost.any():
        return
    cell = matrix.cells[i]._asdict()
    words = matrix.stories["words"].to_numpy(dtype=np.float64)[asked]
    by_system = with_group(lost, matrix.system[asked], rng)
    yield LossTest(**cell, kind=SYSTEM, against="system", test=by_system)
    yield LossTest(**cell, kind=LENGTH, against="length in words", test=with_number(lost, words))


def _against_people(matrix: RatingMatrix, i: int, same: int | None) -> Iterator[LossTest]:
    asked = matrix.asked[i] > 0
    lost = (matrix.valid[i] < matrix.asked[i])[asked]
    if same is None and len(matrix.criteria) == 1 and not matrix.declared:
        same = 0  # loss is tested against what people rated, even where another criterion has the equal name
    if not lost.any() or same is None:
        return
    cell, people, name = matrix.cells[i]._asdict(), matrix.people[same][asked], f"people's {matrix.criteria[same]}"
    yield LossTest(**cell, kind=RATING, against=name, test=with_number(lost, people))
    if not np.isnan(people).all():
        distance = np.abs(people - float(np.nanmean(people))).round(9)
        far = f"{name}, distance from its mean"
        yield LossTest(**cell, kind=DISTANCE, against=far, test=with_number(lost, distance))


def _direction(kind: str, auc: float) -> str:
    if kind == RATING:
        return "that people rate higher" if auc > _HALF else "that people rate lower"
    return "far from people's mean" if auc > _HALF else "near people's mean"


def _sentence(which: str, groups: dict[str, list[str]], tests: int) -> str:
    family = f"Holm, p < .05, {tests} tests" if tests > 1 else "p < .05"
    return (
        f"loss goes with people's ratings: stories {which} were lost more often by {'; '.join(_named(groups))} "
        f"({family}); the numbers here are for the stories that were kept"
    )


def _named(groups: dict[str, list[str]]) -> Iterator[str]:
    for name, criteria in list(groups.items())[:_LONGEST]:
        yield f"{name} ({', '.join(criteria)})"
    if len(groups) > _LONGEST:
        yield f"and {len(groups) - _LONGEST} more"
