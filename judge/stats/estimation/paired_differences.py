"""Differences between all pairs of systems, on the story-prompts that both systems have, tested as one family.

Two systems are compared on the story-prompts for which both have a rating: mean of the differences, Student's paired t
interval, and paired t test. The p values of a family are adjusted by Holm's (1979) step-down method, which controls the
probability of any false rejection whatever the dependence between tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.arrays import Codes, Floats, Masks, ratio
from judge.base.estimate import ALPHA, CONFIDENCE, Estimate
from judge.stats.resampling.bootstrap import OfSums

# Differences between two sides (such as a judge and the raters) that rated the same stories, *second minus first*.

Weights = NDArray[np.int64]
Statistic = Callable[[Weights], Floats]

_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RateDifference:
    """Success rates of two sides (such as two judges) in the same trials (repeats of a query about a story).

    `first` and `second` are shares, None without a trial; `difference` is second minus first, n counts trials.
    `only_first` and `only_second` count trials that succeeded on one side only, called discordant (McNemar's test,
    1947); `discordant` (n stories,) marks stories that have one."""

    first: float | None
    second: float | None
    difference: Estimate
    only_first: int
    only_second: int
    discordant: Masks

    @classmethod
    def undefined(cls, reason: str, discordant: Masks) -> RateDifference:
        """Trials from which no share can be computed, for a `reason`; `discordant` as in the class."""
        return cls(None, None, Estimate.undefined(reason), 0, 0, discordant)

    @property
    def h(self) -> Estimate:
        """Cohen's h of the two success rates, second minus first on the arcsine scale; undefined without a trial."""
        if self.first is None or self.second is None:
            return Estimate.undefined(self.difference.reason or "nothing was tried")
        return Estimate(cohen_h(self.first, self.second), n=self.difference.n)


def mean_difference(first: Floats, second: Floats) -> Estimate:
    """Mean of `second` minus `first` (n,), ratings of the same stories; n counts the pairs without a NaN."""
    d = second - first
    d = d[~np.isnan(d)]
    if d.size == 0:
        return Estimate.undefined("undefined: no story has a rating on both sides")
    return Estimate(float(d.mean()), n=d.size)


def resampled_mean_difference(first: Floats, second: Floats) -> Statistic:
    """A function from weights (b, n) to the `mean_difference` of `first` and `second` in b resamples, (b,)."""
    d = second - first
    present = ~np.isnan(d)
    return _ratio(np.where(present, d, 0.0), present.astype(np.float64))


def standardised(first: Floats, second: Floats) -> Estimate:
    """Standardised mean difference d_av of `second` minus `first` (n,) (Lakens 2013, equation 10).

    The mean difference is divided by the mean of both sides' standard deviations (divisor n - 1) over the stories that
    both rated. The standard deviation of the differences is not used, because then the effect size would grow with the
    correlation between the sides. Undefined with fewer than two stories or where each side's ratings are all equal."""
    both = ~(np.isnan(first) | np.isnan(second))
    x, y = first[both], second[both]
    if x.size < 2:
        return Estimate.undefined("undefined with fewer than 2 stories", n=x.size)
    spread = float(x.std(ddof=1) + y.std(ddof=1)) / 2
    if spread < _SAME:
        return Estimate.undefined("undefined because both sides' ratings are all equal", n=x.size)
    return Estimate(float((y - x).mean()) / spread, n=x.size)


def rate_difference(tried: Masks, first: Masks, second: Masks) -> RateDifference:
    """Success rates of two sides in the same trials, and their difference; undefined where no trial was made by both.

    `tried` (n stories, k repeats) marks trials that both made, only these count; `first` and `second` mark successes.
    """
    first, second = first & tried, second & tried
    trials = int(tried.sum())
    alone, other = first & ~second, second & ~first
    discordant = np.asarray((alone | other).any(axis=1), dtype=np.bool_)
    if trials == 0:
        return RateDifference.undefined("undefined: no request was made on both sides", discordant)
    shares = float(first.sum()) / trials, float(second.sum()) / trials
    difference = Estimate((int(second.sum()) - int(first.sum())) / trials, n=trials)
    return RateDifference(*shares, difference, int(alone.sum()), int(other.sum()), discordant)


