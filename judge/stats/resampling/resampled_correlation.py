"""Correlation between a judge's and human ratings in each bootstrap resample: over all stories, over group means, or
within groups.

Kendall's tau-b uses the fast algorithms of `judge.stats.resampling.resampled_tau`; Spearman's rho and Pearson's r are
computed from weights. A group (system or story-prompt) that was drawn twice counts twice, both in the correlation over
means and in the mean over groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import coefficients, kendall
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient
from judge.stats.resampling import group_means, many_taus, resampled_tau
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Grouping = Literal["overall", "means", "within"]


@dataclass(frozen=True, slots=True)
class _Faster:
    """Algorithms that compute what a coefficient's record computes, faster, for codes of all judges at once."""

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
    """The correlation between a judge's ratings x and human ratings y in each bootstrap resample.

    Parameters
    ----------
    resamples : Resamples
        B resamples of n stories, which draw one or two kinds of units (such as story-prompts).
    x : array, shape (n,) or (judges, n)
        Each judge's ratings; NaN = missing, left out pairwise for that judge alone.
    y : array, shape (n,) or (judges, n)
        The people's ratings, or those that each judge is compared with.
    coefficient : {"kendall", "spearman", "pearson"}
        The correlation coefficient.
    grouping : {"overall", "means", "within"}
        "overall": over all stories. "means": over the means of the groups. "within": the mean of the
        correlations within groups.
    group : array of int, shape (n,)
        System or story-prompt of each story, as codes from 0 on; required for "means" and "within".

    Returns
    -------
    array, shape (B,) or (judges, B)
        NaN where the correlation is undefined in that resample.

    Raises
    ------
    ValueError
        `grouping` is "means" or "within", and `group` is None.
    """
    judges = np.atleast_2d(x)
    if np.ndim(y) == 2 and grouping != "means":
        if grouping == "overall" and coefficient == "kendall" and resamples.n <= many_taus.FEW_STORIES:
            return many_taus.taus(judges, y, [resamples])[1][0]
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
    for rows, block, means in group_means.in_resamples(resamples, judges, y, group):
        out[rows, block] = of_means(*means, coefficient)
    return out


def of_means(mean_x: Floats, mean_y: Floats, mass: NDArray[np.int64], coefficient: Coefficient) -> Floats:
    """The correlation over groups (such as systems) between the judge's and people's mean ratings, in each of b
    resamples.

    Parameters
    ----------
    mean_x, mean_y : array, shape (..., b, groups)
        Mean ratings of each group by the judge and by people; NaN = missing. A group with a missing mean is
        left out. Axes before may count judges.
    mass : array of int, same shape
        How often each group counts in each resample.
    coefficient : {"kendall", "spearman", "pearson"}
        The correlation coefficient.

    Returns
    -------
    array, shape (..., b)
        NaN where the correlation is undefined.
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
