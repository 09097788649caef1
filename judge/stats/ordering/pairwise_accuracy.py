"""Pairwise accuracy: how often a judge orders two stories as people order them, with named rules for ties.

Each pair of stories has one of five outcomes: *concordant* (both sides order it alike), *discordant*, tied on the
people's side only, tied on the judge's side only, tied on both. People say nothing about a pair that they tie, so a
pair is *comparable* where people differ. Then

- strict accuracy = C / comparable: a judge that ties a comparable pair is wrong;
- half-credit accuracy = (C + T_judge / 2) / comparable: a tied judge tosses a coin (the expected value of guessing);
- `tie_calibration` scores ties on both sides, so that a judge is rewarded for tying what people tie.

Pairs are taken over all stories, or within units (stories of one story-prompt), where the accuracies of the units are
averaged. Values closer than 1e-9 are ties (`kendall.codes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall
from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Credit = Literal["strict", "half"]
CONCORDANT, DISCORDANT, TIED_PEOPLE, TIED_JUDGE, TIED_BOTH = range(5)

_OUTCOME = np.array(
    [
        [CONCORDANT, TIED_PEOPLE, DISCORDANT],  # the judge puts the second story lower; people lower, tied, higher
        [TIED_JUDGE, TIED_BOTH, TIED_JUDGE],
        [DISCORDANT, TIED_PEOPLE, CONCORDANT],
    ],
    dtype=np.int64,
)

_BLOCK = 2_000_000
"""Pairs processed at a time, so that memory does not grow with the square of the stories."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Number of pairs by outcome; `tied_people` and `tied_judge` are tied on that side only."""

    concordant: int
    discordant: int
    tied_people: int
    tied_judge: int
    tied_both: int

    @property
    def pairs(self) -> int:
        """Number of all pairs."""
        return self.comparable + self.tied_people + self.tied_both

    @property
    def comparable(self) -> int:
        """Number of pairs that people do not tie."""
        return self.concordant + self.discordant + self.tied_judge


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Outcomes of pairs, counted by the units to which their stories belong.

    Attributes
    ----------
    outcomes : array of int, shape (5, units, units), or (5, units) where only pairs within a unit were taken
        In the order of the constants of this module. A pair of stories stands once, at [unit of one, unit of other].
    unit : array of int, shape (n,)
        Unit of each story given, also of those without a rating.
    """

    outcomes: Codes
    unit: Codes

    @property
    def counts(self) -> PairCounts:
        """Number of pairs by outcome, over all pairs that are included."""
        return PairCounts(*(int(total) for total in self.outcomes.reshape(5, -1).sum(axis=1)))

    def accuracy(self, credit: Credit) -> Estimate:
        """Accuracy over comparable pairs, or its mean over units that have such a pair.

        Parameters
        ----------
        credit : {"strict", "half"}
            What a comparable pair that the judge ties counts: nothing, or one half.

        Returns
        -------
        Estimate
            `n` counts comparable pairs, within units the units averaged. Undefined without a comparable pair.
        """
        return _ratio(*self._shares(credit), "undefined because people tie every pair of stories")

    def resampled(self, credit: Credit) -> Callable[[Codes], Floats]:
        """A function from weights (b, n) to the accuracy in each of b resamples; see `ratio_of_resamples`.

        Parameters
        ----------
        credit
            As for `accuracy`.
        """
        return ratio_of_resamples(*self._shares(credit), self.unit)

    def _shares(self, credit: Credit) -> tuple[Floats, Floats]:
        tied = self.outcomes[TIED_JUDGE].astype(np.float64)
        right = self.outcomes[CONCORDANT] + (tied / 2 if credit == "half" else 0.0)
        return np.asarray(right), self.outcomes[CONCORDANT] + self.outcomes[DISCORDANT] + tied


def pair_table(judge: Floats, people: Floats, unit: Codes | None = None, *, within: bool = False) -> PairTable:
    """Count the outcomes of all pairs of stories that both sides rated.

    Parameters
    ----------
    judge, people : array, shape (n,)
        NaN = missing; a story with a missing side is in no pair.
    unit : array of int, shape (n,), optional
        Unit of each story, 0..; what a resample draws as a whole. None = one unit.
    within : bool
        Take pairs within units only.

    Returns
    -------
    PairTable
    """
    unit = np.zeros(judge.size, dtype=np.int64) if unit is None else unit
    units = int(unit.max()) + 1 if unit.size else 1
    keep = np.flatnonzero(~(np.isnan(judge) | np.isnan(people)))
    x, y, u = kendall.codes(judge[keep]), kendall.codes(people[keep]), unit[keep]
    total = np.zeros((5, units) if within else (5, units, units), dtype=np.int64)
    for i, j in blocks(u, within=within):
        cell = outcome(x, y, i, j) * units + u[i]
        if not within:
            cell = cell * units + u[j]
        total += np.bincount(cell, minlength=total.size).reshape(total.shape)
    return PairTable(total, unit)


def outcome(x: Codes, y: Codes, i: Codes, j: Codes) -> Codes:
    """Outcome of each pair of stories, one of the constants of this module, shape (pairs,).

    Parameters
    ----------
    x, y : array of int, shape (n,)
        Codes of the judge's and of the people's ratings, none missing.
    i, j : array of int, shape (pairs,)
        First and second story of each pair.
    """
    judge, people = np.sign(x[j] - x[i]), np.sign(y[j] - y[i])
    return np.asarray(_OUTCOME[judge + 1, people + 1], dtype=np.int64)


def blocks(unit: Codes, *, within: bool) -> Iterator[tuple[Codes, Codes]]:
    """All pairs i != j of stories, each once, in blocks.

    Parameters
    ----------
    unit : array of int, shape (n,)
        Unit of each story.
    within : bool
        Only pairs of stories of one unit.

    Yields
    ------
    i, j : array of int, shape (pairs of the block,)
    """
    if within:
        yield from _blocks_within(unit)
        return
    after = np.arange(unit.size - 1, -1, -1)  # stories after each one
    step = max(1, _BLOCK // max(1, unit.size))
    for start in range(0, unit.size - 1, step):
        count = after[start : start + step]
        i = np.repeat(np.arange(start, start + count.size), count)
        skipped = np.cumsum(count) - count
        yield i, np.arange(i.size) - np.repeat(skipped, count) + i + 1


def _ratio(right: Floats, taken: Floats, nothing: str) -> Estimate:
    """Pairs scored right over pairs taken, both counted by units: of the sums (two-way), or the mean of the units'.

    `n` counts pairs, or the units averaged. Where no pair was taken it is undefined with the reason `nothing`.
    """
    has = taken > 0
    if not has.any():
        return Estimate.undefined(nothing)
    if taken.ndim == 2:
        total = float(taken.sum())
        return Estimate(float(right.sum()) / total, n=round(total))
    value = float((right[has] / taken[has]).mean())
    return Estimate(value, n=int(has.sum()), method=f"mean of {has.sum()} of {has.size} units")


def ratio_of_resamples(right: Floats, taken: Floats, unit: Codes) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to an accuracy in each of b resamples in which units were drawn as a whole.

    Two-way tables give (w' right w) / (w' taken w): a pair counts as often as its two units were drawn, and a story is
    never paired with a copy of itself, which would be a tie that nobody judged. One-way tables give the mean of the
    units' ratios.

    Parameters
    ----------
    right, taken : array, shape (units, units) or (units,)
        Pairs scored right, and pairs taken, by the units of their stories.
    unit : array of int, shape (n,)
        Unit of each story.

    Returns
    -------
    callable
        NaN where a resample holds no pair to count.
    """
    units = right.shape[0]
    first = np.full(units, -1, dtype=np.int64)
    first[unit[::-1]] = np.arange(unit.size)[::-1]
    stands = first >= 0
    if right.ndim == 1:
        stands &= taken > 0
    head, right, taken = first[stands], right[stands], taken[stands]

    def mean_of_ratios(weights: Codes) -> Floats:
        w = weights[:, head].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(w @ (right / taken) / w.sum(axis=1), dtype=np.float64)

    def ratio_of_sums(weights: Codes) -> Floats:
        w = weights[:, head].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            top, bottom = (((w @ side[:, stands]) * w).sum(axis=1) for side in (right, taken))
            return np.asarray(top / bottom, dtype=np.float64)

    return mean_of_ratios if right.ndim == 1 else ratio_of_sums


def _blocks_within(unit: Codes) -> Iterator[tuple[Codes, Codes]]:
    order = np.argsort(unit, kind="stable")
    ordered = unit[order]
    for distance in range(1, unit.size):
        same = np.flatnonzero(ordered[distance:] == ordered[:-distance])
        if not same.size:
            return
        yield order[same], order[same + distance]
