"""Halo test: whether a judge's rating of one criterion follows human ratings of the other criteria.

*Halo* (Thorndike 1920) means that ratings of different criteria correlate more than the criteria themselves do.
Correlations between a judge's criteria cannot show it by comparison with people, because rating error lowers them and
the judge's error differs from people's. The test therefore compares stories with equal human ratings of the criterion
itself. On these, a judge without halo does not follow human ratings of the other criteria, and a judge with halo does,
however large the error of either side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.bias.given_quality import CROWDED, GivenQuality, share_at_end
from judge.stats.bias.rating_bias import without_leniency
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test, Weights

Floats = NDArray[np.float64]

ONE_CRITERION = "undefined with fewer than 2 criteria that people rated too"
NO_PERSONS = (
    "undefined: who gave which rating is not known, so that one rater's ratings of two criteria cannot be compared"
)
NO_DIFFERENCE = (
    "undefined: the differences between people's ratings of two criteria, or of two stories, hardly exceed their error"
)
UNRATED = "undefined: no story that the judge rated has two of people's ratings of every criterion"


def halo_test(matrix: RatingMatrix, pairs: Sequence[tuple[int, int]]) -> Test:
    """Halo in points: change of a judge's rating of one criterion per point of the mean human rating of other criteria.

    Stories are compared at equal human ratings of the criterion itself. The result is the mean over criteria. `pairs`
    holds a judge's rows in the matrix (with one Eval-Prompt), each with the index of its human criterion. Only stories
    with ratings of all these criteria by the judge and by two people are used. Criteria whose human ratings vary too
    little beyond error are left out of the mean; it is undefined if none remains.
    """
    criteria = list(dict.fromkeys(j for _, j in pairs))
    if len(criteria) < 2:
        return _undefined(ONE_CRITERION)
    persons = _persons(matrix, criteria)
    if persons is None:
        return _undefined(NO_PERSONS)
    whole = np.asarray(~np.isnan(matrix.judge[[i for i, _ in pairs]]).any(axis=0), dtype=bool)
    at = {j: own for own, j in enumerate(criteria)}
    sums = np.where(np.isnan(persons), 0.0, persons).sum(axis=0), np.isnan(persons).sum(axis=0)
    parts = [_criterion_part(matrix, i, j, persons[at[j]], _others(persons[at[j]], *sums, len(at)), whole)
             for i, j in pairs]  # fmt: skip
    if not parts[0].used.any():
        return _undefined(UNRATED)
    kept = [part for part in parts if part.reason() is None]
    if not kept:
        crowded = all(part.reason() == CROWDED for part in parts)
        return _undefined(CROWDED if crowded else NO_DIFFERENCE, int(parts[0].used.sum()))

    def mean(weights: Weights, *, curved: bool = True) -> Floats:
        return np.asarray(np.mean([part.slope(weights, curved=curved) for part in kept], axis=0), dtype=np.float64)

    used = kept[0].used
    every = used[None, :].astype(np.float64)
    bias = float(mean(every)[0] - mean(every, curved=False)[0])
    return jackknife.against_zero(mean, matrix.story_prompt, used, tail="greater", bias=bias)


def _criterion_part(
    matrix: RatingMatrix, cell: int, criterion: int, own: Floats, others: Floats, whole: NDArray[np.bool_]
) -> GivenQuality:
    """Regression of a judge's rating of one criterion on human ratings of this and the other criteria.

    Only the stories in the mask `whole` are used, which is the same for all criteria. `own` and `others` hold human
    ratings of this criterion, and means over the others, shape (n stories, people).
    """
    people = np.where(np.isnan(others), np.nan, own)
    judge = np.where(whole, matrix.judge[cell], np.nan)
    at_end = share_at_end(matrix.by_rater(criterion).ratings)
    return GivenQuality.of(judge, people, matrix.system, other=others, at_end=at_end)


def _others(own: Floats, total: Floats, missing: NDArray[np.int64], criteria: int) -> Floats:
    """Means over all other criteria, from the sums over all; NaN where another one has no rating."""
    gone = np.isnan(own)
    return np.where(missing > gone, np.nan, (total - np.where(gone, 0.0, own)) / (criteria - 1))


def _persons(matrix: RatingMatrix, criteria: Sequence[int]) -> Floats | None:
    """Human ratings, shape (criteria, n stories, people), with the same person in a column throughout.

    Each person's leniency is subtracted. Where names are unknown, the first rating of each criterion is taken to be by
    one person, the second by another, and so on; leniency is then not subtracted. None where ratings are stored in
    ascending order, so that persons cannot be told apart.
    """
    raters = [matrix.by_rater(j) for j in criteria]
    if any(criterion.ascending for criterion in raters):
        return None
    if not all(criterion.known for criterion in raters):
        positions = [matrix.by_position(j) for j in criteria]
        columns = max(ratings.shape[1] for ratings in positions)
        return np.stack([_padded(ratings, columns) for ratings in positions])
    names = list(dict.fromkeys(name for criterion in raters for name in criterion.names))
    out = np.full((len(criteria), matrix.n, len(names)), np.nan)
    for k, criterion in enumerate(raters):
        out[k][:, [names.index(name) for name in criterion.names]] = without_leniency(criterion.ratings)
    return out


def _padded(ratings: Floats, columns: int) -> Floats:
    out = np.full((ratings.shape[0], columns), np.nan)
    out[:, : ratings.shape[1]] = ratings
    return out


def _undefined(reason: str, n: int = 0) -> Test:
    return Test(Estimate.undefined(reason, n), None, None, "greater", 0)
