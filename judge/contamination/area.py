"""AUC of a score with a bootstrap interval that resamples books, or texts if books are not named. All scores of a file
use the same resamples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.contamination.options import AucOptions
from judge.contamination.scores_file import ScoresFile
from judge.stats.estimate import Estimate
from judge.stats.resampling import bootstrap
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.shares.auc import auc, resampled_auc

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def draw(scores: ScoresFile, options: AucOptions) -> Resamples:
    """Bootstrap resamples of a labelled set of texts: of books if the book of every text is known (texts of one book
    are not independent), else of texts.
    """
    groups = [row.group for row in scores.rows]
    rng = np.random.default_rng(options.seed)
    if any(group is None for group in groups):
        return bootstrap.draw(np.arange(len(groups), dtype=np.int64), options.resamples, rng, "boot-texts")
    books = np.unique([str(group) for group in groups], return_inverse=True)[1].astype(np.int64)
    return bootstrap.draw(books, options.resamples, rng, "boot-books")


def area(values: Floats, label: Flags, drawn: Resamples) -> Estimate:
    """AUC of a score, with its bootstrap interval, for separating texts seen in training from unseen texts. `label` is
    True for seen texts; texts whose score is NaN are left out. `drawn` are the bootstrap resamples.
    """
    estimate = auc(values, label)
    if not estimate.defined:
        return estimate
    # DeLong's interval takes texts as independent; the bootstrap's takes its place.
    bare = Estimate(estimate.value, n=estimate.n)
    return drawn.interval(bare, drawn.values(resampled_auc(values, label)))
