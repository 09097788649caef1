"""Chance-corrected agreement of raters: Gwet's AC1 and AC2 and Fleiss' kappa, each with the raw agreement.

A coefficient is (observed - expected) / (1 - expected). Only the expected agreement differs. In the table, q is the
number of categories, a share is the share of a category in an item's ratings, averaged over items, and a weight is the
agreement weight of a pair of categories:

===========  ==========================================================  ===========================================
coefficient  expected agreement                                          source
===========  ==========================================================  ===========================================
AC1, AC2     sum of weights x sum of share (1 - share) / (q (q - 1))     Gwet 2008, Br. J. Math. Stat. Psych. 61;
                                                                         with weights (AC2) Gwet 2014
Fleiss       sum of weight x share x share                               Fleiss 1971, Psych. Bull. 76; weights and
                                                                         missing ratings Gwet 2014
===========  ==========================================================  ===========================================

Standard errors are Gwet's linearization over items (Gwet 2008; Gwet 2014, Handbook of Inter-Rater Reliability, 4th
edition, ch. 5), and intervals are t intervals with items - 1 degrees of freedom, as in irrCAC. They treat raters as
fixed and items as independent. Where a story has several items, stories are the independent units, and intervals come
from the jackknife over stories (`jackknife.with_jackknife`).

If nearly all ratings are in one category, kappa can be near 0 although raters nearly always agree; AC1 is then near 1
(the prevalence paradox, Feinstein & Cicchetti 1990). Raw agreement is therefore given with each coefficient. The
coefficients do not depend on which category means a good rating."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, assert_never, get_args

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import CONFIDENCE, Estimate
from judge.stats.estimation import proportions
from judge.stats.resampling.jackknife import with_jackknife

Weighting = Literal["identity", "linear", "quadratic", "ordinal"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)

ONE_CATEGORY = "undefined: 1 category"
NO_PAIR = "undefined: no item has 2 ratings"
# A standard error below this is rounding noise of 0.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class ChanceAgreement:
    """A chance-corrected coefficient of agreement, with the raw agreement.

    `estimate` counts items in n; it is undefined if only one category is used, since there is then no chance agreement
    to correct for (`raw` is 1), but AC1 and AC2 are defined if `categories` has further ones. `raw` is the share of
    agreeing pairs of ratings of an item, averaged over items, without weights; `observed` and `expected` have the
    coefficient's weights. `ratings` and `categories` count those used, `dropped` the items with fewer than 2 ratings,
    and `stories` the independent units: stories of the items used, or these items if no stories were given."""

    name: str
    estimate: Estimate
    raw: Estimate
    standard_error: float | None
    observed: float | None
    expected: float | None
    ratings: int
    categories: int
    dropped: int
    stories: int


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """For each item with at least 2 ratings, the number of ratings in each category.

    `table` has shape (items, categories), `category` holds the values, `dropped` counts items left out, and `story` is
    the code 0, 1, ... of each item's independent unit: its story, or the item itself if no stories are known."""

    table: Floats
    category: Floats
    dropped: int
    story: Codes

    @property
    def stories(self) -> int:
        """Number of independent units: stories, or items if no stories are known."""
        return int(self.story.max()) + 1 if self.story.size else 0

    @property
    def shared(self) -> bool:
        """Whether several items belong to one story."""
        return self.stories < self.story.size

    def without(self, story: int) -> Counts:
        """Counts without the items of `story` (a code); categories, number dropped and other codes are unchanged."""
        kept = self.story != story
        return replace(self, table=self.table[kept], story=self.story[kept])

    @property
    def used(self) -> int:
        """Number of categories that occur in the ratings."""
        return int((self.table.sum(axis=0) > 0).sum())


