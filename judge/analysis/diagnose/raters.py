"""Tests of one rater beside the others: a judge or a person with the scale turned round, a judge that repeats a person.

Each names one rater, the one with the smallest p, which is multiplied by the number of raters tested. A judge is tested
against the people of its criterion, and a person against the other people, once for each criterion of a dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judge.analysis.diagnose.kinds import COPY, DIAGNOSTICS, PEOPLE, REVERSED, REVERSED_RATER, Finding
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import Cell, RatingMatrix
from judge.ratings.rating_matrix.matrix import Raters
from judge.stats.bias.one_rater import against_others, excess_agreement, kappa_of_people
from judge.stats.bias.rating_bias import Floats
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test

COPIED = 0.5
"""Agreement beyond the others', as a share of what chance leaves, from which a judge is said to repeat a rater."""

ONE_RATER = "undefined with fewer than two raters"
AGREE_WELL = (
    "undefined: people agree so well with each other that repeating one of them cannot be told from agreeing with all"
)
SORTED = "undefined: each story's ratings are stored in ascending order, so that no column is one rater's"


def judge_tests(matrix: RatingMatrix, cell: int, criterion: int, singles: Floats) -> Iterator[Finding]:
    """Yield the tests of whether a judge's scale is turned round, and of whether it repeats one rater.

    `cell` is the judge's row in the rating matrix, `criterion` the human criterion, and `singles` holds the judge's
    single ratings, shape (n stories, repeats).
    """
    of = matrix.cells[cell]
    test = against_others(matrix.judge[cell], matrix.people[criterion][:, None], matrix.story_prompt)
    yield Finding(matrix.dataset, of, of.criterion, REVERSED, test)
    raters = matrix.by_rater(criterion)
    copied = Finding(matrix.dataset, of, of.criterion, COPY, jackknife.undefined(ONE_RATER, DIAGNOSTICS[COPY].tail))
    yield _copied(copied, raters, singles, matrix)


def rater_tests(matrix: RatingMatrix) -> Iterator[Finding]:
    """Yield, for each criterion that people rated, the test of whether one of them has the scale turned round."""
    for j, criterion in enumerate(matrix.criteria):
        scale = matrix.labels.get(criterion.casefold())
        if scale is not None and scale.positive_code is None and not scale.ordered:
            continue
        raters = matrix.by_rater(j)
        undefined = jackknife.undefined(raters.reason or ONE_RATER, DIAGNOSTICS[REVERSED_RATER].tail)
        finding = Finding(matrix.dataset, Cell("", PEOPLE, "", criterion), criterion, REVERSED_RATER, undefined)
        if not raters.known or raters.ratings.shape[1] < 2:
            yield finding
            continue
        tests = [_against_others(raters.ratings, k, matrix) for k in range(raters.ratings.shape[1])]
        # Of two raters nothing tells which one is turned round.
        names = (" or ".join(raters.names),) * 2 if len(tests) == 2 else raters.names
        yield _named(finding, tests[:1] if len(tests) == 2 else tests, names)


def _copied(finding: Finding, raters: Raters, singles: Floats, matrix: RatingMatrix) -> Finding:
    ratings = raters.ratings
    if raters.ascending or ratings.shape[1] < 2:
        reason = SORTED if raters.ascending else ONE_RATER
        return replace(finding, test=jackknife.undefined(reason, finding.test.tail))
    tests = [_excess_agreement(ratings, k, singles, matrix) for k in range(ratings.shape[1])]
    names = raters.names or tuple(f"rating {k + 1}" for k in range(len(tests)))
    named = _named(finding, tests, names)
    # People who agree that well leave no room for agreeing with one of them by so much more.
    return replace(named, test=_too_alike(named.test)) if kappa_of_people(ratings) >= 1 - COPIED else named


def _against_others(ratings: Floats, rater: int, matrix: RatingMatrix) -> Test:
    # Only the stories of this rater: of a pool each rated few.
    rows = ~np.isnan(ratings[:, rater])
    own, others = ratings[rows, rater], np.delete(ratings[rows], rater, axis=1)
    return against_others(own, others, matrix.story_prompt[rows])


def _excess_agreement(ratings: Floats, rater: int, singles: Floats, matrix: RatingMatrix) -> Test:
    rows = ~np.isnan(ratings[:, rater])
    own, others = ratings[rows, rater], np.delete(ratings[rows], rater, axis=1)
    return excess_agreement(singles[rows], own, others, matrix.story_prompt[rows], beyond=COPIED)


def _too_alike(test: Test) -> Test:
    return replace(test, estimate=Estimate.undefined(AGREE_WELL, test.estimate.n), se=None, p=None)


def _named(finding: Finding, tests: list[Test], names: tuple[str, ...]) -> Finding:
    """The finding on the rater with the smallest p, times the number of raters tested."""
    made = [k for k, test in enumerate(tests) if test.p is not None]
    if not made:
        return replace(finding, test=tests[0])
    at = min(made, key=lambda k: tests[k].p or 0.0)
    p = min(1.0, (tests[at].p or 0.0) * len(made))
    return replace(finding, test=replace(tests[at], p=p), label=names[at], points_tested=len(made))
