"""Pairwise accuracy: how often a judge orders two stories in the same way as people, under several rules for ties.

Each pair of stories has one of five outcomes: *concordant* (judge and people order the two stories in the same way),
*discordant* (in opposite ways), tied by people only, tied by the judge only, or tied by both. A pair is *comparable* if
people do not tie it. With C the number of concordant pairs and T_judge the number tied by the judge only,

- strict accuracy = C / comparable: a judge's tie of a comparable pair counts as wrong;
- half-credit accuracy = (C + T_judge / 2) / comparable: a judge's tie counts one half, the expected value of a
  coin toss;
- the accuracy of module `tie_calibration` uses all pairs and also rewards a judge for tying the pairs that
  people tie.

Pairs are taken over all stories, or within units (stories of one story-prompt), where the accuracies of the units are
averaged. Ratings closer than 1e-9 are ties (`kendall.codes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import kendall

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

# Pairs processed at a time, so that memory does not grow with the square of the stories.
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Number of pairs of stories by how the judge and people order them. `tied_people` counts pairs tied by people but
    not by the judge; `tied_judge` counts pairs tied by the judge but not by people.
    """

    concordant: int
    discordant: int
    tied_people: int
    tied_judge: int
    tied_both: int

    @property
    def pairs(self) -> int:
        """Number of all pairs of stories."""
        return self.comparable + self.tied_people + self.tied_both

    @property
    def comparable(self) -> int:
        """Number of pairs of stories that people do not tie."""
        return self.concordant + self.discordant + self.tied_judge


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Number of pairs of stories by outcome (how the judge and people order the two stories) and by the units (such as
    story-prompts) to which the two stories belong.

    Attributes
    ----------
    outcomes : array of int, shape (5, units, units), or (5, units) where only pairs within a unit were taken
        Number of pairs for each outcome, in the order concordant, discordant, tied by people only, by the judge only,
        by both. Each pair is counted once, at [unit of one story, unit of the other].
    unit : array of int, shape (n,)
        Unit of each story, also of stories without a rating.
    """

    outcomes: Codes
    unit: Codes

    @property
    def counts(self) -> PairCounts:
        """Number of pairs of stories by outcome, summed over the units of the table."""
        return PairCounts(*(int(total) for total in self.outcomes.reshape(5, -1).sum(axis=1)))

    def accuracy(self, credit: Credit) -> Estimate:
        """The judge's accuracy on comparable pairs of stories (pairs that people do not tie). Where only pairs within
        units (such as story-prompts) were taken, it is the mean of the accuracies of the units that have a comparable
        pair.

        Parameters
        ----------
        credit : {"strict", "half"}
            Whether a comparable pair that the judge ties counts 0 ("strict") or one half ("half").

        Returns
        -------
        Estimate
            `n` counts comparable pairs, or the units that are averaged. Undefined without a comparable pair.
        """
        return _ratio(*self._shares(credit), "undefined because people tie every pair of stories")

    def resampled(self, credit: Credit) -> Callable[[Codes], Floats]:
        """A function that computes the judge's accuracy on comparable pairs (pairs that people do not tie) in each of b
        resamples. Its argument holds the weights of the n stories, shape (b, n); it returns the accuracies, shape (b,).
        See `ratio_of_resamples`.

        Parameters
        ----------
        credit : {"strict", "half"}
            Whether a comparable pair that the judge ties counts 0 ("strict") or one half ("half").
        """
        return ratio_of_resamples(*self._shares(credit), self.unit)

    def _shares(self, credit: Credit) -> tuple[Floats, Floats]:
        tied = self.outcomes[TIED_JUDGE].astype(np.float64)
        right = self.outcomes[CONCORDANT] + (tied / 2 if credit == "half" else 0.0)
        return np.asarray(right), self.outcomes[CONCORDANT] + self.outcomes[DISCORDANT] + tied


def pair_table(judge: Floats, people: Floats, unit: Codes | None = None, *, within: bool = False) -> PairTable:
    """Number of pairs of stories by outcome (how the judge and people order the two stories), over all pairs of stories
    that both rated.

    Parameters
    ----------
    judge, people : array, shape (n,)
        Ratings; NaN = missing. A story with a missing rating is in no pair.
    unit : array of int, shape (n,), optional
        Unit (such as the story-prompt) of each story, as codes from 0 on; resamples draw units as a whole. None
        = all stories are one unit.
    within : bool
        Whether to take only pairs of stories of the same unit.

    Returns
    -------
    PairTable
        The counts by outcome and by the units of the two stories.
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
    """Outcome of each pair of stories: concordant, discordant, tied by people only, by the judge only, or by both. The
    outcomes are coded 0 to 4 in this order, in an array of shape (pairs,).

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
    """Yield all pairs i != j of stories, each once, in blocks that limit the memory used.

    Parameters
    ----------
    unit : array of int, shape (n,)
        Unit (such as the story-prompt) of each story.
    within : bool
        Whether to yield only pairs of stories of the same unit.

    Yields
    ------
    i, j : array of int, shape (pairs of the block,)
        Indices of the first and second story of each pair.
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
    """Number of pairs scored right divided by the number of pairs taken. Both numbers are tables by the units (such as
    story-prompts) of the two stories.

    For tables of shape (units, units) this is the ratio of the sums, and `n` counts pairs. For tables of shape
    (units,), with pairs within units only, it is the mean of the units' ratios, and `n` counts the units that have a
    pair. Without a pair it is undefined, with `nothing` as the reason.
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
    """A function that computes an accuracy in each of b resamples that draw units (such as story-prompts) as a whole.
    Its argument holds the weights of the n stories, shape (b, n); it returns the accuracies, shape (b,).

    For tables of shape (units, units) the accuracy is (w' right w) / (w' taken w) where w holds the number of draws of
    each unit. A pair of stories thus has the product of its two units' numbers of draws as its weight. A story is never
    paired with a copy of itself, which would be an artificial tie. For tables of shape (units,), with pairs within
    units only, it is the mean of the units' ratios.

    Parameters
    ----------
    right, taken : array, shape (units, units) or (units,)
        Number of pairs scored right, and number of all pairs, by the units of their two stories.
    unit : array of int, shape (n,)
        Unit of each story.

    Returns
    -------
    callable
        The function. An accuracy is NaN where the resample holds no pair.
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
