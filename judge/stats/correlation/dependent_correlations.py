"""Williams' test of r12 = r13, for two dependent correlations that share variable 1 (such as human ratings).

Sources: Williams 1959, J. Royal Statist. Soc. B 21; Steiger 1980, Psych. Bull. 87, eq. 7 (T2): t with n - 3 degrees of
freedom. r23 is the signed correlation of variables 2 and 3; using its absolute value gives a different, wrong test. To
compare the strength of correlations whatever their sign, use `by_strength` first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
Tail = Literal["two-sided", "greater", "less"]
# What to print beside a test that was fed with tau.
PEARSON_NOTE = (
    "derived for Pearson's r of independent stories; with Kendall's tau it is only approximate: too cautious where "
    "stories are an independent sample (tau varies less than Pearson's r), too bold where systems are a sample too "
    "(stories of one system are alike): then resample systems and story-prompts"
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
    systems) of all three correlations. `difference`, r12 - r13, is given whenever both exist, even without a test.
    """

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
    n: NDArray[np.int64]
    difference: Floats
    reason: NDArray[np.object_]


def compare(r12: float, r13: float, r23: float, n: int, *, tail: Tail) -> CorrelationTest:
    """Williams' test of r12 = r13, where `r12`, `r13` and (signed) `r23` are correlations over the same `n` stories.

    `tail` "greater" tests r12 > r13; use "two-sided" unless the direction was fixed before seeing the data. Undefined,
    with a reason, for a missing correlation (NaN), n <= 3, |r| = 1, and a correlation matrix that is not positive
    definite (possible for taus, or with different stories). Equal correlations give t = 0 and p = .5 (1 if two-sided).
    ValueError for |r| > 1 or an unknown tail.
    """
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

    `r12`, `r13`, `r23`, `n` and `tail` are as in `compare`; the first four broadcast together.
    """
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
    its sign if one of the variables is reversed, and keeps it if both are.
    """
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


def number(value: Floats) -> float | None:
    """The single number in `value`, of shape (); None for NaN."""
    return None if np.isnan(value) else float(value)


def _why_not(a: Floats, b: Floats, c: Floats, n: NDArray[np.int64]) -> NDArray[np.int64]:
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


def _williams(difference: Floats, a: Floats, b: Floats, c: Floats, n: NDArray[np.int64]) -> Floats:
    mean = (a + b) / 2
    # A product, because the last bit of `** 3` depends on the processor and on the array's shape.
    cube = (1 - c) * (1 - c) * (1 - c)
    below = 2 * _determinant(a, b, c) * (n - 1) / (n - 3) + mean * mean * cube
    return np.asarray(difference * np.sqrt((n - 1) * (1 + c) / below), dtype=np.float64)
