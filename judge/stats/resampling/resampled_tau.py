"""Kendall's tau-b in each bootstrap resample: overall, over system means, within groups.

Several judges share one vector of human ratings, so that the weights of resamples are computed only once. Results are
identical with and without compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall, weighted_tau
from judge.stats.resampling.bootstrap import Resamples

# Mean ratings of groups of stories (systems) in each bootstrap resample, over the stories that both the judge and
# people rated.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Means of x and of y, NaN for a group without stories, and how often each group stands; each of shape (judges, b,
# groups).
Means = tuple[Floats, Floats, NDArray[np.int64]]

# Means, or weights of stories, worked on at a time.
_BLOCK = 4_000_000


def in_resamples(resamples: Resamples, x: Floats, y: Floats, group: Codes) -> Iterator[tuple[slice, slice, Means]]:
    """Rows of `x`, a slice of the resamples, and the means of groups (systems) in them, in blocks to limit memory.

    `resamples` are of n stories. `x` (judges, n) are the judges' ratings, `y` (n,) or (judges, n) people's, or those
    that each judge is compared with; means are over the stories that both rated. `group` (n,) holds systems. `Means`
    are the judge's means, people's means and the weights of the groups, each (judges, resamples in the slice, groups).
    """
    groups = int(group.max()) + 1 if group.size else 0
    mass, varying = resamples.split(group)
    if varying is None:
        unit, units = np.zeros(group.size, dtype=np.int64), 1
    elif len(varying.factors) == 1:
        unit, units = varying.unit, varying.counts.shape[1]
    else:
        unit, units = np.arange(group.size), group.size
    step = max(1, _BLOCK // max(1, units, groups))
    several = max(1, _BLOCK // 8 // max(1, units * groups, min(step, resamples.size) * groups))
    cell = unit * groups + group
    for begin in range(0, len(x), several):
        rows = slice(begin, begin + several)
        side_x, side_y = x[rows], np.broadcast_to(y, x.shape)[rows]
        keep = ~(np.isnan(side_x) | np.isnan(side_y))
        sums = [_sums(side, keep, cell, (units, groups)) for side in (None, side_x, side_y)]
        for start in range(0, resamples.size, step):
            block = slice(start, start + step)
            counts = np.ones((mass[block].shape[0], 1)) if varying is None else _counts(varying, block)
            total, of_x, of_y = (counts @ side for side in sums)
            yield rows, block, (_mean(of_x, total), _mean(of_y, total), np.broadcast_to(mass[block], total.shape))


def _counts(varying: Resamples, block: slice) -> Floats:
    counts = varying.counts[block] if len(varying.factors) == 1 else varying.weights(block)
    return counts.astype(np.float64)


def _sums(values: Floats | None, keep: NDArray[np.bool_], cell: Codes, shape: tuple[int, int]) -> Floats:
    """Sum of `values` (None: number) over the stories in `keep`, by judge, unit and group; `shape`: units, groups."""
    judges, cells = len(keep), shape[0] * shape[1]
    weights = None if values is None else values[keep]
    where = (cell + cells * np.arange(judges)[:, None])[keep]
    return np.bincount(where, weights=weights, minlength=judges * cells).reshape(judges, *shape).astype(np.float64)


def _mean(sums: Floats, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(total > 0, sums / total, np.nan)
    return mean.round(kendall.DECIMALS)


_MIN_PAIRS = 3
_FEW_UNITS = 32
# Floats of matrices between units, or of indicators of levels, that are held at a time.
_MATRIX = 8_000_000


def tau_b(resamples: Resamples, x: Codes, y: Codes) -> Floats:
    """tau-b between each judge's and human ratings over all stories, in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) and `y` (n,) are from `kendall.codes`; -1 = missing, left out pairwise for that judge alone.
    Each story counts as often as it was drawn in `resamples`. NaN where the judge's or people's ratings are all equal
    or fewer than 2 rated stories are left.
    """
    judges, people = np.atleast_2d(x), kendall.levels(y)
    rows = np.stack([kendall.levels(np.where(y >= 0, row, -1)) for row in judges]) if len(judges) else judges
    levels, levels_y = rows.max(axis=1, initial=-1) + 1, int(people.max(initial=-1)) + 1
    out = np.empty((len(rows), resamples.size))
    few = levels * levels_y <= kendall.DENSE_CELLS
    for chosen in (np.flatnonzero(few), np.flatnonzero(~few)):
        if chosen.size:
            most = int(levels[chosen].max())
            out[chosen] = _overall(resamples, rows[chosen], people, most if few[chosen[0]] else None)
    return out if np.ndim(x) == 2 else out[0]


def mean_tau_b(resamples: Resamples, rows: Codes) -> Floats:
    """Mean over all pairs of rows (such as criteria) of their tau-b over all stories, in each of B `resamples`, (B,).

    `rows` (k, n) are from `kendall.codes`, none missing and no row constant; k >= 2. The tau-b of two complete rows is
    a weighted sum over pairs of stories of z_i s_i z_j s_j, where s are signs of differences and 1 / z^2 is a row's
    number of untied pairs. Summed over rows first, the mean takes time by the number of rows, not of pairs of rows. It
    equals the mean of `tau_b` up to rounding; NaN in a resample where the ratings of a row are all equal.
    """
    k, (first, second) = len(rows), np.triu_indices(rows.shape[1], k=1)
    step = max(1, _MATRIX // (k + resamples.size))
    parts = [(first[i : i + step], second[i : i + step]) for i in range(0, first.size, step)]
    weights = resamples.weights().astype(np.float64)
    untied = np.zeros((resamples.size, k))
    for a, b in parts:
        untied += (weights[:, a] * weights[:, b]) @ (rows[:, a] != rows[:, b]).astype(np.float64).T
    scale = np.sqrt(1 / np.where(untied > 0, untied, np.nan))
    squares = np.zeros(resamples.size)
    for a, b in parts:
        total = scale @ np.sign(rows[:, a] - rows[:, b]).astype(np.float64)
        squares += np.einsum("bp,bp,bp,bp->b", weights[:, a], weights[:, b], total, total)
    return (squares - k) / (k * (k - 1))


def _overall(resamples: Resamples, x: Codes, y: Codes, levels: int | None) -> Floats:
    """tau-b of each judge with people, by the fastest method; `levels` None = too many for contingency tables."""
    n, judges = resamples.n, len(x)
    one_way = len(resamples.factors) == 1
    units = resamples.factors[0].counts.shape[1] if one_way else n
    by_tables = 2 * n * levels if levels else n * n
    if one_way and units <= kendall.QUADRATIC_N and units**2 <= by_tables:
        step = max(1, _MATRIX // max(1, units**2))
        parts = (weighted_tau.by_units(x[i : i + step], y, resamples.unit) for i in range(0, judges, step))
        return np.concatenate([statistic(resamples.counts) for statistic in parts])
    step = max(1, _MATRIX // max(1, by_tables))
    out = np.empty((judges, resamples.size))
    for start in range(0, judges, step):
        part = slice(start, start + step)
        statistic = weighted_tau.by_stories(x[part], y)
        for block in resamples.blocks():
            out[part, block] = statistic(resamples.weights(block))
    return out


def tau_b_means(resamples: Resamples, x: Floats, y: Floats, group: Codes) -> Floats:
    """tau-b of each judge with people over means of groups (systems), in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) are the judges' ratings, `y` (n,) people's; NaN is left out pairwise for that judge alone.
    Means of a `group` (n,) are over the same drawn stories; those within 1e-9 are tied, as in `kendall.codes`. A system
    drawn twice in `resamples` counts twice, and its copies are tied. NaN where means are all equal or fewer than two
    systems are left.
    """
    judges = np.atleast_2d(x)
    out = np.empty((len(judges), resamples.size))
    for rows, block, means in in_resamples(resamples, judges, y, group):
        flat = (-1, means[0].shape[2])
        pairs = weighted_tau.pairs_of_rows(means[0].reshape(flat), means[1].reshape(flat), means[2].reshape(flat))
        out[rows, block] = kendall.of_untied(*pairs).reshape(means[0].shape[:2])
    return out if np.ndim(x) == 2 else out[0]


def tau_b_within(resamples: Resamples, x: Codes, y: Codes, group: Codes) -> Floats:
    """Mean over groups (story-prompts or systems) of tau-b within a group, in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) and `y` (n,) are from `kendall.codes`, -1 = missing; `group` (n,) holds codes from 0 on. A
    group drawn twice in `resamples` counts twice. Groups without a tau-b, or with fewer than 3 pairs of ratings (as in
    `coefficients.correlate_within`), are left out; NaN if all are.
    """
    judges = np.where(y >= 0, np.atleast_2d(x), -1)
    mass, varying = resamples.split(group)
    total, weight = np.zeros((2, len(judges), resamples.size))
    members = [np.flatnonzero(group == g) for g in range(mass.shape[1])]
    if varying is not None and _once(varying, group):
        grid = _grid(varying, group, np.stack([*judges, y]))
        for j, block, tau in _small_groups(varying.counts, grid):
            defined = np.where(np.isnan(tau), 0.0, mass[block])
            total[j, block] = (np.nan_to_num(tau) * defined).sum(axis=1)
            weight[j, block] = defined.sum(axis=1)
        members = []
    for g, rows in enumerate(members):
        enough = np.flatnonzero((judges[:, rows] >= 0).sum(axis=1) >= _MIN_PAIRS)
        part = judges[np.ix_(enough, rows)]
        if varying is None:
            tau = np.array([[kendall.tau_b(row, y[rows])] for row in part]).reshape(-1, 1)
        else:
            tau = tau_b(varying.of(rows), part, y[rows])
        defined = np.where(np.isnan(tau), 0.0, mass[:, g])
        total[enough] += np.nan_to_num(tau) * defined
        weight[enough] += defined
    with np.errstate(invalid="ignore"):
        out = np.where(weight > 0, total / weight, np.nan)
    return out if np.ndim(x) == 2 else out[0]


def _once(varying: Resamples, group: Codes) -> bool:
    """Whether `_small_groups` is possible: few units of one kind, with at most one story of each unit in a group."""
    units = varying.factors[0].counts.shape[1]
    if len(varying.factors) > 1 or units > _FEW_UNITS:
        return False
    return bool(np.bincount(group * units + varying.unit).max() <= 1)


def _grid(varying: Resamples, group: Codes, codes: Codes) -> Codes:
    """Rating codes (judges + 1, n stories) as (judges + 1, groups, units); -1 where there is no story."""
    grid = np.full((len(codes), int(group.max()) + 1, varying.counts.shape[1]), -1, dtype=np.int64)
    grid[:, group, varying.unit] = codes
    return grid


def _small_groups(counts: NDArray[np.int32], grid: Codes) -> Iterator[tuple[int, slice, Floats]]:
    """Judge, slice of resamples, and tau-b within groups (resamples, groups), by products of the `counts` of units."""
    first, second = np.triu_indices(grid.shape[2], 1)
    signs = np.sign(grid[:, :, second] - grid[:, :, first])
    missing = (grid[:, :, second] < 0) | (grid[:, :, first] < 0)
    *judges, people = signs
    forms = []
    for sign, gone, level in zip(judges, missing[:-1], grid[:-1], strict=True):
        gone = gone | ((level >= 0).sum(axis=1, keepdims=True) < _MIN_PAIRS)  # noqa: PLW2901
        x, y = np.where(gone, 0, sign), np.where(gone, 0, people)
        forms.append(np.concatenate([x * y, np.abs(x), np.abs(y)]).T.astype(np.float32))
    step = max(1, _MATRIX // 8 // max(1, first.size, 3 * grid.shape[1]))
    for start in range(0, counts.shape[0], step):
        block = slice(start, start + step)
        pairs = (counts[block][:, first] * counts[block][:, second]).astype(np.float32)
        for j, form in enumerate(forms):
            yield j, block, kendall.of_untied(*np.split(pairs @ form, 3, axis=1))
