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
    """Number of pairs of stories by outcome; `tied_people` and `tied_judge` count pairs that only they tie."""

    concordant: int
    discordant: int
    tied_people: int
    tied_judge: int
    tied_both: int

    @property
    def pairs(self) -> int:
        return self.comparable + self.tied_people + self.tied_both

    @property
    def comparable(self) -> int:
        """Number of pairs that people do not tie."""
        return self.concordant + self.discordant + self.tied_judge


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Number of pairs of stories by outcome and by the units (such as story-prompts) of the two stories.

    `outcomes` has shape (5, units, units), in the order concordant, discordant, tied by people only, by the judge only,
    by both, each pair once, at [unit of one story, unit of the other]; (5, units) where only pairs within a unit were
    taken. `unit` (n,) is that of each story, also of stories without a rating.
    """

    outcomes: Codes
    unit: Codes

    @property
    def counts(self) -> PairCounts:
        """Number of pairs by outcome, summed over units."""
        return PairCounts(*(int(total) for total in self.outcomes.reshape(5, -1).sum(axis=1)))

    def accuracy(self, credit: Credit) -> Estimate:
        """The judge's accuracy on comparable pairs; a judge's tie counts 0 or, with half `credit`, one half.

        Where only pairs within units were taken, it is the mean over the units that have a comparable pair. n counts
        comparable pairs, or these units. Undefined without a comparable pair.
        """
        return _ratio(*self._shares(credit), "undefined because people tie every pair of stories")

    def resampled(self, credit: Credit) -> Callable[[Codes], Floats]:
        """A function from weights (b, n) to the accuracy on comparable pairs, with `credit`, in b resamples, (b,).

        See `ratio_of_resamples`.
        """
        return ratio_of_resamples(*self._shares(credit), self.unit)

    def _shares(self, credit: Credit) -> tuple[Floats, Floats]:
        tied = self.outcomes[TIED_JUDGE].astype(np.float64)
        right = self.outcomes[CONCORDANT] + (tied / 2 if credit == "half" else 0.0)
        return np.asarray(right), self.outcomes[CONCORDANT] + self.outcomes[DISCORDANT] + tied


def pair_table(judge: Floats, people: Floats, unit: Codes | None = None, *, within: bool = False) -> PairTable:
    """Number of pairs by outcome, over all pairs of stories that both rated.

    `judge` and `people` (n,) are ratings; a story with a NaN is in no pair. `unit` (n,) holds units (such as
    story-prompts), codes from 0 on, which resamples draw as a whole; None = all stories are one. `within` takes only
    pairs of one unit.
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
    """Outcome of each pair, 0 to 4, (pairs,): concordant, discordant, tied by people only, by the judge only, by both.

    `x` and `y` (n,) are codes of the judge's and people's ratings, none missing; `i` and `j` (pairs,) are the two
    stories.
    """
    judge, people = np.sign(x[j] - x[i]), np.sign(y[j] - y[i])
    return np.asarray(_OUTCOME[judge + 1, people + 1], dtype=np.int64)


def blocks(unit: Codes, *, within: bool) -> Iterator[tuple[Codes, Codes]]:
    """All pairs i != j of stories, each once, as two arrays of indices, in blocks that limit the memory used.

    `unit` (n,) holds units (such as story-prompts); `within` yields only pairs of one unit.
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
    """Ratio of the sums of tables (units, units), n = pairs; or mean ratio of tables (units,), n = units."""
    has = taken > 0
    if not has.any():
        return Estimate.undefined(nothing)
    if taken.ndim == 2:
        total = float(taken.sum())
        return Estimate(float(right.sum()) / total, n=round(total))
    value = float((right[has] / taken[has]).mean())
    return Estimate(value, n=int(has.sum()), method=f"mean of {has.sum()} of {has.size} units")


def ratio_of_resamples(right: Floats, taken: Floats, unit: Codes) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to an accuracy in b resamples that draw whole units, (b,); NaN without a pair.

    `right` and `taken` count pairs scored right, and all pairs, by the units of their stories; `unit` (n,) is that of
    each story. For tables (units, units) the accuracy is (w' right w) / (w' taken w) where w holds the number of draws
    of each unit: a pair's weight is the product of its two units' draws. A story is never paired with a copy of itself,
    which would be an artificial tie. For tables (units,), with pairs within units only, it is the mean of the units'
    ratios.
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
