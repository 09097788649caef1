"""AUC of a score with its interval, and the bootstrap resamples of true-positive rates. Both take the texts of a book
together, or single texts if books are not named.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.contamination.options import AucOptions
from judge.contamination.scores_file import ScoresFile
from judge.stats.resampling import bootstrap
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.shares.auc_interval import score_interval

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


def draw(scores: ScoresFile, options: AucOptions) -> Resamples:
    """Bootstrap resamples of a labelled set of texts: of books if the book of every text is known (texts of one book
    are not independent), else of texts.
    """
    rng, books = np.random.default_rng(options.seed), books_of(scores)
    if books is None:
        return bootstrap.draw(np.arange(len(scores.rows), dtype=np.int64), options.resamples, rng, "boot-texts")
    return bootstrap.draw(books, options.resamples, rng, "boot-books")


def books_of(scores: ScoresFile) -> Codes | None:
    """Code of each text's book, shape (texts,); None if the book of any text is not known."""
    groups = [row.group for row in scores.rows]
    if any(group is None for group in groups):
        return None
    return np.unique([str(group) for group in groups], return_inverse=True)[1].astype(np.int64)


def area(scores: ScoresFile, name: str, label: Flags) -> Estimate:
    """AUC of the score `name`, with its score interval, for separating texts seen in training from unseen texts.
    `label` is True for seen texts; texts without the score are left out. The texts of one book are a cluster, if the
    book of every text is known.
    """
    books = books_of(scores)
    estimate = score_interval(scores.score(name), label, books)
    unit = "texts" if books is None else "books"
    return replace(estimate, method=f"{unit}, {estimate.method}" if estimate.method else None)
