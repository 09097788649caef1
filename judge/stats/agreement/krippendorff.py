"""Krippendorff's alpha for any number of raters, missing ratings and four levels of measurement.

alpha = 1 - observed / expected disagreement. The disagreement of two values c and k depends on the level of measurement
(Krippendorff 2011, Computing Krippendorff's alpha-reliability; 2018, Content Analysis, 4th edition, ch. 12):

========  ====================================================================================================
level     difference squared
========  ====================================================================================================
nominal   1 if they differ
ordinal   squared difference of the mid-ranks of c and k among all ratings
interval  (c - k)²
ratio     ((c - k) / (c + k))²
========  ====================================================================================================

The interval is a percentile bootstrap over items, or the jackknife over stories where a story has several items
(`jackknife.with_jackknife`). Krippendorff's own bootstrap over pairs is not used, because it treats pairs of one item
as independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.agreement.chance_agreement import NO_PAIR, ONE_CATEGORY, ChanceAgreement, Counts, counts, raw_agreement
from judge.stats.resampling import bootstrap
from judge.stats.resampling.jackknife import with_jackknife

Weights = NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)

NEGATIVE = "undefined: the ratio level has no negative values"


def alpha(
    ratings: Floats, level: Level, rng: np.random.Generator, *, resamples: int = 10_000, story: Codes | None = None
) -> ChanceAgreement:
    """Krippendorff's alpha of ratings, with a bootstrap interval over items (or a jackknife interval over stories).

    `ratings` (items, raters) has NaN where missing; items with fewer than 2 are dropped and counted. `level` is that of
    measurement; ValueError for an unknown one. `rng` draws `resamples` of items (0 = no interval), not used for the
    jackknife. `story` (items,): if one has several items, the interval comes from the jackknife over stories; None =
    items are independent.

    `observed` and `expected` are None, because alpha is computed from disagreements, which have no bound. Undefined
    with one category, if no item has 2 ratings, and with negative values at the ratio level. Resamples with only one
    category are left out and counted; if they exceed 5 % there is no interval."""
    items, raw = counts(ratings, story=story), raw_agreement(ratings, story=story)
    estimate, error = _estimate(items, level, rng, resamples)
    return ChanceAgreement(
        name=f"Krippendorff's alpha, {level}",
        estimate=estimate,
        raw=raw,
        standard_error=error,
        observed=None,
        expected=None,
        ratings=int(items.table.sum()),
        categories=items.used,
        dropped=items.dropped,
        stories=items.stories,
    )


def _estimate(items: Counts, level: Level, rng: np.random.Generator, resamples: int) -> tuple[Estimate, float | None]:
    """Alpha with its interval, and its standard error."""
    n, error = items.table.shape[0], None
    reason = _why_not(items, level)
    estimate = Estimate.undefined(reason, n=n) if reason else Estimate(_of_all(items, level), n=n)
    if estimate.defined and n < 2:
        estimate = replace(estimate, reason="no interval with fewer than 2 items")
    elif estimate.defined and items.shared:
        others = (items.story[None, :] != np.arange(items.stories)[:, None]).astype(np.int64)
        estimate, error = with_jackknife(estimate, _statistic(items, level)(others))
    elif estimate.defined and resamples:
        drawn = bootstrap.draw(np.arange(n), resamples, rng, "boot-items")
        values = drawn.values(_statistic(items, level))
        method = f"{drawn.name}, {resamples} resamples, 95 %"
        estimate = bootstrap.percentile(estimate, values, method)
        error = None if estimate.low is None else float(np.nanstd(values, ddof=1))
    return estimate, error


def resampled(ratings: Floats, level: Level) -> Callable[[Weights], Floats]:
    """A function from weights of items, (b, items), to alpha in b resamples of other units, such as stories, (b,).

    `ratings` and `level` are as in `alpha`. NaN where undefined."""
    usable = (~np.isnan(ratings)).sum(axis=1) >= 2
    counted = counts(ratings)
    if _why_not(counted, level):
        return lambda weights: np.full(weights.shape[0], np.nan)
    statistic = _statistic(counted, level)
    return lambda weights: statistic(weights[:, usable])


def _why_not(counted: Counts, level: Level) -> str | None:
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}: one of {', '.join(LEVELS)}")
    if counted.table.shape[0] == 0:
        return NO_PAIR
    if counted.used < 2:
        return ONE_CATEGORY
    return NEGATIVE if level == "ratio" and counted.category[0] < 0 else None


def _of_all(counted: Counts, level: Level) -> float:
    return float(_statistic(counted, level)(np.ones((1, counted.table.shape[0]), dtype=np.int64))[0])


def _statistic(items: Counts, level: Level) -> Callable[[Weights], Floats]:
    table = items.table
    size = table.sum(axis=1)
    fixed = None if level == "ordinal" else _difference(items.category, level)
    inside = None if fixed is None else (table * (table @ fixed)).sum(axis=1) / (size - 1)

    def of(weights: Weights) -> Floats:
        w = weights.astype(np.float64)
        number, total = w @ table, w @ size
        if fixed is not None and inside is not None:
            observed, pairs = w @ inside, (number * (number @ fixed)).sum(axis=1)
        else:
            observed, pairs = _ordinal(w, number, total, table, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = 1 - (total - 1) * observed / pairs
        return np.asarray(np.where(pairs > 0, value, np.nan), dtype=np.float64)

    return of


def _difference(category: Floats, level: Level) -> Floats:
    """Squared differences of all pairs of categories, where they do not depend on the ratings (all but ordinal)."""
    row, other = category[:, None], category[None, :]
    if level == "nominal":
        return np.asarray(row != other, dtype=np.float64)
    if level == "interval":
        return np.asarray((row - other) ** 2, dtype=np.float64)
    if level != "ratio":
        raise ValueError(f"differences of {level} ratings depend on how often each rating occurs")
    total = row + other
    return np.asarray(((row - other) / np.where(total == 0, 1.0, total)) ** 2, dtype=np.float64)


def _ordinal(w: Floats, number: Floats, total: Floats, table: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Sums of squared differences of mid-ranks in each resample: within items (/ (ratings - 1)), and over all pairs."""
    rank = np.cumsum(number, axis=1) - number / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        rank = np.where(total[:, None] > 0, rank - (number * rank).sum(axis=1, keepdims=True) / total[:, None], 0.0)
    # The sum of (r - s)² over the ordered pairs of m ranks is 2 (m sum of r² - (sum of r)²).
    sums = rank @ table.T
    squares = (((w * (size / (size - 1))) @ table) * rank**2).sum(axis=1)
    within = 2 * (squares - (w / (size - 1) * sums**2).sum(axis=1))
    return within, np.asarray(2 * total * (number * rank**2).sum(axis=1), dtype=np.float64)
