"""Simultaneous tests that many overlapping means are 0, by flips of whole clusters' signs.

Each flip draws a sign for every cluster (story-prompt) and studentises all means anew; the largest |t| of a flip is the
reference for every observed |t|, so that no more than 5 % of families without an effect hold a significant mean
(Westfall & Young 1993, single-step maxT; wild cluster resampling with Rademacher signs: Cameron, Gelbach & Miller 2008,
Review of Economics and Statistics 90, 414-427). With the data's own standard error in every flip, far more would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats

FLIPS = 1999


@dataclass(frozen=True, slots=True, eq=False)
class Flipped:
    """`mean`, standard `error`, `t` and adjusted `p` of each of k means; NaN where a mean was not tested.

    `critical` is the 95 % quantile of the largest |t|: mean +- critical * error are simultaneous 95 % intervals. NaN
    without a test."""

    mean: Floats
    error: Floats
    t: Floats
    p: Floats
    critical: float


def cluster_sums(values: Floats, cluster: Codes, group: Codes, groups: int) -> tuple[Floats, Floats]:
    """Sums of `values` (n,) and counts, both of shape (clusters, `groups`); a negative code of a group is none."""
    clusters = int(cluster.max()) + 1 if cluster.size else 0
    inside = group >= 0
    cell = cluster[inside] * groups + group[inside]
    shape = (clusters, groups)
    sums = np.bincount(cell, weights=values[inside], minlength=clusters * groups).reshape(shape)
    return sums, np.bincount(cell, minlength=clusters * groups).reshape(shape).astype(np.float64)


def effective_clusters(counts: Floats) -> Floats:
    """Effective number of clusters of each group, (sum n)^2 / sum n^2 over counts (clusters, groups); 0 for none."""
    square = (counts**2).sum(axis=0)
    return np.asarray(np.where(square > 0, counts.sum(axis=0) ** 2 / np.maximum(square, 1), 0.0), dtype=np.float64)


def flipped(
    sums: Floats, counts: Floats, tested: np.typing.NDArray[np.bool_], *, flips: int = FLIPS, seed: int = 1
) -> Flipped:
    """Tests that the means of the `tested` groups (k,) are 0; `sums` and `counts` are of shape (clusters, k).

    p is (1 + number of flips whose largest |t| reaches the observed one) / (1 + `flips`)."""
    groups = sums.shape[1]
    nothing = np.full(groups, np.nan)
    places = np.flatnonzero(tested)
    if not places.size or sums.shape[0] < 2:
        return Flipped(nothing, nothing.copy(), nothing.copy(), nothing.copy(), float("nan"))
    s, n = sums[:, places], counts[:, places]
    mean, error = _means(np.ones((1, len(s))), s, n)
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(flips, len(s)))
    drawn, errors = _means(signs, s, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, mean / error, 0.0)[0]
        largest = np.nan_to_num(np.abs(drawn) / errors, nan=0.0, posinf=0.0).max(axis=1)
    p = (1 + (largest[:, None] >= np.abs(t)[None, :] - 1e-9).sum(axis=0)) / (1 + flips)
    found = [nothing.copy() for _ in range(4)]
    for column, values in zip(found, (mean[0], error[0], t, p), strict=True):
        column[places] = values
    return Flipped(*found, critical=float(np.quantile(largest, 0.95)))


def _means(signs: Floats, sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Means and their cluster-robust standard errors, (flips, k), with `signs` (flips, clusters) of the sums."""
    total, clusters = counts.sum(axis=0), np.maximum((counts > 0).sum(axis=0), 2)
    mean = signs @ sums / total
    # Of the residual sums s * S - mean * N of the clusters.
    square = (sums**2).sum(axis=0) - 2 * mean * (signs @ (sums * counts)) + mean**2 * (counts**2).sum(axis=0)
    return mean, np.sqrt(np.maximum(square, 0.0) * clusters / (clusters - 1)) / total
