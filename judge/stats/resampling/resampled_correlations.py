"""Kendall's tau-b in each bootstrap resample: overall, over system means, within groups.

Several judges share one vector of human ratings, so that the weights of resamples are computed only once. Results are
identical with and without compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, Masks, ratio
from judge.stats.correlation import coefficients, kendall, weighted_tau
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient
from judge.stats.resampling.bootstrap import Resamples

# Mean ratings of groups of stories (systems) in each bootstrap resample, over the stories that both the judge and
# people rated.

# Means of x and of y, NaN for a group without stories, and how often each group stands; each of shape (judges, b,
# groups).
Means = tuple[Floats, Floats, Codes]

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


def _sums(values: Floats | None, keep: Masks, cell: Codes, shape: tuple[int, int]) -> Floats:
    """Sum of `values` (None: number) over the stories in `keep`, by judge, unit and group; `shape`: units, groups."""
    judges, cells = len(keep), shape[0] * shape[1]
    weights = None if values is None else values[keep]
    where = (cell + cells * np.arange(judges)[:, None])[keep]
    return np.bincount(where, weights=weights, minlength=judges * cells).reshape(judges, *shape).astype(np.float64)


def _mean(sums: Floats, total: Floats) -> Floats:
    return ratio(sums, total).round(kendall.DECIMALS)


_MIN_PAIRS = 3
_FEW_UNITS = 32
# Floats of matrices between units, or of indicators of levels, that are held at a time.
_MATRIX = 8_000_000


def tau_b(resamples: Resamples, x: Codes, y: Codes) -> Floats:
    """tau-b between each judge's and human ratings over all stories, in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) and `y` (n,) are from `kendall.codes`; -1 = missing, left out pairwise for that judge alone.
    Each story counts as often as it was drawn in `resamples`. NaN where the judge's or people's ratings are all equal
    or fewer than 2 rated stories are left."""
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
    equals the mean of `tau_b` up to rounding; NaN in a resample where the ratings of a row are all equal."""
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
    # Tables take stories in this order: sorted once, they need not be in each block of resamples.
    order = np.argsort(y, kind="stable")
    x, y, resamples = x[:, order], y[order], resamples.of(order)
    for start in range(0, judges, step):
        part = slice(start, start + step)
        statistic = weighted_tau.by_stories(x[part], y)
        for block in resamples.blocks():
            out[part, block] = statistic(resamples.weights(block))
    return out


def tau_b_within(resamples: Resamples, x: Codes, y: Codes, group: Codes) -> Floats:
    """Mean over groups (story-prompts or systems) of tau-b within a group, in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) and `y` (n,) are from `kendall.codes`, -1 = missing; `group` (n,) holds codes from 0 on. A
    group drawn twice in `resamples` counts twice. Groups without a tau-b, or with fewer than 3 pairs of ratings (as in
    `coefficients.correlate_within`), are left out; NaN if all are."""
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
    out = ratio(total, weight)
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


# Correlation between a judge's and human ratings in each resample: overall, over group means, or within groups.

# Kendall's tau-b of many pairs of variables over the same few stories, on the data and in resamples.


# Up to so many stories all pairs of them are held at once.
FEW_STORIES = 128


def taus(x: Floats, y: Floats, sets: Sequence[Resamples] = ()) -> tuple[Floats, tuple[Floats, ...]]:
    """tau-b of each row of `x` with the same row of `y`, (rows,), and in each of `sets` of B resamples, (rows, B) each.

    `x` and `y` (rows, n stories) are ratings; a NaN is left out of that row, and values within 1e-9 are tied. n is
    small: time and memory grow with its square. NaN where all values of a side are tied or fewer than two stories are
    left."""
    rows, n = x.shape
    first, second = np.triu_indices(n, 1)
    drawn = [_draws(resamples, first, second) for resamples in sets]
    whole, in_sets = np.empty(rows), tuple(np.empty((rows, resamples.size)) for resamples in sets)
    step = max(1, _BLOCK // max(1, 3 * first.size))
    for start in range(0, rows, step):
        block = slice(start, start + step)
        signs = _signs(x[block], y[block], first, second)
        whole[block] = kendall.of_untied(*signs.sum(axis=2, dtype=np.float64))
        for resamples, out, (order, bounds, weights) in zip(sets, in_sets, drawn, strict=True):
            sums = np.add.reduceat(signs[..., order], bounds, axis=2) if bounds.size else signs[..., :0]
            sums = sums.reshape(3 * len(x[block]), bounds.size).astype(weights.dtype, copy=False)
            out[block] = kendall.of_untied(*(sums @ weights).reshape(3, -1, resamples.size).astype(np.float64))
    return whole, in_sets


def _signs(x: Floats, y: Floats, first: Codes, second: Codes) -> NDArray[np.float32]:
    """Concordant (1) or discordant (-1), untied on x, untied on y, (3, rows, pairs); 0 where one is missing."""
    x, y = (side.round(kendall.DECIMALS) for side in (x, y))
    sign_x, sign_y = (np.sign(side[:, second] - side[:, first]) for side in (x, y))
    gone = np.isnan(sign_x) | np.isnan(sign_y)
    sign_x[gone] = sign_y[gone] = 0
    return np.stack([sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)]).astype(np.float32)


