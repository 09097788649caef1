"""The majority label of several raters or repeats.

A tie gives no label, because each of the labels with the most votes could be the true one. A single vote gives its
label.
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
    """The majority label of each story.

    Attributes
    ----------
    label : array, one entry per story
        Code of the label; NaN where there are no votes or votes are tied.
    tied : array of bool
        Whether several labels share the largest number of votes.
    """

    label: Floats
    tied: Masks


def _votes(ratings: Floats, labels: int) -> Counts:
    """Number of votes for each label, shape (stories, labels), from ratings of shape (stories, raters or repeats).

    NaN and values that are no codes do not count.
    """
    return np.stack([(ratings == code).sum(axis=1) for code in range(labels)], axis=1).astype(np.int64)


def _of_votes(counts: Counts) -> Majority:
    """Majority label from the numbers of votes. Labels are on the last axis of `counts`."""
    most = counts.max(axis=-1, keepdims=True)
    ahead = (counts == most) & (most > 0)
    single = ahead.sum(axis=-1) == 1
    label = np.where(single, counts.argmax(axis=-1).astype(np.float64), np.nan)
    return Majority(np.asarray(label, dtype=np.float64), np.asarray(ahead.sum(axis=-1) > 1, dtype=np.bool_))


def majority(ratings: Floats, labels: int) -> Majority:
    """Majority label of each story's raters (or repeats).

    Parameters
    ----------
    ratings : array, shape (n stories, k raters or repeats)
        Codes 0..labels-1; NaN and values that are no codes do not count as votes.
    labels : int
        Number of labels.

    Returns
    -------
    Majority
        One label per story.
    """
    return _of_votes(_votes(ratings, labels))


def of_the_others(ratings: Floats, labels: int) -> Majority:
    """For each rater, the majority label of the other raters, also on stories that this rater did not rate.

    Parameters
    ----------
    ratings : array, shape (n stories, r raters)
        Codes 0..labels-1; NaN and values that are no codes do not count as votes.
    labels : int
        Number of labels.

    Returns
    -------
    Majority
        Arrays of shape (n stories, r raters). No label (NaN) on stories that no other rater rated.
    """
    own = np.stack([ratings == code for code in range(labels)], axis=-1).astype(np.int64)
    return _of_votes(own.sum(axis=1, keepdims=True) - own)
