"""Mean cosine similarity of texts within a group and between groups, from unit vectors.

The cosines between vectors of different groups sum to |T|^2 minus the sum of |S_g|^2 over groups, where T is the sum of
all vectors and S_g that of group g. The cost of means and their jackknife is therefore n x d. The jackknife leaves out
one group at a time (Efron & Tibshirani 1993, equation 11.5), since pairs of the same group have texts in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.near_ties import SAME

# Silhouette of groups of unit vectors under cosine distance, for many labellings at once.

Vectors = NDArray[np.float64]

_DISTANCES = 4_000_000


def mean_silhouette(x: Vectors, labels: Codes, groups: int) -> Floats:
    """Mean silhouette of all vectors under cosine distance, for each of b labellings, (b,).

    `x` (n, d) has rows of unit length, and `labels` (b, n) hold 0..`groups`-1. Mean of (b_i - a_i) / max(a_i, b_i),
    where a_i is the mean distance of vector i to its own group and b_i that to the nearest other group. A vector alone
    in its group counts 0, as in scikit-learn's ``silhouette_score(metric="cosine")``. NaN with fewer than two groups.
    """
    step = max(1, _DISTANCES // max(1, x.shape[0] * groups))
    parts = [_some(x, labels[start : start + step], groups) for start in range(0, labels.shape[0], step)]
    return np.concatenate(parts) if parts else np.empty(0)


def _some(x: Vectors, labels: Codes, groups: int) -> Floats:
    b, n = labels.shape
    belongs = labels[:, None, :] == np.arange(groups)[None, :, None]
    size = belongs.sum(axis=2).astype(np.float64)
    sums = belongs.reshape(b * groups, n).astype(np.float64) @ x
    away = size[:, :, None] - (sums @ x.T).reshape(b, groups, n)
    own = np.take_along_axis(away, labels[:, None, :], axis=1)[:, 0, :]
    own_size = np.take_along_axis(size, labels, axis=1)
    inside = _distance(own / np.maximum(own_size - 1, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        other = _distance(np.where((size[:, :, None] > 0) & ~belongs, away / size[:, :, None], np.inf).min(axis=1))
        ratio = (other - inside) / np.maximum(np.maximum(inside, other), 1e-12)
    value = np.where(own_size > 1, ratio, 0.0).mean(axis=1)
    return np.where((size > 0).sum(axis=1) > 1, value, np.nan)


def _distance(mean: Floats) -> Floats:
    """Of equal vectors exactly 0, because a ratio of two rounding errors is arbitrary."""
    return np.where(mean < SAME, 0.0, mean)


# Nearest neighbours of a vector among the vectors of other groups, and the share of them that have the same label.


_CHUNK = 8_000_000


def nearest(x: Vectors, apart: Codes, k: int) -> Codes:
    """The `k` (at most n - 1) nearest neighbours of each of `x` (n, d; unit length) by cosine in other groups, (n, k).

    `apart` (n,) holds groups (stories): several texts about one story are similar for other reasons than their label.
    Neighbours are unordered row indices, -1 where there are fewer. Cosines are rounded to 1e-9, and among equally near
    vectors the first rows are taken. If the order of the rows has a meaning, shuffle them first."""
    n = x.shape[0]
    k = min(k, max(n - 1, 0))
    nearest_rows = np.empty((n, k), dtype=np.int64)
    step = max(1, _CHUNK // max(1, n))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        # Whole numbers below 2^53, all different in a row: a partition has no ties to break in a way of its own.
        nearness = np.rint((x[rows] @ x.T) / SAME) * n - np.arange(n)
        nearness[apart[rows, None] == apart[None, :]] = -np.inf
        if k:
            best = np.argpartition(nearness, n - k, axis=1)[:, n - k :]
            nearest_rows[rows] = np.where(np.isneginf(np.take_along_axis(nearness, best, axis=1)), -1, best)
    return nearest_rows


def purity(neighbours: Codes, labels: Codes) -> Floats:
    """Mean share of a vector's `neighbours` (n, k; from `nearest`) with its own label, for each of b labellings, (b,).

    `labels` (b, n). A vector without a neighbour is left out; NaN where none has one."""
    there = neighbours >= 0
    count = there.sum(axis=1)
    use = count > 0
    out = np.full(labels.shape[0], np.nan)
    if not use.any():
        return out
    for b, label in enumerate(labels):
        same = (label[neighbours] == label[:, None]) & there
        out[b] = float((same.sum(axis=1)[use] / count[use]).mean())
    return out


# Groups below which there is a value and no interval: a jackknife over fewer says little of its own spread.
MIN_GROUPS = 10

_METHOD = "t, jackknife by story, 95 %"


@dataclass(frozen=True, slots=True)
class Likeness:
    """Mean cosine similarity of two texts of the same group and of different groups, and `within` minus `between`."""

    within: Estimate
    between: Estimate
    difference: Estimate


def likeness(x: Vectors, group: Codes) -> Likeness:
    """Mean cosine similarity of two texts of the same group (such as a story) and of two texts of different groups.

    `x` (n, d) has rows of unit length, and `group` (n,) any codes. Within: mean over groups with at least two texts of
    the mean cosine of the group's pairs; between: mean over all pairs. n counts groups. Each is undefined without a
    pair of texts, and has no interval with fewer than `MIN_GROUPS` groups."""
    size, own, sums = _group_sums(x, group)
    groups = size.size
    pairs = size * (size - 1)
    repeated = pairs > 0
    inside = (own[repeated] - size[repeated]) / pairs[repeated]
    within = _mean(inside, "no story has two texts")
    if groups < 2:
        return Likeness(within, Estimate.undefined("one story only", n=groups), Estimate.undefined("one story only"))
    total = sums.sum(axis=0)
    between, without = _between(total, sums, size, own)
    first = _jackknifed(between, without, groups)
    if within.value is None:
        return Likeness(within, first, Estimate.undefined("no story has two texts"))
    mean = inside.mean()
    without_within = np.full(groups, mean)
    if inside.size > 1:
        without_within[repeated] = (inside.sum() - inside) / (inside.size - 1)
    difference = _jackknifed(float(mean) - between, without_within - without, groups)
    return Likeness(within, first, difference)


def pairs_within(group: Codes) -> tuple[Codes, Codes]:
    """All pairs of rows of the same `group` (n,), each once, as two arrays of indices."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
    ends = np.r_[starts[1:], group.size]
    first, second = [], []
    for size in np.unique(ends - starts):
        if size < 2:
            continue
        block = order[starts[ends - starts == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(int(size), 1)
        first.append(block[:, a].reshape(-1))
        second.append(block[:, b].reshape(-1))
    if not first:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate(first).astype(np.int64), np.concatenate(second).astype(np.int64)


def pairs_between(group: Codes, pairs: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Random pairs of rows of different groups, drawn with replacement, as two arrays of indices.

    `group` (n,) holds any codes, and `rng` is seeded by the caller. Of so many `pairs`, those of the same group are
    discarded, so that fewer may be returned."""
    first, second = rng.integers(0, group.size, size=(2, pairs))
    keep = group[first] != group[second]
    return first[keep].astype(np.int64), second[keep].astype(np.int64)


def cosines(x: Vectors, first: Codes, second: Codes) -> Floats:
    """Cosine similarity of the rows `first` and `second` (pairs,) of `x` (n, d), which have unit length."""
    step = max(1, 4_000_000 // max(1, x.shape[1]))
    parts = [
        np.einsum("ij,ij->i", x[first[at : at + step]], x[second[at : at + step]]) for at in range(0, first.size, step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _group_sums(x: Vectors, group: Codes) -> tuple[Floats, Floats, Floats]:
    """Of each group: number of vectors, squared length of their sum, and this sum."""
    _, code = np.unique(group, return_inverse=True)
    order = np.argsort(code, kind="stable")
    size = np.bincount(code)
    starts = np.r_[0, np.cumsum(size)[:-1]]
    sums = np.add.reduceat(x[order], starts, axis=0) if size.size else np.zeros((0, x.shape[1]))
    return size.astype(np.float64), (sums**2).sum(axis=1), sums


def _between(total: Floats, sums: Floats, size: Floats, own: Floats) -> tuple[float, Floats]:
    """Mean cosine of pairs of different groups, and this mean without each group in turn; NaN where one remains."""
    n = size.sum()
    value = float((total @ total - own.sum()) / (n * n - (size**2).sum()))
    left = total[None, :] - sums
    n_left = n - size
    with np.errstate(invalid="ignore", divide="ignore"):
        without = ((left**2).sum(axis=1) - (own.sum() - own)) / (n_left**2 - ((size**2).sum() - size**2))
    return value, np.asarray(without, dtype=np.float64)


def _mean(values: Floats, none: str) -> Estimate:
    if not values.size:
        return Estimate.undefined(none)
    mean = float(values.mean())
    if values.size < MIN_GROUPS:
        return Estimate(mean, values.size, reason=f"no interval with fewer than {MIN_GROUPS} stories")
    half = float(special.stdtrit(values.size - 1, 0.975)) * float(values.std(ddof=1)) / np.sqrt(values.size)
    return Estimate(mean, values.size, mean - half, mean + half, "t over stories, 95 %")


def _jackknifed(value: float, without: Floats, groups: int) -> Estimate:
    if groups < MIN_GROUPS:
        return Estimate(value, groups, reason=f"no interval with fewer than {MIN_GROUPS} stories")
    se = float(np.sqrt((groups - 1) / groups * ((without - without.mean()) ** 2).sum()))
    half = float(special.stdtrit(groups - 1, 0.975)) * se
    return Estimate(value, groups, value - half, value + half, _METHOD)