def _draws(
    resamples: Resamples, first: Codes, second: Codes
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
    """Order of pairs of stories by their two units, where each two units begin, and how often they count."""
    one_way = len(resamples.factors) == 1
    unit, counts = (resamples.unit, resamples.counts) if one_way else (np.arange(resamples.n), resamples.weights())
    low, high = np.minimum(unit[first], unit[second]), np.maximum(unit[first], unit[second])
    code = low * (int(unit.max(initial=-1)) + 1) + high
    order = np.argsort(code, kind="stable")
    bounds = np.flatnonzero(np.diff(code[order], prepend=-1))
    at = order[bounds]
    sizes = np.bincount(unit, minlength=counts.shape[1])
    drawn = int((counts @ sizes).max(initial=0))
    whole: NDArray[Any] = counts.T.astype(weighted_tau.exact(drawn * drawn))
    return order, bounds, whole[low[at]] * whole[high[at]]


Grouping = Literal["overall", "means", "within"]


@dataclass(frozen=True, slots=True)
class _Faster:
    """What computes the same as a coefficient's record, faster, for codes of all judges at once."""

    overall: Callable[[Resamples, Codes, Codes], Floats]
    within: Callable[[Resamples, Codes, Codes, Codes], Floats]


_FASTER: Mapping[Coefficient, _Faster] = {"kendall": _Faster(tau_b, tau_b_within)}


def values(
    resamples: Resamples,
    x: Floats,
    y: Floats,
    coefficient: Coefficient = "kendall",
    *,
    grouping: Grouping = "overall",
    group: Codes | None = None,
) -> Floats:
    """The correlation between a judge's and human ratings in each of B resamples, (B,) or (judges, B).

    `resamples` are of n stories. `x` (n,) or (judges, n) are the judges' ratings, NaN left out pairwise for that judge
    alone; `y` (n,) or (judges, n) people's, or those that each judge is compared with. The named `coefficient` is taken
    over all stories or, by `grouping`, over the "means" of the groups or as the mean "within" groups; these need
    `group` (n,), codes from 0 on, else ValueError. NaN where undefined."""
    judges = np.atleast_2d(x)
    if np.ndim(y) == 2 and grouping != "means":
        if grouping == "overall" and coefficient == "kendall" and resamples.n <= FEW_STORIES:
            return taus(judges, y, [resamples])[1][0]
        pairs = zip(judges, y, strict=True)
        return np.stack([values(resamples, *pair, coefficient, grouping=grouping, group=group) for pair in pairs])
    if grouping == "overall":
        correlations = _resampled_correlation_overall(resamples, judges, y, coefficient)
    elif group is None:
        raise ValueError(f"grouping {grouping!r} needs the group of each story")
    elif grouping == "means":
        correlations = _over_means(resamples, judges, y, group, coefficient)
    elif grouping == "within":
        correlations = _within(resamples, judges, y, group, coefficient)
    else:
        assert_never(grouping)
    return correlations if np.ndim(x) == 2 else correlations[0]


def _resampled_correlation_overall(resamples: Resamples, judges: Floats, y: Floats, coefficient: Coefficient) -> Floats:
    if coefficient in _FASTER:
        return _FASTER[coefficient].overall(resamples, _codes(judges), kendall.codes(y))
    return np.stack([resamples.values(coefficients.resampled(row, y, coefficient)) for row in judges])


def _over_means(resamples: Resamples, judges: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    out = np.empty((len(judges), resamples.size))
    for rows, block, means in in_resamples(resamples, judges, y, group):
        out[rows, block] = of_means(*means, coefficient)
    return out


def of_means(mean_x: Floats, mean_y: Floats, mass: Codes, coefficient: Coefficient) -> Floats:
    """The correlation over groups (such as systems) between mean ratings, in each of b resamples, (..., b).

    `mean_x` and `mean_y` (..., b, groups) are the judge's and people's means; a group with a NaN is left out. `mass`
    (same shape) is how often each group counts. `coefficient` names the correlation. NaN where undefined."""
    flat = (-1, mean_x.shape[-1])
    rows = COEFFICIENTS[coefficient].of_rows(mean_x.reshape(flat), mean_y.reshape(flat), mass.reshape(flat))
    return rows.reshape(mean_x.shape[:-1])


def _within(resamples: Resamples, judges: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    if coefficient in _FASTER:
        return _FASTER[coefficient].within(resamples, _codes(judges), kendall.codes(y), group)
    mass, varying = resamples.split(group)
    total, weight = np.zeros((2, len(judges), resamples.size))
    for j, judge in enumerate(judges):
        for g in range(mass.shape[1]):
            rows = np.flatnonzero((group == g) & ~np.isnan(judge + y))
            if rows.size < coefficients.MIN_PAIRS:
                continue
            if varying is None:
                correlations = np.array([coefficients.coefficient_of(judge[rows], y[rows], coefficient)])
            else:
                correlations = varying.of(rows).values(coefficients.resampled(judge[rows], y[rows], coefficient))
            group_mass = np.where(np.isnan(correlations), 0.0, mass[:, g])
            total[j] += np.nan_to_num(correlations) * group_mass
            weight[j] += group_mass
    return ratio(total, weight)


def _codes(judges: Floats) -> Codes:
    return np.stack([kendall.codes(row) for row in judges])
