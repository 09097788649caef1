"""Disagreement on each story: the distance between two or more standardised ratings.

A judge that is a point more lenient than people does not disagree with them about which story is better. Ratings are
therefore standardised within each rater or judge, z = (x - mean) / sd over stories (sd with n - 1). Differences of z
are in standard deviations. Raw differences, in points, are given as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Floats, row_means
from judge.base.estimate import Estimate

# Agreement of a judge's repeats: exact agreement, flip rate, and standard deviation within stories.

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge's repeats by three statistics; `left_out` stories have fewer than two rated repeats.

    `exact` is the share of stories whose repeats are all equal. `flip` is the probability that a repeat changes the
    rating: share of unequal pairs of repeats, averaged over stories. `within_sd` is the root of the pooled variance
    within stories (weights: degrees of freedom), in points."""

    exact: Estimate
    flip: Estimate
    within_sd: Estimate
    left_out: int


def agreement(ratings: Floats, *, columns: str = "repeats") -> Agreement:
    """Agreement of the repeats of each story; undefined where no story has two rated ones.

    `ratings` (n stories, k repeats) within 1e-9 are equal; `columns` is the word for repeats in reasons."""
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


_CONSTANT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """Distance of ratings on each story; NaN where it is undefined.

    `z` (sides, n stories) are each side's standardised ratings; a side is a judge, people, or a single repeat.
    `standardised` and `raw` (n,) are distances in standard deviations and in points: for two sides first minus second,
    otherwise highest minus lowest. `reason`: why no story has one."""

    z: Floats
    standardised: Floats
    raw: Floats
    reason: str | None = None


def z_scores(values: Floats) -> Floats:
    """(x - mean) / sd (n - 1) of `values` (n,), NaN staying; all NaN with fewer than 2 or equal values (to 1e-9)."""
    defined = values[~np.isnan(values)]
    if defined.size < 2 or float(np.ptp(defined)) < _CONSTANT:
        return np.full(values.shape, np.nan)
    return np.asarray((values - defined.mean()) / defined.std(ddof=1), dtype=np.float64)


def between_two(first: Floats, second: Floats) -> Distance:
    """Signed distance, `first` minus `second` (n,), of two sides' ratings standardised over the stories that both
    rated.

    NaN for a story without both. All NaN, with a reason, for fewer than 2 such stories, and where one side's are all
    equal."""
    both = ~(np.isnan(first) | np.isnan(second))
    x, y = np.where(both, first, np.nan), np.where(both, second, np.nan)
    z = np.stack([z_scores(x), z_scores(y)])
    reason = None
    if int(both.sum()) < 2:
        reason = "fewer than 2 stories with both"
    elif np.isnan(z).all(axis=1).any():
        reason = "one side's ratings are all equal"
    return Distance(z, z[0] - z[1], x - y, reason)


def among(rows: Floats) -> Distance:
    """Range of several sides' ratings of each story, `rows` (sides, n stories), each standardised over its own stories.

    A side whose ratings are all equal cannot be standardised and is left out. NaN for a story with fewer than 2 sides.
    All NaN, with a reason, where no story has 2 sides."""
    z = np.stack([z_scores(row) for row in rows])
    taking_part = np.where(np.isnan(z), np.nan, rows)
    standardised, raw = _range(z), _range(taking_part)
    return Distance(z, standardised, raw, "no story has ratings of two sides" if np.isnan(raw).all() else None)


def among_repeats(ratings: Floats) -> Distance:
    """Range of one judge's repeats of each story, `ratings` (n stories, k repeats).

    `z` (1, n) are the standardised means of the stories. `standardised` is in standard deviations of these means: 1
    says that repeats of this story differ by as much as a typical story differs from the judge's mean. NaN for a story
    with fewer than 2 repeats. All NaN, with a reason, where no story has 2 repeats, and where all means are equal."""
    mean = row_means(ratings)
    z, raw = z_scores(mean), _range(ratings.T)
    seen = mean[~np.isnan(mean)]
    if np.isnan(raw).all():
        return Distance(z[None, :], raw, raw, "no story has two rated repeats")
    if np.isnan(z).all():
        return Distance(z[None, :], np.full(raw.shape, np.nan), raw, "the means of all stories are equal")
    return Distance(z[None, :], raw / float(seen.std(ddof=1)), raw)


def _range(rows: Floats) -> Floats:
    """Highest minus lowest value of each column; NaN with fewer than two."""
    present = ~np.isnan(rows)
    if rows.shape[0] == 0:
        return np.full(rows.shape[1], np.nan)
    high, low = np.where(present, rows, -np.inf).max(axis=0), np.where(present, rows, np.inf).min(axis=0)
    enough = present.sum(axis=0) >= 2
    return np.where(enough, high, np.nan) - np.where(enough, low, np.nan)