def counts(ratings: Floats, categories: Floats | None = None, story: Codes | None = None) -> Counts:
    """Number of ratings of each item in each category, for the items with at least 2 ratings.

    `ratings` (items, raters) has NaN where missing; values within 1e-9 are one category. (Gwet uses dropped items for
    the shares of the categories; they say nothing about agreement.) `categories` are all points of the scale, used or
    not: they affect AC1 and AC2 (through their number q) and the weights; None = those that occur, as in irrCAC.
    `story` (items,): items of one story are not independent; None = items are. A rating that is none of the categories
    raises ValueError."""
    values = np.round(np.asarray(ratings, dtype=np.float64), 9)
    present = ~np.isnan(values)
    usable = present.sum(axis=1) >= 2
    values, present = values[usable], present[usable]
    category = np.unique(values[present]) if categories is None else np.unique(np.round(categories, 9))
    strange = np.setdiff1d(values[present], category)
    if strange.size:
        raise ValueError(f"the rating {strange[0]:g} is none of the categories {category.tolist()}")
    level = np.full(values.shape, -1, dtype=np.int64)
    level[present] = np.searchsorted(category, values[present])
    table = (
        np.stack([(level == k).sum(axis=1) for k in range(category.size)], axis=1) if category.size else level[:, :0]
    )
    code = np.arange(table.shape[0]) if story is None else renumbered(story[usable])
    return Counts(table.astype(np.float64), category, int((~usable).sum()), code.astype(np.int64))


def raw_agreement(ratings: Floats, *, story: Codes | None = None) -> Estimate:
    """Share of agreeing pairs of ratings of an item, averaged over items, with its interval; undefined without a pair.

    The t interval over items (or stories) is limited to 0 to 1. If the agreement is complete (or zero) on all items, it
    has no width; Wilson's interval for the items (or stories) is then used, which is conservative. `ratings` and
    `story` are as in `counts`."""
    return _raw(counts(ratings, story=story))


def gwet(
    ratings: Floats, weights: Weighting = "identity", *, categories: Floats | None = None, story: Codes | None = None
) -> ChanceAgreement:
    """Gwet's AC1 (identity weights) or AC2 (other weights) (Gwet 2008, 2014).

    `ratings`, `categories` and `story` are as in `counts`, which also raises; `weights` are the agreement weights of
    categories. With two or more `categories` the coefficient is defined (and 1) even if only one is used; a kappa is
    undefined then (0/0)."""
    name = "AC1" if weights == "identity" else f"AC2, {weights} weights"
    return _coefficient(name, counts(ratings, categories, story), weights, _expected_gwet)


def fleiss(
    ratings: Floats, weights: Weighting = "identity", *, categories: Floats | None = None, story: Codes | None = None
) -> ChanceAgreement:
    """Fleiss' kappa, generalised to missing ratings (Fleiss 1971; Gwet 2014); undefined where one category is used.

    `ratings`, `categories` (here they affect only the weights) and `story` are as in `counts`, which also raises;
    raters may differ from item to item. `weights` are the agreement weights of categories."""
    return _coefficient(_named("Fleiss' kappa", weights), counts(ratings, categories, story), weights, _expected_fleiss)


def _weight_matrix(category: Floats, weights: Weighting) -> Floats:
    """Agreement weights of pairs of categories: 1 on the diagonal, 0 for the most distant pair (Gwet 2014, ch. 3)."""
    if weights not in WEIGHTINGS:
        raise ValueError(f"unknown weights {weights!r}: one of {', '.join(WEIGHTINGS)}")
    if weights == "identity" or category.size < 2:
        return np.eye(category.size)
    if weights == "ordinal":
        # 1 - s (s - 1) / (q (q - 1)), where s counts the categories from one to the other, both included.
        rank = np.arange(category.size)
        span = np.abs(rank[:, None] - rank[None, :]) + 1
        return np.asarray(1 - span * (span - 1) / (category.size * (category.size - 1)), dtype=np.float64)
    distance = np.abs(category[:, None] - category[None, :]) / (category[-1] - category[0])
    if weights == "linear":
        return np.asarray(1 - distance, dtype=np.float64)
    if weights == "quadratic":
        return np.asarray(1 - distance**2, dtype=np.float64)
    assert_never(weights)


# From counts and weights to the expected agreement and each item's part in it (n,).
Expected = Callable[[Counts, Floats], tuple[float, Floats]]


def _named(name: str, weights: str) -> str:
    return name if weights == "identity" else f"{name}, {weights} weights"


