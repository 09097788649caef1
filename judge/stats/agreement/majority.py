"""The majority label of several raters or repeats; a tie gives no label.

A tie is no label: which of two labels as many people gave would be the truth is nobody's to say. One vote is the label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """The majority label of each of n stories.

    Attributes
    ----------
    label : array, shape (n,)
        Code; NaN where nobody voted, or votes are tied.
    tied : array of bool, shape (n,)
        Where several labels have most votes.
    """

    label: Floats
    tied: Masks


def _votes(ratings: Floats, labels: int) -> Counts:
    """Votes for each label, shape (n, labels), of ratings (n, k): codes; NaN, and what is no code, is no vote."""
    return np.stack([(ratings == code).sum(axis=1) for code in range(labels)], axis=1).astype(np.int64)


def _of_votes(counts: Counts) -> Majority:
    """The label with most votes, counts (..., labels)."""
    most = counts.max(axis=-1, keepdims=True)
    ahead = (counts == most) & (most > 0)
    single = ahead.sum(axis=-1) == 1
    label = np.where(single, counts.argmax(axis=-1).astype(np.float64), np.nan)
    return Majority(np.asarray(label, dtype=np.float64), np.asarray(ahead.sum(axis=-1) > 1, dtype=np.bool_))


def majority(ratings: Floats, labels: int) -> Majority:
    """The label with most votes of each story's raters (or repeats).

    Parameters
    ----------
    ratings : array, shape (n, k)
        Codes 0..labels-1; NaN, and what is no code, is no vote.
    labels : int
        Number of labels.

    Returns
    -------
    Majority
        Of n stories.
    """
    return _of_votes(_votes(ratings, labels))


def of_the_others(ratings: Floats, labels: int) -> Majority:
    """The label with most votes of the other raters, for each rater, also on stories that it did not rate.

    Parameters
    ----------
    ratings : array, shape (n, r)
        As in `majority`, a column for each rater.
    labels : int
        Number of labels.

    Returns
    -------
    Majority
        Of shape (n, r). A story that nobody else rated has no label of the others.
    """
    own = np.stack([ratings == code for code in range(labels)], axis=-1).astype(np.int64)
    return _of_votes(own.sum(axis=1, keepdims=True) - own)
