"""Tests of r12 against r13, correlations with variable 1 (people) in common. Never gives p = 0, never guesses a tail.

==========  =====================================================================================  ==================
name        source                                                                                 distribution
==========  =====================================================================================  ==================
williams    Williams 1959, J. Royal Statist. Soc. B 21; Steiger 1980, Psych. Bull. 87, eq. 7 (T2)  t, df = n - 3
dunn-clark  Dunn & Clark 1969, J. Am. Statist. Assoc. 64, eq. 15 with the covariance of eq. 8      normal
steiger     Steiger 1980, eq. 14: Dunn-Clark with (r12 + r13)/2 in the covariance (eq. 10)         normal
hittner     Hittner, May & Silver 2003, J. Gen. Psych. 130: with the mean of Fisher's z            normal
meng        Meng, Rosenthal & Rubin 1992, Psych. Bull. 111, eq. 1-3                                normal
==========  =====================================================================================  ==================

Interval of r12 - r13: Zou 2007, Psychological Methods 12. Interval of the difference of Fisher's z: Meng et al., eq. 4.
The names follow cocor (Diedenhofen & Musch 2015, PLoS ONE 10). r23 is the signed correlation of the two that are
compared: its absolute value gives another, wrong test. To compare strengths whatever their direction, fold the signs
first (`by_strength`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Tail = Literal["two-sided", "greater", "less"]
TestName = Literal["williams", "dunn-clark", "steiger", "hittner", "meng"]
TESTS: tuple[str, ...] = get_args(TestName)

PEARSON_NOTE = (
    "derived for Pearson's r of independent stories; with Kendall's tau it is only approximate: too cautious where "
    "stories are an independent sample (tau varies less than Pearson's r), too bold where systems are a sample too "
    "(stories of one system are alike): then resample systems and story-prompts"
)
"""What to print beside a test that was fed with tau."""

LEAST_P = float(np.finfo(np.float64).tiny)
"""A p too small for a float is given as this: a test never proves anything."""

_EXACT = 1e-12
"""Rounding noise: correlations this close are equal, this close to 1 are 1, determinants this close to 0 are 0."""

REASONS = (
    None,
    "undefined because a correlation is missing",
    "undefined with n <= 3",
    "undefined because a correlation is 1 or -1",
    "undefined because the three correlations do not fit together (their matrix is not positive definite)",
    "undefined because this test's variance is not positive here",
)


@dataclass(frozen=True, slots=True)
class CorrelationTest:
    """One test of r12 = r13.

    Attributes
    ----------
    test : str
        One of `TESTS`.
    statistic, p : float or None
        None where undefined, and `reason` says why.
    df : int or None
        Degrees of freedom of t; None for the normal distribution.
    tail : str
        ``two-sided``, ``greater`` (r12 > r13) or ``less``.
    n : int
        Number of stories (or systems) that all three correlations rest on.
    difference : float or None
        r12 - r13; given wherever both exist, tested or not.
    """

    test: str
    statistic: float | None
    df: int | None
    p: float | None
    tail: Tail
    n: int
    difference: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationTests:
    """The same as arrays of one shape; NaN and a reason where undefined (df: NaN for the normal distribution)."""

    test: str
    statistic: Floats
    df: Floats
    p: Floats
    tail: Tail
    n: NDArray[np.int64]
    difference: Floats
    reason: NDArray[np.object_]


def compare(r12: float, r13: float, r23: float, n: int, *, test: TestName = "williams", tail: Tail) -> CorrelationTest:
    """Test r12 = r13.

    Parameters
    ----------
    r12, r13 : float
        Correlations of variable 1 with 2 and with 3 over the same n stories; NaN = undefined.
    r23 : float
        Signed correlation of 2 with 3 over the same stories.
    n : int
        Number of stories.
    test : str
        One of `TESTS`.
    tail : str
        ``greater`` tests r12 > r13. A tail that was chosen after looking at the sign is not honest: then take
        ``two-sided``.

    Returns
    -------
    CorrelationTest
        Undefined with a reason for a missing correlation, n <= 3, |r| = 1, three correlations whose matrix is not
        positive definite (possible where they are taus, or rest on different stories), and for ``hittner`` where its
        covariance exceeds 1. Equal correlations give 0 and p = .5 (1 two-sided).

    Raises
    ------
    ValueError
        For |r| > 1 or an unknown test or tail.
    """
    found = compare_arrays(r12, r13, r23, n, test=test, tail=tail)
    df = number(found.df)
    return CorrelationTest(
        test=test,
        statistic=number(found.statistic),
        df=None if df is None else int(df),
        p=number(found.p),
        tail=tail,
        n=int(n),
        difference=number(found.difference),
        reason=found.reason.item(),
    )


def compare_arrays(
    r12: ArrayLike, r13: ArrayLike, r23: ArrayLike, n: ArrayLike, *, test: TestName = "williams", tail: Tail
) -> CorrelationTests:
    """`compare` for arrays that broadcast together: a table at once."""
    if test not in TESTS:
        raise ValueError(f"unknown test {test!r}: one of {', '.join(TESTS)}")
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    a, b, c, size = np.broadcast_arrays(a, b, c, np.asarray(n, dtype=np.int64))
    why = _why_not(a, b, c, size)
    with np.errstate(all="ignore"):
        difference = np.where(np.abs(a - b) <= _EXACT, 0.0, a - b)
        if test == "williams":
            statistic, df = _williams(difference, a, b, c, size), size - 3.0
        else:
            statistic, df = _normal(test, difference, a, b, c, size), np.full(a.shape, np.nan)
    why = np.where((why == 0) & ~np.isfinite(statistic), 5, why)
    statistic = np.where(why == 0, statistic, np.nan)
    p = tail_probability(statistic, df, tail)
    reason = np.array(REASONS, dtype=object)[why]
    df = np.where(why == 0, df, np.nan)
    return CorrelationTests(test, statistic, df, p, tail, size, difference, np.asarray(reason, dtype=object))


def meng_interval(r12: float, r13: float, r23: float, n: int, *, confidence: float = 0.95) -> Estimate:
    """The difference of Fisher's z of r12 and r13 with the interval of Meng, Rosenthal & Rubin 1992 (eq. 4).

    Undefined for the reasons of `compare`. The ends are in units of z, not of r: see `zou_interval` for those.
    """
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    why = int(_why_not(a, b, c, np.asarray(n, dtype=np.int64)))
    if why:
        return Estimate.undefined(str(REASONS[why]), n=n)
    centre = float(np.arctanh(a) - np.arctanh(b))
    half = float(special.ndtri(0.5 + confidence / 2) * np.sqrt(_meng_variance(a, b, c) / (n - 3)))
    return Estimate(centre, n=n, low=centre - half, high=centre + half, method=f"Meng, {100 * confidence:g} %")


def zou_interval(r12: float, r13: float, r23: float, n: int, *, confidence: float = 0.95) -> Estimate:
    """r12 - r13 with the interval of Zou 2007 (p. 409, overlapping correlations), which respects the bounds of r.

    Undefined for the reasons of `compare`.
    """
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    why = int(_why_not(a, b, c, np.asarray(n, dtype=np.int64)))
    if why:
        return Estimate.undefined(str(REASONS[why]), n=n)
    return zou(r12, n, r13, n, float(_covariance(a, b, c)), confidence)


def zou(r1: float, n1: int, r2: float, n2: int, correlation: float, confidence: float) -> Estimate:
    """r1 - r2 by Zou's method of variance estimates recovery, from Fisher's intervals of each and their correlation."""
    z = float(special.ndtri(0.5 + confidence / 2))
    low1, high1 = (float(np.tanh(np.arctanh(r1) + sign * z / np.sqrt(n1 - 3))) for sign in (-1, 1))
    low2, high2 = (float(np.tanh(np.arctanh(r2) + sign * z / np.sqrt(n2 - 3))) for sign in (-1, 1))

    def reach(one: float, other: float) -> float:
        return float(np.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other)))

    low = r1 - r2 - reach(r1 - low1, high2 - r2)
    high = r1 - r2 + reach(high1 - r1, r2 - low2)
    return Estimate(r1 - r2, n=min(n1, n2), low=low, high=high, method=f"Zou, {100 * confidence:g} %")


def by_strength(r12: ArrayLike, r13: ArrayLike, r23: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The three correlations after turning round 2 and 3 where needed so that r12 and r13 are not negative.

    For measures of which some are distances: r23 changes its sign with each turn, and keeps it where both are turned.
    """
    a, b, c = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    turns = np.where(a < 0, -1.0, 1.0) * np.where(b < 0, -1.0, 1.0)
    return np.abs(a), np.abs(b), np.asarray(turns * c, dtype=np.float64)


