"""Tests of whether the ratings that a judge failed to give depend on people's ratings of the stories.

Loss can fall on better or worse stories, which moves every mean, and on middling ones or on those far from the middle,
which leaves the mean as it is and makes the remaining stories easier or harder to put in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judge.analysis.diagnose.kinds import MIDDLING, Finding
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.bias import rating_bias
from judge.stats.bias.rating_bias import Floats
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test

LEAST_LOSSES = 5
"""With losses on fewer story-prompts nothing is known of what is lost."""

NOTHING_LOST = "nothing was lost"


def requested(matrix: RatingMatrix, cell: int, criterion: int) -> Floats:
    """How many ratings of each story a judge was to give, shape (n stories,).

    A table of another program may simply hold no row where there is no rating: of imported ratings one is counted for
    each story that people rated on the criterion.
    """
    asked = matrix.asked[cell].astype(np.float64)
    expected = (matrix.raters[criterion] > 0).astype(np.float64)
    return np.asarray(np.maximum(asked, expected), dtype=np.float64) if matrix.imported[cell] else asked


def loss_tests(matrix: RatingMatrix, cell: int, criterion: int, spread: float) -> Iterator[Finding]:
    """Yield the tests of loss against people's ratings, and against their distance from the middle.

    `cell` is the judge's row in the rating matrix, `criterion` the human criterion, and `spread` the unit of the
    limits, in points. The limits are about the stories that are left: how far they lie, in the mean, from all those
    requested, which is the share lost times the tested difference between lost and kept.
    """
    people, of = matrix.people[criterion], matrix.cells[cell]
    asked = requested(matrix, cell, criterion)
    lost = asked - matrix.valid[cell]
    used = (asked > 0) & ~np.isnan(people)
    share = float(lost[used].sum() / asked[used].sum()) if used.any() else 1.0
    middle = float(np.average(people[used], weights=asked[used])) if used.any() else 0.0
    for name, rated in (("loss", people), (MIDDLING, np.abs(people - middle))):
        finding = Finding(matrix.dataset, of, of.criterion, name, _test(matrix, lost, asked, rated))
        widest = float(np.ptp(rated[used])) if used.any() else 0.0
        unit = share / spread if spread > 0 else float("nan")
        yield replace(finding, applies=bool(lost.sum()), factor=unit, at_most=unit * widest)


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