def resampled_rate_difference(tried: Masks, first: Masks, second: Masks) -> Statistic:
    """A function from weights (b, n) to the difference of success rates in b resamples, (b,); NaN without a trial.

    `tried`, `first` and `second` are as in `rate_difference`."""
    gain = (second & tried).sum(axis=1) - (first & tried).sum(axis=1)
    return _ratio(gain.astype(np.float64), tried.sum(axis=1).astype(np.float64))


def cohen_h(first: float, second: float) -> float:
    """2 asin(sqrt(p2)) - 2 asin(sqrt(p1)) of shares `first` p1 and `second` p2 (Cohen 1988, equation 6.2.1)."""
    return 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))


def _ratio(numerator: Floats, denominator: Floats) -> Statistic:
    return OfSums(np.column_stack([numerator, denominator]), lambda sums: ratio(sums[:, 0], sums[:, 1]))


# Adjustment of p values for multiple tests, over a family that the caller declares.

Method = Literal["bh", "by", "holm", "bonferroni", "none", "hanna-published"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Adjusted p values, and the `family` of tests over which they are adjusted.

    `p` has NaN where there was no test. `m` is the size of the family, the number of actual `tests`; for
    ``hanna-published`` that of one column, placeholders included, as in the paper."""

    p: Floats
    m: int
    tests: int
    method: Method
    family: str


def adjust(p: Floats, method: Method, *, family: str) -> Adjusted:
    """Adjusted p values. The family, named `family` for printing, consists of all entries of `p` that are not NaN.

    `p` (any shape) is raw, NaN = no test; for ``hanna-published`` a table (criteria, measures). `method` is as in the
    module. Each adjusted p is the lowest level at which the procedure would reject, at least the raw p and at most 1.
    ValueError for a p outside 0 to 1, an unknown method, or no table for ``hanna-published``."""
    raw = np.asarray(p, dtype=np.float64)
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    real = ~np.isnan(raw)
    if np.any((raw[real] < 0) | (raw[real] > 1)):
        raise ValueError("p values lie between 0 and 1")
    tests = int(real.sum())
    if method == "hanna-published":
        if raw.ndim != 2:
            raise ValueError(f"hanna-published takes a table of criteria x measures, not {raw.ndim} dimensions")
        filled = np.where(real, raw, 0.0)
        columns = [_adjusted(filled[:, j], "bh") for j in range(raw.shape[1])]
        adjusted_p = np.stack(columns, axis=1) if columns else filled
        return Adjusted(np.where(real, adjusted_p, np.nan), raw.shape[0], tests, method, family)
    adjusted_p = np.full(raw.shape, np.nan)
    adjusted_p[real] = _adjusted(raw[real], method)
    return Adjusted(adjusted_p, tests, tests, method, family)


def _adjusted(p: Floats, method: Method) -> Floats:
    m = p.size
    if method == "none" or m == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, m + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - rank + 1))
    elif method in ("bh", "by"):
        factor = (1 / rank).sum() if method == "by" else 1.0
        stepped = np.minimum.accumulate((p[order] * (m * factor) / rank)[::-1])[::-1]
    else:
        raise ValueError(f"{method} adjusts a table of p values, no family of them")
    adjusted_p = np.empty(m)
    # p * m / m can fall below p by one rounding.
    adjusted_p[order] = np.maximum(np.minimum(stepped, 1.0), p[order])
    return adjusted_p


NO_COMMON = "undefined: the two systems have no rated story-prompt in common"
ONE_COMMON = "no test: one story-prompt only"
ALL_ZERO = "no test: the ratings are equal on every story-prompt"


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between the mean ratings (or the log strengths) of two systems, the indices `first` and `second`.

    `estimate` is first minus second: for ratings the mean over the story-prompts that both have (n counts these), for
    log strengths n counts comparisons. The interval is not adjusted for other pairs; its `reason` says why there is no
    test. `p` is two-sided, `p_adjusted` over the family; None without a test. `test` is ``paired t``; ``sign`` where
    all differences are equal and not 0, so that t is undefined; ``clustered t`` for log strengths; ``none`` without a
    test."""

    first: int
    second: int
    estimate: Estimate
    t: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    test: str = "none"

    @property
    def higher_first(self) -> Difference:
        """The same difference, turned round if the second system has the higher mean."""
        estimate = self.estimate
        if (estimate.value or 0.0) >= 0:
            return self
        low, high = (None if end is None else -end for end in (estimate.high, estimate.low))
        turned = replace(estimate, value=-(estimate.value or 0.0), low=low, high=high)
        t = None if self.t is None else -self.t
        return replace(self, first=self.second, second=self.first, estimate=turned, t=t)


def by_story_prompt(values: Floats, system: Codes, story_prompt: Codes, systems: int) -> Floats:
    """Mean of each system's `values` (n stories,) for each story-prompt, (story-prompts, `systems`); NaN = none.

    `system` and `story_prompt` (n,) hold codes 0, 1, ..."""
    prompts = int(story_prompt.max()) + 1 if story_prompt.size else 0
    present = ~np.isnan(values)
    cell = story_prompt[present] * systems + system[present]
    count = np.bincount(cell, minlength=prompts * systems)
    total = np.bincount(cell, weights=values[present], minlength=prompts * systems)
    return ratio(total, count).reshape(prompts, systems)


def all_pairs(table: Floats) -> list[Difference]:
    """Mean difference of every pair of systems, i < j, first minus second, with p not yet adjusted.

    `table` (story-prompts, systems) is from `by_story_prompt`. Undefined without a common story-prompt. No test, but a
    reason, with one common story-prompt or where all differences are 0."""
    pairs = []
    for i in range(table.shape[1] - 1):
        d = table[:, [i]] - table[:, i + 1 :]
        present = ~np.isnan(d)
        n = present.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(present, d, 0.0).sum(axis=0) / n
            error = np.sqrt((np.where(present, d - mean, 0.0) ** 2).sum(axis=0) / (n - 1) / n)
        reach = np.where(present, np.abs(d - mean), 0.0).max(axis=0, initial=0.0)
        for k in range(d.shape[1]):
            numbers = (int(n[k]), float(mean[k]), float(error[k]), bool(reach[k] < _SAME))
            pairs.append(_pair(i, i + 1 + k, *numbers))
    return pairs


def _pair(i: int, j: int, n: int, mean: float, error: float, equal: bool) -> Difference:
    """`equal` says whether all n differences are equal, `error` is the standard error of `mean`."""
    if n == 0:
        return Difference(i, j, Estimate.undefined(NO_COMMON))
    estimate = Estimate(mean, n=n)
    if n == 1:
        return Difference(i, j, replace(estimate, reason=ONE_COMMON))
    if equal:
        if abs(mean) < _SAME:
            return Difference(i, j, replace(estimate, value=0.0, reason=ALL_ZERO))
        reason = "no interval: the differences are all equal"
        return Difference(i, j, replace(estimate, reason=reason), p=2.0 ** (1 - n), test="sign")
    t = mean / error
    half = float(special.stdtrit(n - 1, 0.5 + CONFIDENCE / 2)) * error
    estimate = replace(estimate, low=mean - half, high=mean + half, method="paired t, one pair, 95 %")
    return Difference(i, j, estimate, t=t, p=float(2 * special.stdtr(n - 1, -abs(t))), test="paired t")


def adjusted(family: Sequence[Difference]) -> list[Difference]:
    """The `family` with p adjusted over all its tests (Holm 1979); pairs without a test are not counted."""
    tested = [k for k, difference in enumerate(family) if difference.p is not None]
    p = holm(np.array([family[k].p for k in tested], dtype=np.float64))
    with_adjusted = list(family)
    for k, value in zip(tested, p, strict=True):
        with_adjusted[k] = replace(family[k], p_adjusted=float(value))
    return with_adjusted


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p values, in the order of `p` (m tests,), without NaN (Holm 1979).

    The i-th smallest becomes the maximum over j <= i of min(1, (m - j + 1) p_(j))."""
    return _adjusted(p, "holm")


def told_apart(family: Sequence[Difference], systems: int) -> Masks:
    """Whether the row's system is rated significantly higher than the column's, (`systems`, `systems`).

    `family` is from `adjusted`; pairs without a test are not significant. The adjusted p must lie below .05."""
    higher = np.zeros((systems, systems), dtype=np.bool_)
    for difference in family:
        if (
            difference.p_adjusted is not None
            and difference.p_adjusted < ALPHA
            and difference.estimate.value is not None
        ):
            i, j = (
                (difference.first, difference.second)
                if difference.estimate.value > 0
                else (difference.second, difference.first)
            )
            higher[i, j] = True
    return higher
