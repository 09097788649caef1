"""Kendall, Spearman and Pearson correlations: over all stories, of system means, within groups, and in resamples.

Pairs with a missing value (NaN) are left out. A correlation with a constant variable or with fewer than three pairs is
undefined: an `Estimate` with a reason, not 0. There are three ways of grouping:

- *overall*: the correlation over all stories;
- *system*: the correlation over systems of their means, which are taken over the same stories for both variables;
- *grouped*: the mean of the correlations within each group (story-prompts or systems); groups whose correlation is
  undefined are counted and left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, ratio
from judge.base.choices import registry
from judge.base.estimate import CONFIDENCE, Estimate
from judge.stats.correlation import kendall, weighted_tau

Weights = NDArray[np.int64]
Coefficient = Literal["kendall", "spearman", "pearson"]
MIN_PAIRS = 3
# A side whose values all lie closer together than this is constant.
SAME = 10.0**-kendall.DECIMALS
# A variance of values that are equal to 1e-9 is below 1e-18; that of values equal but for rounding far below 1e-20.
_NO_VARIANCE = 1e-20


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r of `x` and `y` (n,), none missing; NaN where one is constant (to 1e-9) or n < 2."""
    if x.size < 2 or _constant(x) or _constant(y):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's rho of `x` and `y` (n,), none missing: Pearson's r of mid-ranks, NaN where it is."""
    return pearson(midranks(x), midranks(y))


def midranks(values: Floats) -> Floats:
    """Mid-ranks of `values`, none missing: 1 to n from the lowest, tied values (within 1e-9) sharing their mean."""
    code = kendall.codes(values)
    counts = np.bincount(code)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[code], dtype=np.float64)


def coefficient_of(x: Floats, y: Floats, coefficient: Coefficient = "kendall") -> float:
    """Correlation of `x` and `y` (n,), none missing, by the named `coefficient`; NaN where undefined."""
    return COEFFICIENTS[coefficient].of(x, y)


def correlate(
    x: Floats,
    y: Floats,
    coefficient: Coefficient = "kendall",
    *,
    names: tuple[str, str] = ("x", "y"),
    unit: str = "pairs",
) -> Estimate:
    """Correlation of `x` and `y` (n,) by the named `coefficient`, without an interval; pairs with a NaN are left out.

    `names` of x and y and the word `unit` for pairs stand in reasons. n counts pairs. Undefined for fewer than 3 pairs
    or if x or y is constant."""
    keep = ~(np.isnan(x) | np.isnan(y))
    x, y = x[keep], y[keep]
    reason = undefined_reason(x, y, names, unit)
    if reason:
        return Estimate.undefined(reason, n=x.size)
    return Estimate(value=coefficient_of(x, y, coefficient), n=x.size)


def undefined_reason(x: Floats, y: Floats, names: tuple[str, str] = ("x", "y"), unit: str = "pairs") -> str | None:
    """Reason why the correlation of `x` and `y`, none missing, is undefined; `names` and `unit` as in `correlate`."""
    if x.size < MIN_PAIRS:
        return f"undefined with fewer than {MIN_PAIRS} {unit}"
    for name, side in zip(names, (x, y), strict=True):
        if _constant(side):
            return f"undefined because {name} are all equal"
    return None


def group_means(x: Floats, y: Floats, group: Codes) -> tuple[Floats, Floats]:
    """Means of `x` and `y` (n,) in each `group` (0, 1, ...), over the stories with both; NaN where there is none."""
    keep = ~(np.isnan(x) | np.isnan(y))
    groups = int(group.max()) + 1 if group.size else 0
    counts = np.bincount(group[keep], minlength=groups).astype(np.float64)
    mean_x, mean_y = (ratio(np.bincount(group[keep], side[keep], groups), counts) for side in (x, y))
    return mean_x, mean_y


def correlate_means(
    x: Floats, y: Floats, group: Codes, coefficient: Coefficient = "kendall", *, names: tuple[str, str] = ("x", "y")
) -> Estimate:
    """Correlation by the named `coefficient` over the means of each `group` (system) of `x` and `y` (n,).

    Means are over the stories with both values; n counts groups. Undefined for fewer than 3 groups or if all means of x
    or of y are equal; `names` stand in the reason."""
    mean_x, mean_y = group_means(x, y, group)
    means = (f"the system means of {names[0]}", f"the system means of {names[1]}")
    return correlate(mean_x, mean_y, coefficient, names=means, unit="systems")


def correlate_within(x: Floats, y: Floats, group: Codes, coefficient: Coefficient = "kendall") -> Estimate:
    """Unweighted mean of the correlations within groups (story-prompts or systems).

    `x`, `y`, `group` and `coefficient` are as in `within`. n counts groups with a defined correlation, the others are
    left out; `method` gives both numbers, such as "5 of 8 groups". Undefined if no group has one."""
    values = within(x, y, group, coefficient)
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return Estimate.undefined("undefined in every group (a constant side or fewer than 3 pairs)")
    return Estimate(value=float(defined.mean()), n=defined.size, method=f"{defined.size} of {values.size} groups")


def within(x: Floats, y: Floats, group: Codes, coefficient: Coefficient = "kendall") -> Floats:
    """Correlation by the named `coefficient` within each `group` (0, 1, ...) of `x` and `y` (n,), shape (groups,).

    Pairs with a NaN are left out. NaN where x or y is constant, or with fewer than 3 pairs."""
    groups = int(group.max()) + 1 if group.size else 0
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(groups + 1))
    out = np.full(groups, np.nan)
    for g in range(groups):
        rows = order[bounds[g] : bounds[g + 1]]
        estimate = correlate(x[rows], y[rows], coefficient)
        if estimate.value is not None:
            out[g] = estimate.value
    return out


def resampled(x: Floats, y: Floats, coefficient: Coefficient = "kendall") -> Callable[[Weights], Floats]:
    """A function from weights of stories, (b, n), to the correlation in each resample, (b,); NaN where undefined.

    `x` and `y` (n,) are correlated by the named `coefficient`; pairs with a NaN are left out."""
    return COEFFICIENTS[coefficient].resampled(x, y)


def fisher_z(estimate: Estimate) -> Estimate:
    """Pearson's r with Fisher's z interval: tanh(atanh(r) +- z / sqrt(n - 3)) (Fisher 1921).

    `estimate` is of n independent pairs. There is no interval, but a reason, for n <= 3 and |r| = 1. An undefined
    estimate is returned unchanged."""
    from dataclasses import replace

    from scipy.special import ndtri

    if estimate.value is None:
        return estimate
    if estimate.n <= MIN_PAIRS or abs(estimate.value) >= 1:
        return replace(estimate, reason="no interval: Fisher's z needs more than 3 pairs and |r| < 1")
    half = float(ndtri(0.5 + CONFIDENCE / 2)) / np.sqrt(estimate.n - 3)
    z = np.arctanh(estimate.value)
    return replace(estimate, low=float(np.tanh(z - half)), high=float(np.tanh(z + half)), method="fisher-z")


def _constant(values: Floats) -> bool:
    return values.size == 0 or float(np.ptp(values)) < SAME


def weighted_pearson(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Pearson's r in b resamples, (b,); NaN where x or y is constant except for rounding errors.

    `x` and `y` have shape (b, n stories), or (1, n stories) for all resamples; none is missing. `weights` (b, n) are
    how often each story occurs."""
    w = weights.astype(np.float64)
    total = w.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a = x - (w * x).sum(axis=1, keepdims=True) / total
        b = y - (w * y).sum(axis=1, keepdims=True) / total
        of_a, of_b = (w * a * a).sum(axis=1), (w * b * b).sum(axis=1)
        r = np.clip((w * a * b).sum(axis=1) / np.sqrt(of_a * of_b), -1.0, 1.0)
        varies = np.minimum(of_a, of_b) > _NO_VARIANCE * total[:, 0]
    return np.asarray(np.where(varies & np.isfinite(r), r, np.nan), dtype=np.float64)