def tail_probability(statistic: Floats, df: Floats, tail: Tail) -> Floats:
    """p of a statistic that is t with df, or normal where df is NaN. NaN stays NaN; p is never below `LEAST_P`.

    Raises
    ------
    ValueError
        For an unknown tail.
    """
    if tail not in get_args(Tail):
        raise ValueError(f"unknown tail {tail!r}: one of {', '.join(get_args(Tail))}")
    # The lower tail is computed without a subtraction from 1, so that small p keep their digits.
    x = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[tail]
    p = np.where(np.isnan(df), special.ndtr(x), special.stdtr(df, x))
    return np.asarray(np.maximum(2 * p if tail == "two-sided" else p, LEAST_P), dtype=np.float64)


def number(value: Floats) -> float | None:
    """The one value of an array of shape (); None for NaN."""
    return None if np.isnan(value) else float(value)


def _why_not(a: Floats, b: Floats, c: Floats, n: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index into `REASONS` of each case; the first that holds."""
    largest = np.fmax(np.fmax(np.abs(a), np.abs(b)), np.abs(c))
    if np.any(largest > 1 + 1e-9):
        raise ValueError(f"a correlation of {float(np.nanmax(largest)):g} is outside -1 to 1")
    missing = np.isnan(a) | np.isnan(b) | np.isnan(c)
    cases = [missing, n <= 3, largest >= 1 - _EXACT, _determinant(a, b, c) <= _EXACT]
    return np.asarray(np.select(cases, [1, 2, 3, 4], 0), dtype=np.int64)


def _determinant(a: Floats, b: Floats, c: Floats) -> Floats:
    """K, the determinant of the matrix of the three correlations."""
    return 1 - a**2 - b**2 - c**2 + 2 * a * b * c


def _williams(difference: Floats, a: Floats, b: Floats, c: Floats, n: NDArray[np.int64]) -> Floats:
    mean = (a + b) / 2
    # A product, because the last bit of `** 3` depends on the processor and on the array's shape.
    cube = (1 - c) * (1 - c) * (1 - c)
    below = 2 * _determinant(a, b, c) * (n - 1) / (n - 3) + mean * mean * cube
    return np.asarray(difference * np.sqrt((n - 1) * (1 + c) / below), dtype=np.float64)


def _normal(test: str, difference: Floats, a: Floats, b: Floats, c: Floats, n: NDArray[np.int64]) -> Floats:
    z = np.where(difference == 0, 0.0, np.arctanh(a) - np.arctanh(b))
    if test == "meng":
        variance = _meng_variance(a, b, c)
    elif test == "dunn-clark":
        variance = 2 - 2 * _covariance(a, b, c)
    else:
        mean = (a + b) / 2 if test == "steiger" else np.tanh((np.arctanh(a) + np.arctanh(b)) / 2)
        variance = 2 - 2 * _covariance(mean, mean, c)
    return np.asarray(z * np.sqrt((n - 3) / np.where(variance > 0, variance, np.nan)), dtype=np.float64)


def _covariance(a: Floats, b: Floats, c: Floats) -> Floats:
    """Asymptotic correlation of Fisher's z of r12 = a and r13 = b (Dunn & Clark 1969, eq. 8)."""
    shared = c * (1 - a**2 - b**2) - a * b * (1 - a**2 - b**2 - c**2) / 2
    return np.asarray(shared / ((1 - a**2) * (1 - b**2)), dtype=np.float64)


def _meng_variance(a: Floats, b: Floats, c: Floats) -> Floats:
    """(n - 3) times the variance of the difference of Fisher's z: 2 (1 - r23) h (Meng et al. 1992, eq. 1-3)."""
    square = (a**2 + b**2) / 2
    f = np.minimum((1 - c) / (2 * (1 - square)), 1.0)
    return np.asarray(2 * (1 - c) * (1 - f * square) / (1 - square), dtype=np.float64)
