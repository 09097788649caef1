"""Differences between all pairs of systems, on the story-prompts that both systems have, tested as one family.

Two systems are compared on the story-prompts for which both have a rating: mean of the differences, Student's paired t
interval, and paired t test. The p values of a family are adjusted by Holm's (1979) step-down method, which controls the
probability of any false rejection whatever the dependence between tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_SAME = 1e-9

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
    test.
    """

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

    `system` and `story_prompt` (n,) hold codes 0, 1, ...
    """
    prompts = int(story_prompt.max()) + 1 if story_prompt.size else 0
    present = ~np.isnan(values)
    cell = story_prompt[present] * systems + system[present]
    count = np.bincount(cell, minlength=prompts * systems)
    total = np.bincount(cell, weights=values[present], minlength=prompts * systems)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan).reshape(prompts, systems), dtype=np.float64)


def all_pairs(table: Floats, *, confidence: float = 0.95) -> list[Difference]:
    """Mean difference of every pair of systems, i < j, first minus second, with p not yet adjusted.

    `table` (story-prompts, systems) is from `by_story_prompt`, and `confidence` the coverage of each interval.
    Undefined without a common story-prompt. No test, but a reason, with one common story-prompt or where all
    differences are 0.
    """
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
            pairs.append(_pair(i, i + 1 + k, *numbers, confidence))
    return pairs


def _pair(i: int, j: int, n: int, mean: float, error: float, equal: bool, confidence: float) -> Difference:
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
    half = float(special.stdtrit(n - 1, 0.5 + confidence / 2)) * error
    estimate = replace(
        estimate, low=mean - half, high=mean + half, method=f"paired t, one pair, {100 * confidence:g} %"
    )
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

    The i-th smallest becomes the maximum over j <= i of min(1, (m - j + 1) p_(j)).
    """
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1.0, p[order] * np.arange(p.size, 0, -1))
    out = np.empty(p.size)
    out[order] = np.maximum.accumulate(stepped) if p.size else stepped
    return out


def told_apart(family: Sequence[Difference], systems: int, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Whether the row's system is rated significantly higher than the column's, (`systems`, `systems`).

    `family` is from `adjusted`; pairs without a test are not significant. The adjusted p must lie below `alpha`.
    """
    higher = np.zeros((systems, systems), dtype=np.bool_)
    for difference in family:
        if (
            difference.p_adjusted is not None
            and difference.p_adjusted < alpha
            and difference.estimate.value is not None
        ):
            i, j = (
                (difference.first, difference.second)
                if difference.estimate.value > 0
                else (difference.second, difference.first)
            )
            higher[i, j] = True
    return higher
