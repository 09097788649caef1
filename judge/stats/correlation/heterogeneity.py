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
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judge.base.arrays import Codes, Floats, number
from judge.base.estimate import Estimate
from judge.stats.correlation.coefficients import MIN_PAIRS, correlate, fisher_z, pearson

# Williams' test of r12 = r13, for two dependent correlations that share variable 1 (such as human ratings).

Tail = Literal["two-sided", "greater", "less"]
# What to print beside a test that was fed with tau.
PEARSON_NOTE = (
    "derived for Pearson's r of independent stories; with Kendall's tau it is only approximate: too cautious where "
    "stories are an independent sample (tau varies less than Pearson's r); too bold where systems are a sample too "
    "(stories of one system are alike), so that one should resample systems and story-prompts"
)

# A p too small for a float is given as this: a test never proves anything.
LEAST_P = float(np.finfo(np.float64).tiny)

# Rounding noise: correlations this close are equal, this close to 1 are 1, determinants this close to 0 are 0.
_EXACT = 1e-12

REASONS = (
    None,
    "undefined because a correlation is missing",
    "undefined with n <= 3",
    "undefined because a correlation is 1 or -1",
    "undefined because the three correlations do not fit together (their matrix is not positive definite)",
)


@dataclass(frozen=True, slots=True)
class CorrelationTest:
    """One test of r12 = r13, the correlations of variable 1 (such as human ratings) with variables 2 and 3.

    `statistic` is t, with `df` degrees of freedom and `p`; None where undefined, for a `reason`. `n` counts stories (or
    systems) of all three correlations. `difference`, r12 - r13, is given whenever both exist, even without a test."""

    statistic: float | None
    df: int | None
    p: float | None
    tail: Tail
    n: int
    difference: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationTests:
    """Tests of r12 = r13 as arrays of one shape; an undefined test has NaN and a reason."""

    statistic: Floats
    df: Floats
    p: Floats
    tail: Tail
    n: Codes
    difference: Floats
    reason: NDArray[np.object_]


def compare(r12: float, r13: float, r23: float, n: int, *, tail: Tail) -> CorrelationTest:
    """Williams' test of r12 = r13, where `r12`, `r13` and (signed) `r23` are correlations over the same `n` stories.

    `tail` "greater" tests r12 > r13; use "two-sided" unless the direction was fixed before seeing the data. Undefined,
    with a reason, for a missing correlation (NaN), n <= 3, |r| = 1, and a correlation matrix that is not positive
    definite (possible for taus, or with different stories). Equal correlations give t = 0 and p = .5 (1 if two-sided).
    ValueError for |r| > 1 or an unknown tail."""
    tests = compare_arrays(r12, r13, r23, n, tail=tail)
    df = number(tests.df)
    return CorrelationTest(
        statistic=number(tests.statistic),
        df=None if df is None else int(df),
        p=number(tests.p),
        tail=tail,
        n=int(n),
        difference=number(tests.difference),
        reason=tests.reason.item(),
    )


def compare_arrays(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: ArrayLike, *, tail: Tail) -> CorrelationTests:
    """Williams' test of r12 = r13 for whole arrays (Steiger 1980, eq. 7).

    `r12`, `r13`, `r23`, `n` and `tail` are as in `compare`; the first four broadcast together."""
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    a, b, c, size = np.broadcast_arrays(a, b, c, np.asarray(n, dtype=np.int64))
    why = _why_not(a, b, c, size)
    with np.errstate(all="ignore"):
        difference = np.where(np.abs(a - b) <= _EXACT, 0.0, a - b)
        statistic = np.where(why == 0, _williams(difference, a, b, c, size), np.nan)
    df = np.where(why == 0, size - 3.0, np.nan)
    p = _tail_probability(statistic, df, tail)
    reason = np.asarray(np.array(REASONS, dtype=object)[why], dtype=object)
    return CorrelationTests(statistic, df, p, tail, size, difference, reason)


