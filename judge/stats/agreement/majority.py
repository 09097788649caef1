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
    """The majority label of each story; NaN where there are no votes or votes are `tied`."""

    label: Floats
    tied: Masks


def _votes(ratings: Floats, labels: int) -> Counts:
    return np.stack([(ratings == code).sum(axis=1) for code in range(labels)], axis=1).astype(np.int64)


def _of_votes(counts: Counts) -> Majority:
    most = counts.max(axis=-1, keepdims=True)
    ahead = (counts == most) & (most > 0)
    single = ahead.sum(axis=-1) == 1
    label = np.where(single, counts.argmax(axis=-1).astype(np.float64), np.nan)
    return Majority(np.asarray(label, dtype=np.float64), np.asarray(ahead.sum(axis=-1) > 1, dtype=np.bool_))


def majority(ratings: Floats, labels: int) -> Majority:
    """Majority label of each story's raters (or repeats).

    `ratings` (n stories, k) hold codes 0..`labels`-1; NaN and values that are no codes do not count as votes.
    """
    return _of_votes(_votes(ratings, labels))


def of_the_others(ratings: Floats, labels: int) -> Majority:
    """For each rater, the majority label of the others, (n, r), also on stories that this rater did not rate.

    `ratings` (n stories, r raters) and `labels` are as in `majority`. No label where no other rater rated.
    """
    own = np.stack([ratings == code for code in range(labels)], axis=-1).astype(np.int64)
    return _of_votes(own.sum(axis=1, keepdims=True) - own)
