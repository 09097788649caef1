"""Correlation between a judge's and human ratings in each bootstrap resample: over all stories, over group means, or
within groups.

Kendall's tau-b uses the fast algorithms of `judge.stats.resampling.resampled_tau`; Spearman's rho and Pearson's r are
computed from weights. A group (system or story-prompt) that was drawn twice counts twice, both in the correlation over
means and in the mean over groups.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import coefficients, kendall
from judge.stats.correlation.coefficients import Coefficient
from judge.stats.resampling import group_means, resampled_tau
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Grouping = Literal["overall", "means", "within"]


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
    y : array, shape (n,)
        The people's ratings.
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
    if grouping != "overall" and group is None:
        raise ValueError(f"grouping {grouping!r} needs the group of each story")
    if grouping == "overall" or group is None:
        correlations = _overall(resamples, judges, y, coefficient)
    elif grouping == "means":
        correlations = _over_means(resamples, judges, y, group, coefficient)
    else:
        correlations = _within(resamples, judges, y, group, coefficient)
    return correlations if np.ndim(x) == 2 else correlations[0]


def _overall(resamples: Resamples, judges: Floats, y: Floats, coefficient: Coefficient) -> Floats:
    if coefficient == "kendall":
        return resampled_tau.tau_b(resamples, _codes(judges), kendall.codes(y))
    return np.stack([resamples.values(coefficients.resampled(row, y, coefficient)) for row in judges])


def _over_means(resamples: Resamples, judges: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    if coefficient == "kendall":
        return resampled_tau.tau_b_means(resamples, judges, y, group)
    out = np.empty((len(judges), resamples.size))
    for j, block, means in group_means.in_resamples(resamples, judges, y, group):
        out[j, block] = of_means(*means, coefficient)
    return out


def of_means(mean_x: Floats, mean_y: Floats, mass: NDArray[np.int64], coefficient: Coefficient) -> Floats:
    """The correlation over groups (such as systems) between the judge's and people's mean ratings, in each of b
    resamples.

    Parameters
    ----------
    mean_x, mean_y : array, shape (b, groups)
        Mean ratings of each group by the judge and by people; NaN = missing. A group with a missing mean is
        left out.
    mass : array of int, shape (b, groups)
        How often each group counts in each resample.
    coefficient : {"kendall", "spearman", "pearson"}
        The correlation coefficient.

    Returns
    -------
    array, shape (b,)
        NaN where the correlation is undefined.
    """
    if coefficient == "kendall":
        rounded = mean_x.round(kendall.DECIMALS), mean_y.round(kendall.DECIMALS)
        return kendall.of_untied(*resampled_tau.pairs_of_rows(*rounded, mass))
    present = ~(np.isnan(mean_x) | np.isnan(mean_y))
    weight = np.where(present, mass, 0)
    a, b = np.where(present, mean_x, 0.0), np.where(present, mean_y, 0.0)
    if coefficient == "spearman":
        a, b = _midranks(a, weight), _midranks(b, weight)
    return coefficients.weighted_pearson(a, b, weight)


def _within(resamples: Resamples, judges: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    if coefficient == "kendall":
        return resampled_tau.tau_b_within(resamples, _codes(judges), kendall.codes(y), group)
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


def _midranks(values: Floats, weight: NDArray[np.int64]) -> Floats:
    """Mid-ranks of values, shape (b resamples, groups), where each value occurs `weight` times. Values with weight 0
    get an arbitrary rank.
    """
    below = np.einsum("bij,bj->bi", values[:, :, None] > values[:, None, :], weight)
    equal = np.einsum("bij,bj->bi", values[:, :, None] == values[:, None, :], weight)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)
