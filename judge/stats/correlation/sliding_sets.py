"""Correlation over sliding sets of stories (OpenMEVA), as published and in forms without its inflation.

Guan et al. (ACL 2021) sort stories by human score and slide a window of 200 stories in steps of 10. They average judge
and people within each window (a "set"), and correlate the differences between sets over all pairs of sets; 1,000
stories give 80 sets and 80 x 80 ordered pairs. The r² is inflated: sets are sorted by one of the two variables,
neighbouring sets share 95 % of their stories, each difference occurs twice with opposite signs, and each set is
compared with itself. Over ordered pairs with self-pairs, the r² *equals* that of the set means, because the covariance
of all differences is twice that of the means. 6,400 pairs therefore hold no more information than 80 means.

For comparison there are the correlations over unordered pairs of distinct sets, over sets that do not overlap, and over
the stories. Intervals come from resampling stories, with sorting and sliding repeated each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate

# Ordered pairs with self-pairs; unordered pairs of distinct sets; sets that do not overlap; no sets at all.
WAYS = ("published", "unordered", "apart", "stories")


_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class SlidingSets:
    """Signed Pearson's r of a judge with people, in the differences between sets of stories; tables print its square.

    `published` is over ordered pairs of sets, `unordered` over unordered pairs of distinct sets, `apart` over sets that
    do not overlap (n counts pairs of sets), and `stories` over single stories. `sets` counts sets of n stories as
    published, (n - window) / stride; `inclusive` one more, both ends included (used for `unordered`); `disjoint` n /
    window. `tied` stories share their human score with another, so that their order in the sort depends on the input
    order."""

    published: Estimate
    unordered: Estimate
    apart: Estimate
    stories: Estimate
    sets: int
    inclusive: int
    disjoint: int
    tied: int


def sliding_sets(judge: Floats, people: Floats, *, window: int = 200, stride: int = 10) -> SlidingSets:
    """Correlation of judge and people in the differences between sliding sets (windows over the sorted stories).

    `judge` and `people` (n,) are in the order of the stories' ids, which decides between equal human scores; stories
    with NaN are left out. A set has `window` stories, and sets start `stride` stories apart; ValueError if either is
    below 1. Undefined over sets with fewer stories than a window or fewer than 3 sets; all four with fewer than 3
    stories or where judge or people are constant."""
    if window < 1 or stride < 1:
        raise ValueError(f"window {window} and stride {stride} must be 1 or more")
    keep = ~(np.isnan(judge) | np.isnan(people))
    x, y = _sorted(judge[keep], people[keep])
    n = x.size
    sets = max(0, (n - window) // stride)
    inclusive, disjoint = (sets + 1, n // window) if n >= window else (0, 0)
    _, counts = np.unique(np.round(y, 9), return_counts=True)
    numbers = {"published": sets, "unordered": inclusive, "apart": disjoint, "stories": n}
    estimates = {way: _estimate(x, y, way, number, window, stride) for way, number in numbers.items()}
    tied = int(counts[counts > 1].sum())
    return SlidingSets(**estimates, sets=sets, inclusive=inclusive, disjoint=disjoint, tied=tied)


def resampled(judge: Floats, people: Floats, *, window: int = 200, stride: int = 10) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to Pearson's r in b resamples in the four `WAYS`, (b, 4); NaN where undefined.

    `judge`, `people`, `window` and `stride` are as in `sliding_sets`. Sorting and sliding are repeated in each
    resample."""
    keep = np.flatnonzero(~(np.isnan(judge) | np.isnan(people)))
    order = keep[np.argsort(np.round(people[keep], 9), kind="stable")]
    x, y = judge[order], people[order]

    def correlations(weights: Codes) -> Floats:
        w = weights[:, order]
        out = np.full((w.shape[0], len(WAYS)), np.nan)
        size = w.sum(axis=1)
        for n in np.unique(size):
            rows = np.flatnonzero(size == n)
            drawn = np.repeat(np.tile(np.arange(order.size), rows.size), w[rows].ravel()).reshape(rows.size, n)
            a, b = x[drawn], y[drawn]
            for k, way in enumerate(WAYS):
                out[rows, k] = _correlations(a, b, way, window, stride)
        return out

    return correlations


