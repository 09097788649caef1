"""Correlations with human ratings by group, with standard deviations, and a test of homogeneity.

A correlation is lower where ratings vary less (restriction of range). The standard deviations of the judge's and of
people's ratings are therefore given with each r: a lower r in a group of similar stories does not by itself show a
worse judge. A pooled correlation is given only together with the test of homogeneity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation.coefficients import MIN_PAIRS, correlate, fisher_z
from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEW = 10
"""With fewer pairs than this Fisher's interval covers most of what is possible."""


@dataclass(frozen=True, slots=True)
class GroupCorrelation:
    """Pearson's r of judge and people in one group of stories.

    Attributes
    ----------
    r : Estimate
        With Fisher's z interval, 95 %, which assumes independent stories.
    sd_judge, sd_people : float or None
        Standard deviations (with n - 1) of the judge's and of people's ratings over the stories of r; None with
        fewer than two.
    """

    r: Estimate
    sd_judge: float | None
    sd_people: float | None

    @property
    def few(self) -> bool:
        """Whether the correlation is computed from fewer than 10 stories."""
        return self.r.n < FEW


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """Cochran's Q test that the correlation is equal in all groups.

    Attributes
    ----------
    q, p : float or None
        Q and its upper-tail chi-squared probability; None where undefined, and `reason` says why.
    df : int
        Number of groups used minus 1.
    i2 : float or None
        Share of the variation of the correlations beyond chance, max(0, (Q - df) / Q) (Higgins & Thompson 2002).
    pooled : Estimate
        The common correlation under homogeneity, with its interval; `n` counts stories.
    left_out : int
        Number of groups without a usable correlation (undefined, 3 stories or fewer, |r| = 1).
    reason : str or None
        Why the test is undefined.
    """

    q: float | None
    df: int
    p: float | None
    i2: float | None
    pooled: Estimate
    left_out: int
    reason: str | None = None


def in_group(judge: Floats, people: Floats) -> GroupCorrelation:
    """Pearson's r of judge and people in one group of stories, with the standard deviation of each of the two.

    Parameters
    ----------
    judge, people : array, shape (n stories,)
        Ratings of each story, in points of the scale; NaN = none, left out pairwise.

    Returns
    -------
    GroupCorrelation
        Undefined, with the reason, for fewer than 3 stories with both ratings, or if one of the two is constant.
    """
    keep = ~(np.isnan(judge) | np.isnan(people))
    x, y = judge[keep], people[keep]
    names = ("the judge's ratings", "the people's ratings")
    r = fisher_z(correlate(x, y, "pearson", names=names, unit="stories"))
    sds = (float(side.std(ddof=1)) if side.size > 1 else None for side in (x, y))
    return GroupCorrelation(r, *sds)


def by_group(judge: Floats, people: Floats, group: Codes, groups: int) -> tuple[GroupCorrelation, ...]:
    """Pearson's r of judge and people in each group of stories.

    Parameters
    ----------
    judge, people : array, shape (n stories,)
        Ratings of each story, in points of the scale; NaN = none, left out pairwise.
    group : array of int, shape (n stories,)
        Group of each story, 0..groups-1.
    groups : int
        Number of groups.

    Returns
    -------
    tuple of GroupCorrelation
        One for each group.
    """
    return tuple(in_group(judge[group == g], people[group == g]) for g in range(groups))


def homogeneity(correlations: Sequence[Estimate]) -> Homogeneity:
    """Test that the correlation is equal in all groups (Hedges & Olkin 1985, chapter 11).

    Q = sum (n_g - 3) (z_g - z)^2 with z_g = atanh(r_g), z their mean weighted by n_g - 3, and groups - 1 degrees of
    freedom. Groups must be independent. Systems that wrote for the same story-prompts share a part of their variance,
    and the test is then approximate.

    Parameters
    ----------
    correlations : sequence of Estimate
        Pearson's r of each group; `n` is its number of stories.

    Returns
    -------
    Homogeneity
        Undefined, with the reason, with fewer than two usable groups.
    """
    from scipy import stats

    # Fisher's z is infinite at |r| = 1.
    usable = [
        (e.value, e.n) for e in correlations if e.value is not None and e.n > MIN_PAIRS and abs(e.value) < 1 - 1e-12
    ]
    left_out = len(correlations) - len(usable)
    if len(usable) < 2:
        reason = f"undefined with {len(usable)} usable group{'s' if len(usable) != 1 else ''}"
        return Homogeneity(None, 0, None, None, Estimate.undefined(reason), left_out, reason)
    z = np.arctanh([r for r, _ in usable])
    weight = np.array([n - 3 for _, n in usable], dtype=np.float64)
    mean = float((weight * z).sum() / weight.sum())
    q, df = float((weight * (z - mean) ** 2).sum()), len(usable) - 1
    half = float(stats.norm.ppf(0.975)) / float(np.sqrt(weight.sum()))
    ends = float(np.tanh(mean - half)), float(np.tanh(mean + half))
    pooled = Estimate(float(np.tanh(mean)), n=sum(n for _, n in usable), low=ends[0], high=ends[1], method="fisher-z")
    return Homogeneity(q, df, float(stats.chi2.sf(q, df)), max(0.0, (q - df) / q) if q > 0 else 0.0, pooled, left_out)
