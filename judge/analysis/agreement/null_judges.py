"""Null judges, which ignore the stories: a baseline for tests that a judge may pass by chance.

==================  =================================================================================================
always the mean     the same rating for every story: the mean of all human ratings
always the          the same label for every story: the one that people gave most often
commonest label
people permuted     one human rating of each story, permuted over the stories; repeated several times
labels at random    each label with the frequency that people give it; its confusion matrix has expected counts
==================  =================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judge.stats.agreement.confusion import Confusion, of_cells

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MEAN, MODE, PERMUTED = "always the mean", "always the commonest label", "people permuted"
RANDOM = "labels at random, as often as people"
# How many times people's ratings are dealt to the stories; figures are means over them.
DEALT = 20


def constant(ratings: Floats, stories: Mask) -> Floats:
    """The human mean of the selected stories, for each of them, shape (n,); NaN elsewhere. `ratings`: (n, people)."""
    return np.where(stories, float(np.nanmean(ratings[stories])), np.nan)


def commonest(ratings: Floats, stories: Mask) -> Floats:
    """The label that people gave most often to the selected stories, for each of them, shape (n,); NaN elsewhere.
    `ratings` holds label codes, shape (n stories, people).
    """
    codes, counts = np.unique(ratings[stories][~np.isnan(ratings[stories])], return_counts=True)
    return np.where(stories, codes[counts.argmax()], np.nan)


def permuted(ratings: Floats, stories: Mask, rng: np.random.Generator) -> Iterator[Floats]:
    """Ratings of 20 null judges (`DEALT`), each of shape (n stories,): each takes one human rating of every selected
    story at random and permutes these over the stories. Stories that are not selected have NaN.
    """
    rows = np.flatnonzero(stories)
    rated = ~np.isnan(ratings[rows])
    for _ in range(DEALT):
        chosen = np.argmax(np.where(rated, rng.random(rated.shape), -1.0), axis=1)
        shuffled = np.full(len(ratings), np.nan)
        shuffled[rng.permutation(rows)] = ratings[rows, chosen]
        yield shuffled


def at_random(people: Floats, labels: int, positive: int | None) -> Confusion:
    """Expected confusion matrix of random labels with the label frequencies of `people` (codes; NaN = none)."""
    rated = ~np.isnan(people)
    code = people[rated].astype(np.int64)
    share = np.bincount(code, minlength=labels) / max(1, code.size)
    cells = np.zeros((people.size, labels, labels))
    cells[np.flatnonzero(rated), code] = share
    return of_cells(cells, positive=positive)
