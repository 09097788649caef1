"""Correlations with human ratings by group, with standard deviations, and a test of homogeneity.

A correlation is lower where ratings vary less (restriction of range). The standard deviations of the judge's and of
people's ratings are therefore given with each r: a lower r in a group of similar stories does not by itself show a
worse judge. The test compares correlations that are corrected for one cause of this, ratings that gather at an end of
the scale (`latent_correlation`): in simulated systems at unlike levels of a bounded scale, Cochran's Q of the plain r
rejected in up to 70 % of studies of a judge that was equally good everywhere (`tests/benchmarks/simulations/drift.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.stats.correlation.coefficients import correlate, fisher_z
from judge.stats.correlation.latent_correlation import LatentCorrelation, latent_correlation

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# With fewer pairs than this Fisher's interval covers most of what is possible.
FEW = 10


@dataclass(frozen=True, slots=True)
class GroupCorrelation:
    """Pearson's r of judge and people in one group of stories.

    `r` has Fisher's z interval, 95 %, which assumes independent stories. `latent` is corrected for the distributions of
    the two ratings; None where undefined. The standard deviations (with n - 1) are over the stories of r.
    """

    r: Estimate
    latent: LatentCorrelation | None
    sd_judge: float | None
    sd_people: float | None

    @property
    def few(self) -> bool:
        """Whether r rests on fewer than 10 stories."""
        return self.r.n < FEW


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """Test that the correlation is equal in all groups: Cochran's Q, with Welch's F distribution; None for a `reason`.

    `p` is the upper tail of `q`; `df` is the number of groups used minus 1. `i2` is the share of the variation of the
    correlations beyond chance, max(0, (Q - df) / Q) (Higgins & Thompson 2002). `left_out` counts groups without a
    usable correlation (undefined, 3 stories or fewer, all but one story rated alike, |r| = 1).
    """

    q: float | None
    df: int
    p: float | None
    i2: float | None
    left_out: int
    reason: str | None = None


def in_group(judge: Floats, people: Floats) -> GroupCorrelation:
    """Pearson's r of `judge` and `people` (n stories,) in one group, with both SDs; NaN is left out pairwise.

    Undefined for fewer than 3 stories with both ratings, or if one side is constant.
    """
    keep = ~(np.isnan(judge) | np.isnan(people))
    x, y = judge[keep], people[keep]
    names = ("the judge's ratings", "the people's ratings")
    r = fisher_z(correlate(x, y, "pearson", names=names, unit="stories"))
    sds = (float(side.std(ddof=1)) if side.size > 1 else None for side in (x, y))
    return GroupCorrelation(r, latent_correlation(x, y), *sds)


def by_group(judge: Floats, people: Floats, group: Codes, groups: int) -> tuple[GroupCorrelation, ...]:
    """`in_group` of `judge` and `people` (n,) for each `group` (n,), 0..`groups`-1."""
    return tuple(in_group(judge[group == g], people[group == g]) for g in range(groups))


def homogeneity(correlations: Sequence[LatentCorrelation | None]) -> Homogeneity:
    """Test that `correlations` of groups are equal (Welch 1951, Biometrika 38, on Fisher's z); None = undefined.

    Q = sum w_g (z_g - z)^2 with w_g = 1 / variance of z_g, and z the mean of z_g weighted by w_g. With few stories
    these variances are uncertain: Q / (groups - 1) is compared with Welch's F distribution in place of chi-squared.
    Groups must be independent. Systems that wrote for the same story-prompts share a part of their variance, and the
    test is then approximate. Undefined with fewer than two usable groups.
    """
    usable = [group for group in correlations if group is not None]
    left_out, groups = len(correlations) - len(usable), len(usable)
    if groups < 2:
        reason = f"undefined with {groups} usable group{'s' if groups != 1 else ''}"
        return Homogeneity(None, 0, None, None, left_out, reason)
    z, variance, n = (np.array([getattr(group, name) for group in usable]) for name in ("z", "variance", "n"))
    weight = 1 / variance
    q, df = float((weight * (z - weight @ z / weight.sum()) ** 2).sum()), groups - 1
    uncertain = float(((1 - weight / weight.sum()) ** 2 / (n - 1)).sum())
    f = q / df / (1 + 2 * (groups - 2) / (groups**2 - 1) * uncertain)
    p = float(special.fdtrc(df, (groups**2 - 1) / (3 * uncertain), f))
    return Homogeneity(q, df, p, max(0.0, (q - df) / q) if q > 0 else 0.0, left_out)
