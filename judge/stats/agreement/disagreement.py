"""Disagreement on each story: the distance of two or more standardised ratings.

A judge that is a point milder than people does not disagree with them about which story is better. So ratings are
standardised within whoever gave them, z = (x - mean) / sd over stories (sd with n - 1), and z are compared; differences
are then in standard deviations. Raw differences, in points, stand beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CONSTANT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """Distances of ratings for each story; NaN where a distance does not exist.

    Attributes
    ----------
    z : array, shape (sides, n)
        Standardised ratings of each side.
    standardised, raw : arrays, shape (n,)
        Distance in standard deviations, and in points of the scale: signed, first minus second, for two sides compared
        as such; else highest minus lowest.
    reason : str or None
        Why there is none for any story.
    """

    z: Floats
    standardised: Floats
    raw: Floats
    reason: str | None = None


def z_scores(values: Floats) -> Floats:
    """(x - mean) / sd of (n,) values, NaN left out; all NaN with fewer than 2 values or where they are equal (1e-9)."""
    known = values[~np.isnan(values)]
    if known.size < 2 or float(np.ptp(known)) < _CONSTANT:
        return np.full(values.shape, np.nan)
    return np.asarray((values - known.mean()) / known.std(ddof=1), dtype=np.float64)


def between_two(first: Floats, second: Floats) -> Distance:
    """First minus second, (n,) each, both standardised over the stories that have both."""
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
    """Highest minus lowest of rows (sides, n), each standardised over its own stories; needs 2 sides for a story.

    A side whose ratings are all equal has no z and takes no part.
    """
    z = np.stack([z_scores(row) for row in rows])
    taking_part = np.where(np.isnan(z), np.nan, rows)
    standardised, raw = _range(z), _range(taking_part)
    return Distance(z, standardised, raw, "no story has ratings of two sides" if np.isnan(raw).all() else None)


def among_repeats(ratings: Floats) -> Distance:
    """Highest minus lowest repeat of each story, (n, k); in units of the standard deviation of the stories' means.

    The unit is the same judge's spread between stories: 1 says that asking again moves this story as far as a typical
    story lies from the judge's mean.
    """
    known = ~np.isnan(ratings)
    count = known.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, np.where(known, ratings, 0.0).sum(axis=1) / count, np.nan)
    z, raw = z_scores(mean), _range(ratings.T)
    seen = mean[~np.isnan(mean)]
    if np.isnan(raw).all():
        return Distance(z[None, :], raw, raw, "no story has two rated repeats")
    if np.isnan(z).all():
        return Distance(z[None, :], np.full(raw.shape, np.nan), raw, "the means of all stories are equal")
    return Distance(z[None, :], raw / float(seen.std(ddof=1)), raw)


def _range(rows: Floats) -> Floats:
    """Highest minus lowest of each column of (sides, n); NaN with fewer than two."""
    known = ~np.isnan(rows)
    if rows.shape[0] == 0:
        return np.full(rows.shape[1], np.nan)
    high, low = np.where(known, rows, -np.inf).max(axis=0), np.where(known, rows, np.inf).min(axis=0)
    enough = known.sum(axis=0) >= 2
    return np.asarray(np.where(enough, np.where(enough, high, 0.0) - np.where(enough, low, 0.0), np.nan))
