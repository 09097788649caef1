"""How well people predict people: human ceilings for a judge's correlation with them. Never fills a missing rating.

=============  ==============================================  ========================================================
ceiling        correlates                                      reads as
=============  ==============================================  ========================================================
leave-one-out  each rater, the mean of the others              what one more person would reach; the default of a panel
one a story    one random rater of each story, the mean of     the same where many workers rated a few stories each; the
               that story's others; averaged over draws        default of a pool
split-half     means of two random halves of the raters        reliability of the mean of all, by Spearman-Brown
pairwise       each pair of raters                             what one person says of another
self-included  each rater, the mean that includes that rater   inflated: part of the mean is the rater; for comparison
                                                               with published tables only
=============  ==============================================  ========================================================

People are a *panel* where every rater rated nearly every story (`is_panel`), else a *pool*, such as crowd workers. In a
pool one rater has too few stories for a correlation of their own, so the ceiling takes one random rater of each story.

A column that is a position (first, second, third number of a list) and not a person has no ceiling but the split-half
by story; the caller says so by not calling the others. Every ceiling can be computed in the resamples that the judges'
rows use, so that differences between a judge and the ceiling are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Weights = NDArray[np.int64]
Measure = Callable[[Floats, Floats], Estimate]
"""From two vectors (n,), NaN = missing, to their correlation."""

PANEL_SHARE = 0.8
"""In a panel every rater rated at least this share of the stories that two or more rated."""

DRAWS = 20
"""Draws of one rater a story that a pool's ceiling is averaged over: in `one_of_each_story` they are balanced."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Pairs of vectors, shape (pairs, n) on either side, whose mean correlation is the ceiling.

    `of` is what the mean is over (raters, halvings, pairs of raters). Where `halves` is set, the sides are halves of
    the raters, and the mean r is stepped up to all of them: 2r / (1 + r) (Spearman 1910; Brown 1910).
    """

    name: str
    of: str
    x: Floats
    y: Floats
    halves: bool = False

    def estimate(self, measure: Measure) -> Estimate:
        """The ceiling; pairs for which the correlation is undefined are left out and counted in `method`.

        `n` is the number of stories used by the pair that has most.
        """
        if len(self.x) == 0:
            why = ": no story was rated by two people" if self.of == "draws" else " with fewer than 2 raters"
            return Estimate.undefined(f"human ceiling undefined{why}")
        found = [measure(x, y) for x, y in zip(self.x, self.y, strict=True)]
        values = np.array([np.nan if each.value is None else each.value for each in found])
        combined = float(self._combined(values[:, None])[0])
        if np.isnan(combined):
            reason = next((each.reason for each in found if each.value is None), "the halves are exactly opposed")
            every = "" if reason is None else f" ({reason})"
            return Estimate.undefined(f"human ceiling undefined for every {_single(self.of)}{every}")
        defined = int((~np.isnan(values)).sum())
        return Estimate(
            combined,
            n=max(each.n for each in found if each.value is not None),
            method=f"{self.name}, {defined} of {len(found)} {self.of}",
        )

    def values(self, values_of: Callable[[Floats, Floats], Floats]) -> Floats:
        """The ceiling in each resample (b,), from a function of two vectors that gives a correlation in each (b,)."""
        return self._combined(np.stack([values_of(x, y) for x, y in zip(self.x, self.y, strict=True)]))

    def resampled(
        self, statistic_of: Callable[[Floats, Floats], Callable[[Weights], Floats]]
    ) -> Callable[[Weights], Floats]:
        """The ceiling as a statistic for `Resamples.values`; `statistic_of` as `correlation.resampled`."""
        parts = [statistic_of(x, y) for x, y in zip(self.x, self.y, strict=True)]
        return lambda weights: self._combined(np.stack([part(weights) for part in parts]))

    def _combined(self, values: Floats) -> Floats:
        """Mean of the defined correlations (pairs, b); NaN where there is none."""
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)
            stepped = np.where(mean > -1 + 1e-9, 2 * mean / (1 + mean), np.nan) if self.halves else mean
        return np.asarray(stepped, dtype=np.float64)


def leave_one_out(ratings: Floats, measure: Measure) -> Estimate:
    """The leave-one-out ceiling of ratings (n stories, r raters), NaN where a rater did not rate a story."""
    return one_against_others(ratings).estimate(measure)


def one_against_others(ratings: Floats) -> Ceiling:
    """Leave-one-out: each rater with the mean of the others; ratings (n, r), NaN = not rated."""
    total, count = np.nansum(ratings, axis=1), (~np.isnan(ratings)).sum(axis=1)
    raters = ratings.T if ratings.shape[1] > 1 else ratings.T[:0]
    own = ~np.isnan(raters)
    others = [_mean(total - np.where(k, r, 0.0), count - k) for r, k in zip(raters, own, strict=True)]
    return Ceiling("leave-one-out", "raters", raters, _stack(others, raters))


def is_panel(ratings: Floats) -> bool:
    """Whether every rater rated nearly every story: `PANEL_SHARE` of those that two or more rated; ratings (n, r)."""
    known = ~np.isnan(ratings)
    shared = known[known.sum(axis=1) > 1]
    return bool(len(shared)) and bool((shared.mean(axis=0) >= PANEL_SHARE).all())


def one_of_each_story(ratings: Floats, draws: int, rng: np.random.Generator) -> Ceiling:
    """One random rater of each story with the mean of that story's others, so many times; ratings (n, r), NaN = none.

    Draws are balanced: in any k draws in a row that begin a round, each of a story's k raters stands once for one
    person, in random order. Stories with fewer than two ratings are left out.
    """
    story, column = np.nonzero(~np.isnan(ratings))
    count = np.bincount(story, minlength=len(ratings))
    shared = np.flatnonzero(count > 1)
    packed = np.full((len(ratings), int(count.max(initial=0))), np.nan)
    first = np.cumsum(count) - count
    packed[story, np.arange(story.size) - first[story]] = ratings[story, column]
    packed, count = packed[shared], count[shared]
    total, order = np.nansum(packed, axis=1), np.empty(packed.shape, dtype=np.int64)
    x, y = np.full((2, draws if shared.size else 0, len(ratings)), np.nan)
    for draw in range(len(x)):
        begins = draw % count == 0
        keys = np.where(np.isnan(packed[begins]), 2.0, rng.random(packed[begins].shape))
        order[begins] = np.argsort(keys, axis=1)
        one = packed[np.arange(shared.size), order[np.arange(shared.size), draw % count]]
        x[draw, shared], y[draw, shared] = one, (total - one) / (count - 1)
    return Ceiling("one rater a story", "draws", x, y)


def one_against_all(ratings: Floats) -> Ceiling:
    """Self-included, as some tables publish it: each rater with the mean of all raters, of which the rater is part."""
    raters = ratings.T if ratings.shape[1] > 1 else ratings.T[:0]
    mean = _mean(np.nansum(ratings, axis=1), (~np.isnan(ratings)).sum(axis=1))
    return Ceiling("self-included (inflated)", "raters", raters, _stack([mean] * len(raters), raters))


def pairwise(ratings: Floats) -> Ceiling:
    """Each pair of raters, on the stories that both rated; ratings (n, r), NaN = not rated."""
    pairs = list(combinations(range(ratings.shape[1]), 2))
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    return Ceiling("pairwise", "pairs of raters", ratings.T[first], ratings.T[second])


def split_half(
    ratings: Floats, splits: int, rng: np.random.Generator, *, by: Literal["rater", "story"] = "rater"
) -> Ceiling:
    """Means of two random halves of the raters, Spearman-Brown corrected after averaging over the splits.

    The correction was derived for Pearson's r and is an approximation for rank correlations, and where the halves
    differ by one rater. The mean of r is corrected, not each r, because the correction explodes as r nears -1.

    Parameters
    ----------
    ratings : array, shape (n, r)
        NaN = not rated. A story without a rating in one of the halves is left out of that split.
    splits : int
        Number of random halvings.
    rng : numpy Generator
    by : {"rater", "story"}
        Halve the raters, the same for all stories; or each story's ratings anew, which also serves where columns are
        positions and not persons, or where each person rated a few stories only. In the latter a rater's leniency
        counts as noise.
    """
    n, r = ratings.shape
    known = ~np.isnan(ratings)
    x, y = np.empty((2, splits if r > 1 else 0, n))
    for split in range(len(x)):
        if by == "rater":
            first = np.isin(np.arange(r), rng.permutation(r)[: r // 2])[None, :] & known
        else:
            place = np.argsort(np.argsort(np.where(known, rng.random((n, r)), 2.0), axis=1), axis=1)
            first = known & (place < known.sum(axis=1, keepdims=True) // 2)
        for side, members in ((x, first), (y, known & ~first)):
            side[split] = _mean(np.where(members, ratings, 0.0).sum(axis=1), members.sum(axis=1))
    return Ceiling("split-half, Spearman-Brown", "halvings", x, y, halves=True)


def disattenuated(correlation: Estimate, reliability: Estimate) -> Estimate:
    """A correlation with people had their mean no error: r / sqrt(reliability of the people's mean) (Spearman 1904).

    It can exceed 1 and is not clipped; it has no interval of its own (see `disattenuated_values`). Undefined where
    either is undefined or the reliability is not above 0 and 1 at most. Derived for Pearson's r.
    """
    if correlation.value is None or reliability.value is None:
        missing = correlation if correlation.value is None else reliability
        return Estimate.undefined(missing.reason or "undefined", n=correlation.n)
    if not 0 < reliability.value <= 1:
        return Estimate.undefined(f"undefined: the people's reliability is {reliability.value:.2f}", n=correlation.n)
    return Estimate(correlation.value / float(np.sqrt(reliability.value)), n=correlation.n, method="disattenuated")


def disattenuated_values(correlations: Floats, reliabilities: Floats) -> Floats:
    """`disattenuated` in each of the same resamples, (b,) each; NaN where the reliability is no share above 0."""
    usable = (reliabilities > 0) & (reliabilities <= 1)
    return np.where(usable, correlations / np.sqrt(np.where(usable, reliabilities, 1.0)), np.nan)


def _mean(total: Floats, count: NDArray[np.int64]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _stack(rows: Sequence[Floats], like: Floats) -> Floats:
    return np.stack(rows) if rows else np.empty(like.shape)


def _single(of: str) -> str:
    return {"raters": "rater", "halvings": "halving", "pairs of raters": "pair of raters", "draws": "draw"}[of]