def _tau(x: Floats, y: Floats) -> float:
    return kendall.tau_b(kendall.codes(x), kendall.codes(y))


def _resampled_tau(x: Floats, y: Floats) -> Callable[[Weights], Floats]:
    return weighted_tau.tau_b(kendall.codes(x), kendall.codes(y))


def _resampled_pearson(x: Floats, y: Floats) -> Callable[[Weights], Floats]:
    keep = ~(np.isnan(x) | np.isnan(y))
    if not keep.any():
        return lambda weights: np.full(weights.shape[0], np.nan)
    a, b = (side[keep] - side[keep].mean() for side in (x, y))
    return lambda weights: weighted_pearson(a[None, :], b[None, :], weights[:, keep])


def _resampled_spearman(x: Floats, y: Floats) -> Callable[[Weights], Floats]:
    keep = ~(np.isnan(x) | np.isnan(y))
    if not keep.any():
        return lambda weights: np.full(weights.shape[0], np.nan)
    levels = [kendall.codes(side[keep]) for side in (x, y)]

    def ranked(weights: Weights) -> Floats:
        w = weights[:, keep]
        counts = [kendall.level_sums(w, level, int(level.max()) + 1) for level in levels]
        a, b = ((np.cumsum(n, axis=1) - (n - 1) / 2)[:, level] for n, level in zip(counts, levels, strict=True))
        return weighted_pearson(a, b, w)

    return ranked