def _raw(counted: Counts) -> Estimate:
    table, n = counted.table, counted.table.shape[0]
    if n == 0:
        return Estimate.undefined(NO_PAIR)
    share = _observed(table, np.eye(table.shape[1]))
    value = float(share.mean())
    if np.ptp(share) == 0 and value in (0.0, 1.0):
        units = counted.stories
        wilson = proportions.wilson(round(value * units), units, z=float(special.ndtri(0.5 + CONFIDENCE / 2)))
        return replace(wilson, n=n, method=f"Wilson over {_units(counted)}, 95 %")
    if counted.shared:
        total, size = np.bincount(counted.story, weights=share), np.bincount(counted.story).astype(np.float64)
        left_out = np.asarray((share.sum() - total) / (n - size) if counted.stories > 1 else total, dtype=np.float64)
        bare = Estimate(value, n=n)
        return with_jackknife(bare, left_out, bounds=(0.0, 1.0))[0]
    return _with_t(value, float(share.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0, n, (0.0, 1.0))


def _units(items: Counts) -> str:
    return f"{items.stories} stories" if items.shared else "items"


def _observed(table: Floats, weight: Floats) -> Floats:
    """Weighted share of agreeing pairs of ratings in each item."""
    size = table.sum(axis=1)
    return np.asarray((table * (table @ weight - 1)).sum(axis=1) / (size * (size - 1)), dtype=np.float64)


def _coefficient(name: str, items: Counts, weights: Weighting, expectation: Expected) -> ChanceAgreement:
    raw, n, total = _raw(items), items.table.shape[0], int(items.table.sum())
    # Gwet's expected agreement is 0 where one category is used, provided that there are others; the kappas' is 1.
    usable = items.category.size if expectation is _expected_gwet else items.used
    if n == 0 or usable < 2:
        why = Estimate.undefined(NO_PAIR if n == 0 else ONE_CATEGORY, n=n)
        return ChanceAgreement(name, why, raw, None, None, None, total, items.used, items.dropped, items.stories)
    weight = _weight_matrix(items.category, weights)
    value, observed, expected, influence = _value(items, weight, expectation)
    if items.shared:
        left_out = np.array([_value(items.without(g), weight, expectation)[0] for g in range(items.stories)])
        estimate, standard = with_jackknife(Estimate(value, n=n), left_out)
    else:
        # Gwet 2014, ch. 5: how the coefficient would move with each item's weight, through both of its terms.
        error = float(np.sqrt(((influence - value) ** 2).sum() / (n * (n - 1)))) if n > 1 else 0.0
        estimate = _with_t(value, error, n, (-1.0, 1.0))
        standard = None if estimate.low is None else error
    terms = (standard, observed, expected)
    return ChanceAgreement(name, estimate, raw, *terms, total, items.used, items.dropped, items.stories)


def _value(items: Counts, weight: Floats, expectation: Expected) -> tuple[float, float, float, Floats]:
    """Coefficient, observed and expected agreement, each item's influence; NaN where the expected agreement is 1."""
    if items.table.shape[0] == 0:
        return float("nan"), float("nan"), float("nan"), np.empty(0)
    agree = _observed(items.table, weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected, part = expectation(items, weight)
        observed = float(agree.mean())
        value = float(np.divide(observed - expected, 1 - expected))
        influence = ((agree - expected) - 2 * (1 - value) * (part - expected)) / np.float64(1 - expected)
    return value, observed, expected, influence


def _with_t(value: float, error: float, n: int, bounds: tuple[float, float]) -> Estimate:
    if n < 2:
        return Estimate(value, n=n, reason="no interval with fewer than 2 items")
    if error < _NOTHING:
        return Estimate(value, n=n, reason="no interval: all items agree alike, the standard error is 0")
    half = float(special.stdtrit(n - 1, 0.5 + CONFIDENCE / 2)) * error
    # A weighted coefficient can lie below -1: an interval always holds its estimate.
    low, high = min(value, max(bounds[0], value - half)), max(value, min(bounds[1], value + half))
    return Estimate(value, n=n, low=low, high=high, method="t over items, 95 %")


def _shares(counted: Counts) -> tuple[Floats, Floats]:
    share = counted.table / counted.table.sum(axis=1, keepdims=True)
    return share, share.mean(axis=0)


def _expected_gwet(counted: Counts, weight: Floats) -> tuple[float, Floats]:
    share, mean = _shares(counted)
    q = mean.size
    scale = weight.sum() / (q * (q - 1))
    return float(scale * (mean * (1 - mean)).sum()), np.asarray(scale * (share @ (1 - mean)), dtype=np.float64)


def _expected_fleiss(counted: Counts, weight: Floats) -> tuple[float, Floats]:
    share, mean = _shares(counted)
    return float(mean @ weight @ mean), np.asarray(share @ (weight @ mean), dtype=np.float64)
