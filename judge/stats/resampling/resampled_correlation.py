"""Correlation between a judge's and human ratings in each resample: overall, over group means, or within groups.

Kendall's tau-b uses the fast algorithms of `judge.stats.resampling.resampled_tau`; Spearman's rho and Pearson's r are
computed from weights. A group (system or story-prompt) that was drawn twice counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import coefficients, kendall, weighted_tau
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient
from judge.stats.resampling import resampled_tau
from judge.stats.resampling.bootstrap import Resamples

# Kendall's tau-b of many pairs of variables over the same few stories, on the data and in resamples.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Up to so many stories all pairs of them are held at once.
FEW_STORIES = 128

_BLOCK = 4_000_000


def taus(x: Floats, y: Floats, sets: Sequence[Resamples] = ()) -> tuple[Floats, tuple[Floats, ...]]:
    """tau-b of each row of `x` with the same row of `y`, (rows,), and in each of `sets` of B resamples, (rows, B) each.

    `x` and `y` (rows, n stories) are ratings; a NaN is left out of that row, and values within 1e-9 are tied. n is
    small: time and memory grow with its square. NaN where all values of a side are tied or fewer than two stories are
    left.
    """
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


_FASTER: Mapping[Coefficient, _Faster] = {"kendall": _Faster(resampled_tau.tau_b, resampled_tau.tau_b_within)}


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
    `group` (n,), codes from 0 on, else ValueError. NaN where undefined.
    """
    judges = np.atleast_2d(x)
    if np.ndim(y) == 2 and grouping != "means":
        if grouping == "overall" and coefficient == "kendall" and resamples.n <= FEW_STORIES:
            return taus(judges, y, [resamples])[1][0]
        pairs = zip(judges, y, strict=True)
        return np.stack([values(resamples, *pair, coefficient, grouping=grouping, group=group) for pair in pairs])
    if grouping == "overall":
        correlations = _overall(resamples, judges, y, coefficient)
    elif group is None:
        raise ValueError(f"grouping {grouping!r} needs the group of each story")
    elif grouping == "means":
        correlations = _over_means(resamples, judges, y, group, coefficient)
    elif grouping == "within":
        correlations = _within(resamples, judges, y, group, coefficient)
    else:
        assert_never(grouping)
    return correlations if np.ndim(x) == 2 else correlations[0]


def _overall(resamples: Resamples, judges: Floats, y: Floats, coefficient: Coefficient) -> Floats:
    if coefficient in _FASTER:
        return _FASTER[coefficient].overall(resamples, _codes(judges), kendall.codes(y))
    return np.stack([resamples.values(coefficients.resampled(row, y, coefficient)) for row in judges])


def _over_means(resamples: Resamples, judges: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    out = np.empty((len(judges), resamples.size))
    for rows, block, means in resampled_tau.in_resamples(resamples, judges, y, group):
        out[rows, block] = of_means(*means, coefficient)
    return out


def of_means(mean_x: Floats, mean_y: Floats, mass: NDArray[np.int64], coefficient: Coefficient) -> Floats:
    """The correlation over groups (such as systems) between mean ratings, in each of b resamples, (..., b).

    `mean_x` and `mean_y` (..., b, groups) are the judge's and people's means; a group with a NaN is left out. `mass`
    (same shape) is how often each group counts. `coefficient` names the correlation. NaN where undefined.
    """
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
    with np.errstate(invalid="ignore"):
        return np.where(weight > 0, total / weight, np.nan)


def _codes(judges: Floats) -> Codes:
    return np.stack([kendall.codes(row) for row in judges])