def by_strength(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """`r12`, `r13` and `r23` after reversing variables 2 and 3 where needed, so that r12 and r13 are not negative.

    It is used where some measures are distances: a good distance correlates negatively with human ratings. r23 changes
    its sign if one of the variables is reversed, and keeps it if both are."""
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    turns = np.where(a < 0, -1.0, 1.0) * np.where(b < 0, -1.0, 1.0)
    return np.abs(a), np.abs(b), np.asarray(turns * c, dtype=np.float64)


def _tail_probability(statistic: Floats, df: Floats, tail: Tail) -> Floats:
    """p of a t statistic, at least `LEAST_P`; NaN stays NaN. ValueError for an unknown tail."""
    if tail not in get_args(Tail):
        raise ValueError(f"unknown tail {tail!r}: one of {', '.join(get_args(Tail))}")
    # The lower tail is computed without a subtraction from 1, so that small p keep their digits.
    x = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[tail]
    p = special.stdtr(df, x)
    return np.asarray(np.maximum(2 * p if tail == "two-sided" else p, LEAST_P), dtype=np.float64)


def _why_not(a: Floats, b: Floats, c: Floats, n: Codes) -> Codes:
    """Index into `REASONS` of the first reason why a test is not possible; ValueError for |r| > 1."""
    largest = np.fmax(np.fmax(np.abs(a), np.abs(b)), np.abs(c))
    if np.any(largest > 1 + 1e-9):
        raise ValueError(f"a correlation of {float(np.nanmax(largest)):g} is outside -1 to 1")
    missing = np.isnan(a) | np.isnan(b) | np.isnan(c)
    cases = [missing, n <= 3, largest >= 1 - _EXACT, _determinant(a, b, c) <= _EXACT]
    return np.asarray(np.select(cases, [1, 2, 3, 4], 0), dtype=np.int64)


def _determinant(a: Floats, b: Floats, c: Floats) -> Floats:
    """Of the correlation matrix of three variables."""
    return 1 - a**2 - b**2 - c**2 + 2 * a * b * c


def _williams(difference: Floats, a: Floats, b: Floats, c: Floats, n: Codes) -> Floats:
    mean = (a + b) / 2
    # A product, because the last bit of `** 3` depends on the processor and on the array's shape.
    cube = (1 - c) * (1 - c) * (1 - c)
    below = 2 * _determinant(a, b, c) * (n - 1) / (n - 3) + mean * mean * cube
    return np.asarray(difference * np.sqrt((n - 1) * (1 + c) / below), dtype=np.float64)


# Partial correlation: the agreement that remains when a third variable is held fixed.


_PARTIAL_ONE = 1 - 1e-12


def partial(xy: ArrayLike, xz: ArrayLike, yz: ArrayLike) -> Floats:
    """Partial correlation of x and y given z (Yule 1907; tau-b: Kendall 1942), from correlations `xy`, `xz` and `yz`.

    Shapes broadcast. NaN where one is NaN, or where |xz| or |yz| is 1: z then determines x (or y) completely."""
    r, a, b = (np.asarray(value, dtype=np.float64) for value in (xy, xz, yz))
    fixed = (np.abs(a) >= _PARTIAL_ONE) | (np.abs(b) >= _PARTIAL_ONE)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (r - a * b) / np.sqrt((1 - a * a) * (1 - b * b))
    return np.asarray(np.where(fixed, np.nan, np.clip(out, -1.0, 1.0)), dtype=np.float64)


# Correlation of the normal variables behind two ratings: Pearson's r corrected for the ratings' distributions.


_TERMS = 40
_POWERS = np.arange(1, _TERMS + 1)
# Largest |rho|: nearer to 1 the series of a step function has not converged.
_MOST = 0.995
_LEAST_SLOPE = 0.05
_HALVINGS = 50
# Story that alone differs from all others: the correlation then rests on it, and no jackknife tells how surely.
_ONE = 1


@dataclass(frozen=True, slots=True)
class LatentCorrelation:
    """Fisher's z of the correlation rho of two normal variables, and its variance by the jackknife over `n` stories."""

    z: float
    variance: float
    n: int


def latent_correlation(x: Floats, y: Floats) -> LatentCorrelation | None:
    """Correlation of the normal variables behind two ratings `x` and `y` (n,) of the same stories, none missing.

    Its variance is the jackknife's of r, carried over by the slope of r(rho) (delta method). None with 3 stories or
    fewer, where a side is constant or differs in one story alone, or where |r| is 1."""
    if x.size <= MIN_PAIRS or min(_unusual(x), _unusual(y)) <= _ONE:
        return None
    r = pearson(x, y)
    variance = _jackknife(x, y)
    if abs(r) >= 1 - 1e-12 or variance <= 0:
        return None
    products = _hermite(x) * _hermite(y)
    low, high = -_MOST, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(products @ middle**_POWERS) < r else (low, middle)
    rho = (low + high) / 2
    slope = max(float((products * _POWERS) @ rho ** (_POWERS - 1)), _LEAST_SLOPE)
    return LatentCorrelation(float(np.arctanh(rho)), variance / (slope * (1 - rho**2)) ** 2, x.size)


def _unusual(values: Floats) -> int:
    """Number of values that differ from the most frequent one."""
    return values.size - int(np.unique(values, return_counts=True)[1].max())


def _hermite(values: Floats) -> Floats:
    """Coefficients 1..40 in normalised Hermite polynomials of the step function from a normal to these values."""
    levels, counts = np.unique((values - values.mean()) / values.std(), return_counts=True)
    edges = special.ndtri(np.cumsum(counts)[:-1] / values.size)
    heights = np.diff(levels) * np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    # A jump of height h at e adds h He_{k-1}(e) phi(e) / sqrt(k!) to coefficient k.
    before, now = np.zeros_like(edges), np.ones_like(edges)
    coefficients = np.empty(_TERMS)
    for k in _POWERS:
        coefficients[k - 1] = heights @ now / np.sqrt(k)
        before, now = now, (edges * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return coefficients


def _jackknife(x: Floats, y: Floats) -> float:
    """Jackknife variance of Pearson's r; stories without which a side is constant are left out."""
    m = x.size - 1
    x, y = x - x.mean(), y - y.mean()
    sx, sy = -x, -y
    sxx, syy, sxy = (float((a * b).sum()) - a * b for a, b in ((x, x), (y, y), (x, y)))
    spread = (sxx - sx**2 / m) * (syy - sy**2 / m)
    used = spread > 1e-12
    without = (sxy - sx * sy / m)[used] / np.sqrt(spread[used])
    return m / x.size * float(((without - without.mean()) ** 2).sum()) if used.any() else 0.0


# With fewer pairs than this Fisher's interval covers most of what is possible.
FEW = 10


@dataclass(frozen=True, slots=True)
class GroupCorrelation:
    """Pearson's r of judge and people in one group of stories.

    `r` has Fisher's z interval, 95 %, which assumes independent stories. `latent` is corrected for the distributions of
    the two ratings; None where undefined. The standard deviations (with n - 1) are over the stories of r."""

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
    usable correlation (undefined, 3 stories or fewer, all but one story rated alike, |r| = 1)."""

    q: float | None
    df: int
    p: float | None
    i2: float | None
    left_out: int
    reason: str | None = None


def in_group(judge: Floats, people: Floats) -> GroupCorrelation:
    """Pearson's r of `judge` and `people` (n stories,) in one group, with both SDs; NaN is left out pairwise.

    Undefined for fewer than 3 stories with both ratings, or if one side is constant."""
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
    test is then approximate. Undefined with fewer than two usable groups."""
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
