"""Simultaneous tests that many overlapping means are 0, by flips of whole clusters' signs.

Each flip draws a sign for every cluster (story-prompt) and studentises all means anew; the largest |t| of a flip is the
reference for every observed |t|, so that no more than 5 % of families without an effect hold a significant mean
(Westfall & Young 1993, single-step maxT; wild cluster resampling with Rademacher signs: Cameron, Gelbach & Miller 2008,
Review of Economics and Statistics 90, 414-427). With the data's own standard error in every flip, far more would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, renumbered

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


def cluster_sums(values: Floats, cluster: Codes, group: Codes, groups: int, clusters: int) -> tuple[Floats, Floats]:
    """Sums of `values` (n,) and counts, both of shape (`clusters`, `groups`), from each value's code of its `cluster`
    and its `group` (n,); a negative code of a group is none."""
    inside = group >= 0
    cell = cluster[inside] * groups + group[inside]
    shape = (clusters, groups)
    sums = np.bincount(cell, weights=values[inside], minlength=clusters * groups).reshape(shape).astype(np.float64)
    return sums, np.bincount(cell, minlength=clusters * groups).reshape(shape).astype(np.float64)


def effective_clusters(counts: Floats) -> Floats:
    """Effective number of clusters of each group, (sum n)^2 / sum n^2 over `counts` (clusters, groups); 0 for none."""
    square = (counts**2).sum(axis=0)
    return np.asarray(np.where(square > 0, counts.sum(axis=0) ** 2 / np.maximum(square, 1), 0.0), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Values that share cells with each other alone, such as those on one criterion, none missing.

    `values` (n,) are centred within each `cell` (n,); `cluster` and `group` (n,) have codes from 0, those of groups
    negative where a value is in none, and those of clusters the same in all blocks."""

    values: Floats
    cluster: Codes
    group: Codes
    cell: Codes


def flipped(
    blocks: Sequence[Block], tested: NDArray[np.bool_], *, clusters: int, flips: int = FLIPS, seed: int = 1
) -> Flipped:
    """Tests that the means of the `tested` groups (k,) are 0, over the `clusters` of all `blocks`, by signs drawn from
    `seed`.

    After every flip the values are centred within cells again, as they were: a group that is nearly all of its cells
    has a mean near 0 in the data and in each flip. p is (1 + number of flips whose largest |t| reaches the observed
    one) / (1 + `flips`)."""
    nothing = np.full(tested.size, np.nan)
    if not tested.any() or clusters < 2:
        return Flipped(nothing, nothing.copy(), nothing.copy(), nothing.copy(), float("nan"))
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(flips, clusters))
    mean, error, largest = nothing.copy(), nothing.copy(), np.zeros(flips)
    for block in blocks:
        places = np.intersect1d(block.group[block.group >= 0], np.flatnonzero(tested))
        if places.size:
            drawn, errors = _means(block, places, signs, clusters)
            (mean[places],), (error[places],) = _means(block, places, np.ones((1, clusters)), clusters)
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.where(errors > 1e-12, np.abs(drawn) / errors, 0.0)
            largest = np.maximum(largest, t.max(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 1e-12, mean / error, np.where(np.isnan(mean), np.nan, 0.0))
    p = np.full(tested.size, np.nan)
    known = ~np.isnan(t)
    p[known] = (1 + (largest[:, None] >= np.abs(t[known])[None, :] - 1e-9).sum(axis=0)) / (1 + flips)
    return Flipped(mean, error, t, p, float(np.quantile(largest, 0.95)))


def _means(block: Block, places: Codes, signs: Floats, clusters: int) -> tuple[Floats, Floats]:
    """Means of the groups `places` and their cluster-robust standard errors, (flips, k), with `signs` (flips, clusters)
    of the clusters' values."""
    place = np.full(int(block.group.max()) + 2, -1)
    place[places] = np.arange(places.size)
    group, k = place[block.group], places.size
    cell = renumbered(block.cell)
    cells = int(cell.max()) + 1
    sums, counts = cluster_sums(block.values, block.cluster, group, k, clusters)
    of_cells, sizes = cluster_sums(block.values, block.cluster, cell, cells, clusters)
    centres = (signs @ of_cells) / sizes.sum(axis=0)
    # Members of each group by cluster and cell.
    members, _ = cluster_sums(
        np.ones(cell.size), block.cluster, np.where(group < 0, -1, group * cells + cell), k * cells, clusters
    )
    members = members.reshape(clusters, k, cells)
    total, active = counts.sum(axis=0), np.maximum((counts > 0).sum(axis=0), 2)
    mean = (signs @ sums - centres @ members.sum(axis=0).T) / total
    square = np.zeros_like(mean)
    for g in range(clusters):
        residual = signs[:, [g]] * sums[g] - centres @ members[g].T - mean * counts[g]
        square += residual**2
    return mean, np.sqrt(square * active / (active - 1)) / total