def _tau_of_rows(x: Floats, y: Floats, mass: Weights) -> Floats:
    rounded = x.round(kendall.DECIMALS), y.round(kendall.DECIMALS)
    return kendall.of_untied(*weighted_tau.pairs_of_rows(*rounded, mass))


def _pearson_of_rows(x: Floats, y: Floats, mass: Weights) -> Floats:
    present = ~(np.isnan(x) | np.isnan(y))
    return weighted_pearson(np.where(present, x, 0.0), np.where(present, y, 0.0), np.where(present, mass, 0))


def _spearman_of_rows(x: Floats, y: Floats, mass: Weights) -> Floats:
    present = ~(np.isnan(x) | np.isnan(y))
    weight = np.where(present, mass, 0)
    a, b = (_midranks_of_rows(np.where(present, side, 0.0), weight) for side in (x, y))
    return weighted_pearson(a, b, weight)


def _midranks_of_rows(values: Floats, weight: Weights) -> Floats:
    """Mid-ranks of values, (b, groups), each of which occurs `weight` times; arbitrary where `weight` is 0."""
    below = np.einsum("bij,bj->bi", values[:, :, None] > values[:, None, :], weight)
    equal = np.einsum("bij,bj->bi", values[:, :, None] == values[:, None, :], weight)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CoefficientRecord:
    """All that depends on the choice of a coefficient.

    `name` stands in titles, `signature` in signature lines. `of` takes two complete vectors. `resampled` takes two
    vectors with NaN and returns a function of the stories' weights, as `resampled` above. `of_rows` takes values of
    groups in b resamples, (b, groups) with NaN = missing, and how often each group counts; it gives one correlation per
    resample. `of_signs` is true for a coefficient of the signs of pairs, which is 2/pi arcsin r where r is a normal
    pair's correlation (Greiner 1909). `fisher` is true if Fisher's z gives its interval."""

    name: str
    signature: str
    of: Callable[[Floats, Floats], float]
    resampled: Callable[[Floats, Floats], Callable[[Weights], Floats]]
    of_rows: Callable[[Floats, Floats, Weights], Floats]
    of_signs: bool = False
    fisher: bool = False


# The coefficients. Whatever computes or names a correlation takes it from here.
COEFFICIENTS: Mapping[Coefficient, CoefficientRecord] = registry(
    Coefficient,
    {
        "kendall": CoefficientRecord("Kendall's tau-b", "tau:b", _tau, _resampled_tau, _tau_of_rows, of_signs=True),
        "spearman": CoefficientRecord(
            "Spearman's rho", "rho:spearman", spearman, _resampled_spearman, _spearman_of_rows
        ),
        "pearson": CoefficientRecord(
            "Pearson's r", "r:pearson", pearson, _resampled_pearson, _pearson_of_rows, fisher=True
        ),
    },
)