def _estimate(x: Floats, y: Floats, way: str, number: int, window: int, stride: int) -> Estimate:
    """Pearson's r over `number` sets (or stories), in one of the `WAYS`; n counts pairs of sets (or stories)."""
    pairs = {"published": number * number, "stories": number}.get(way, number * (number - 1) // 2)
    if x.size < window and way != "stories":
        return Estimate.undefined(f"undefined with {x.size} stories: a set holds {window}", n=pairs)
    if number < 3:
        return Estimate.undefined(f"undefined with {number} {'stories' if way == 'stories' else 'sets'}", n=pairs)
    r = float(_correlations(x[None, :], y[None, :], way, window, stride)[0])
    if np.isnan(r):
        return Estimate.undefined("undefined because one side is constant over the sets", n=pairs)
    return Estimate(r, n=pairs)


def _sorted(judge: Floats, people: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(np.round(people, 9), kind="stable")
    return judge[order], people[order]


def _correlations(x: Floats, y: Floats, way: str, window: int, stride: int) -> Floats:
    """Pearson's r of each row of `x` with that of `y`, sorted by `y`, in one of the `WAYS`; NaN where undefined."""
    n = x.shape[1]
    if way == "stories":
        return _pearson_rows(x, y)
    step = window if way == "apart" else stride
    starts = np.arange(0, n - window + 1, step)
    if way == "published":
        starts = starts[: max(0, n - window) // stride]
    a, b = (_means(side, starts, window) for side in (x, y))
    if way == "published":
        return _pearson_rows(a, b)  # = r over all ordered pairs, see above
    return _of_differences(a, b)


def _means(values: Floats, starts: Codes, window: int) -> Floats:
    total = np.concatenate([np.zeros((values.shape[0], 1)), np.cumsum(values, axis=1)], axis=1)
    return np.asarray((total[:, starts + window] - total[:, starts]) / window, dtype=np.float64)


def _of_differences(a: Floats, b: Floats) -> Floats:
    """Pearson's r of the differences a_j - a_i with b_j - b_i over all i < j, row by row.

    With m columns, this takes O(m): over i < j the differences sum to sum_k (2k - m + 1) a_k, and their products to m
    sum(ab) - sum(a) sum(b)."""
    m = a.shape[1]
    if m < 3:
        return np.full(a.shape[0], np.nan)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    pairs, weight = m * (m - 1) / 2, 2 * np.arange(m) - m + 1
    mean_a, mean_b = a @ weight / pairs, b @ weight / pairs

    def covariance(p: Floats, q: Floats, mean_p: Floats, mean_q: Floats) -> Floats:
        return np.asarray(m * (p * q).sum(axis=1) / pairs - mean_p * mean_q, dtype=np.float64)

    spread = covariance(a, a, mean_a, mean_a), covariance(b, b, mean_b, mean_b)
    constant = (spread[0] < _SAME**2) | (spread[1] < _SAME**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = covariance(a, b, mean_a, mean_b) / np.sqrt(spread[0] * spread[1])
    return np.asarray(np.where(constant, np.nan, np.clip(r, -1.0, 1.0)), dtype=np.float64)


def _pearson_rows(a: Floats, b: Floats) -> Floats:
    """Row by row; NaN with fewer than 3 columns, or where a row is constant (to 1e-9)."""
    if a.shape[1] < 3:
        return np.full(a.shape[0], np.nan)
    constant = (np.ptp(a, axis=1) < _SAME) | (np.ptp(b, axis=1) < _SAME)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.asarray(np.where(constant, np.nan, np.clip(r, -1.0, 1.0)), dtype=np.float64)
