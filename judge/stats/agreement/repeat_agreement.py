"""Agreement of a judge's repeats: exact agreement, flip rate, and standard deviation within stories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge's repeats by three statistics; `left_out` stories have fewer than two rated repeats.

    `exact` is the share of stories whose repeats are all equal. `flip` is the probability that a repeat changes the
    rating: share of unequal pairs of repeats, averaged over stories. `within_sd` is the root of the pooled variance
    within stories (weights: degrees of freedom), in points.
    """

    exact: Estimate
    flip: Estimate
    within_sd: Estimate
    left_out: int


def agreement(ratings: NDArray[np.float64], *, columns: str = "repeats") -> Agreement:
    """Agreement of the repeats of each story; undefined where no story has two rated ones.

    `ratings` (n stories, k repeats) within 1e-9 are equal; `columns` is the word for repeats in reasons.
    """
    present = ~np.isnan(ratings)
    count = present.sum(axis=1)
    usable = count >= 2
    n = int(usable.sum())
    if n == 0:
        nothing = Estimate.undefined(f"undefined with fewer than 2 {columns} of a story")
        return Agreement(nothing, nothing, nothing, left_out=ratings.shape[0])
    rows, seen, m = ratings[usable], present[usable], count[usable]
    spread = np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1)
    i, j = np.triu_indices(ratings.shape[1], k=1)
    both = seen[:, i] & seen[:, j]
    unequal = both & (np.abs(np.nan_to_num(rows[:, i]) - np.nan_to_num(rows[:, j])) > _SAME)
    flips = unequal.sum(axis=1) / both.sum(axis=1)
    mean = np.where(seen, rows, 0.0).sum(axis=1) / m
    squares = (np.where(seen, rows - mean[:, None], 0.0) ** 2).sum()
    return Agreement(
        exact=Estimate(float((spread <= _SAME).mean()), n=n),
        flip=Estimate(float(flips.mean()), n=n),
        within_sd=Estimate(float(np.sqrt(squares / (m - 1).sum())), n=n),
        left_out=int(ratings.shape[0] - n),
    )
