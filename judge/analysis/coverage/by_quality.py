"""Tests of whether the ratings that a judge failed to give depend on people's ratings of the stories: the one test of
`judge coverage`, `judge diagnose` and the sentences of summary and report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Floats
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.bias import rating_bias
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test

RATING, DISTANCE = "rating", "distance"
# What a judge does whose gap is above, and below, 0.
WORDS = {
    RATING: ("loses the better stories", "loses the worse stories"),
    DISTANCE: ("loses the stories far from the middle", "loses the middling stories"),
}

# With losses on fewer story-prompts nothing is known of what is lost.
LEAST_LOSSES = 5

NOTHING_LOST = "nothing was lost"


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """People's mean rating of what a judge lost minus that of what it kept, or (kind DISTANCE) the same of the distance
    of these ratings from their middle. `loses`: anything was lost. `share` is the share lost, and `widest` the range of
    what is compared, in points.
    """

    kind: str
    test: Test
    loses: bool
    share: float
    widest: float

    @property
    def words(self) -> str:
        """What the judge does, if the test finds something."""
        above, below = WORDS[self.kind]
        return above if (self.test.estimate.value or 0.0) > 0 else below


def requested(matrix: RatingMatrix, cell: int, criterion: int) -> Floats:
    """How many ratings of each story a judge was to give, shape (n stories,). Of imported ratings, one is counted for
    each story that people rated: such a table may hold no row where there is no rating.
    """
    asked = matrix.asked[cell].astype(np.float64)
    expected = (matrix.raters[criterion] > 0).astype(np.float64)
    return np.asarray(np.maximum(asked, expected), dtype=np.float64) if matrix.imported[cell] else asked


def gaps(matrix: RatingMatrix, cell: int, criterion: int) -> Iterator[Gap]:
    """The tests of loss against people's ratings of a criterion, and against their distance from the middle."""
    people, asked = matrix.people[criterion], requested(matrix, cell, criterion)
    lost = asked - matrix.valid[cell]
    used = (asked > 0) & ~np.isnan(people)
    share = float(lost[used].sum() / asked[used].sum()) if used.any() else 1.0
    middle = float(np.average(people[used], weights=asked[used])) if used.any() else 0.0
    for kind, rated in ((RATING, people), (DISTANCE, np.abs(people - middle))):
        widest = float(np.ptp(rated[used])) if used.any() else 0.0
        yield Gap(kind, _test(matrix, lost, asked, rated), bool(lost.sum()), share, widest)


def _test(matrix: RatingMatrix, lost: Floats, asked: Floats, people: Floats) -> Test:
    if not lost.sum():
        return jackknife.undefined(NOTHING_LOST, "two-sided")
    used = np.asarray((asked > 0) & ~np.isnan(people), dtype=bool)
    # A mean over few losses is known from the story-prompts that have one; the same where little was kept.
    informative = min(np.unique(matrix.story_prompt[used & part]).size for part in (lost > 0, lost < asked))
    if informative < LEAST_LOSSES:
        reason = f"undefined: lost, or kept, on rated stories of fewer than {LEAST_LOSSES} story-prompts"
        return jackknife.undefined(reason, "two-sided", used)
    statistic = rating_bias.loss_gap(lost * used, asked * used, people)
    return jackknife.against_zero(statistic, matrix.story_prompt, used, informative=informative)
