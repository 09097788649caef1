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
averaged. Ratings closer than 1e-9 are ties (`kendall.codes`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge.base.arrays import Codes, Floats, ratio
from judge.base.estimate import Estimate
from judge.stats.correlation import kendall

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
    taken. `unit` (n,) is that of each story, also of stories without a rating."""

    outcomes: Codes
    unit: Codes

    @property
    def counts(self) -> PairCounts:
        """Number of pairs by outcome, summed over units."""
        return PairCounts(*(int(total) for total in self.outcomes.reshape(5, -1).sum(axis=1)))

    def accuracy(self, credit: Credit) -> Estimate:
        """The judge's accuracy on comparable pairs; a judge's tie counts 0 or, with half `credit`, one half.

        Where only pairs within units were taken, it is the mean over the units that have a comparable pair. n counts
        comparable pairs, or these units. Undefined without a comparable pair."""
        return _ratio(*self._shares(credit), "undefined because people tie every pair of stories")

    def resampled(self, credit: Credit) -> Callable[[Codes], Floats]:
        """A function from weights (b, n) to the accuracy on comparable pairs, with `credit`, in b resamples, (b,).

        See `ratio_of_resamples`."""
        return ratio_of_resamples(*self._shares(credit), self.unit)

    def _shares(self, credit: Credit) -> tuple[Floats, Floats]:
        tied = self.outcomes[TIED_JUDGE].astype(np.float64)
        right = self.outcomes[CONCORDANT] + (tied / 2 if credit == "half" else 0.0)
        return np.asarray(right), self.outcomes[CONCORDANT] + self.outcomes[DISCORDANT] + tied


def pair_table(judge: Floats, people: Floats, unit: Codes | None = None, *, within: bool = False) -> PairTable:
    """Number of pairs by outcome, over all pairs of stories that both rated.

    `judge` and `people` (n,) are ratings; a story with a NaN is in no pair. `unit` (n,) holds units (such as
    story-prompts), codes from 0 on, which resamples draw as a whole; None = all stories are one. `within` takes only
    pairs of one unit."""
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
    stories."""
    judge, people = np.sign(x[j] - x[i]), np.sign(y[j] - y[i])
    return np.asarray(_OUTCOME[judge + 1, people + 1], dtype=np.int64)


def blocks(unit: Codes, *, within: bool) -> Iterator[tuple[Codes, Codes]]:
    """All pairs i != j of stories, each once, as two arrays of indices, in blocks that limit the memory used.

    `unit` (n,) holds units (such as story-prompts); `within` yields only pairs of one unit."""
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
    ratios."""
    units = right.shape[0]
    first = np.full(units, -1, dtype=np.int64)
    first[unit[::-1]] = np.arange(unit.size)[::-1]
    stands = first >= 0
    if right.ndim == 1:
        stands &= taken > 0
    head, right, taken = first[stands], right[stands], taken[stands]

    def mean_of_ratios(weights: Codes) -> Floats:
        w = weights[:, head].astype(np.float64)
        return ratio(w @ (right / taken), w.sum(axis=1))

    def ratio_of_sums(weights: Codes) -> Floats:
        w = weights[:, head].astype(np.float64)
        top, bottom = (((w @ side[:, stands]) * w).sum(axis=1) for side in (right, taken))
        return ratio(top, bottom)

    return mean_of_ratios if right.ndim == 1 else ratio_of_sums


def _blocks_within(unit: Codes) -> Iterator[tuple[Codes, Codes]]:
    order = np.argsort(unit, kind="stable")
    ordered = unit[order]
    for distance in range(1, unit.size):
        same = np.flatnonzero(ordered[distance:] == ordered[:-distance])
        if not same.size:
            return
        yield order[same], order[same + distance]


# Pairwise accuracy that scores ties, with the judge's ties calibrated in sample and held out.

# Epsilon is chosen among the differences of all the judge's values; with more distinct values than this, among those
# of this many, evenly spaced in rank.
_MOST_LEVELS = 1024

# Differences closer than 1e-8 are one epsilon: both their values may carry noise of 1e-9.
_DECIMALS = kendall.DECIMALS - 1

# Up to so many stories their pairs are made once and kept (64 MB); above, block by block each time.
_KEPT = 2000

_PEOPLE_TIE = np.isin(np.arange(5), [TIED_PEOPLE, TIED_BOTH])
_NOTHING = "undefined with fewer than 2 stories to pair"


@dataclass(frozen=True, slots=True, eq=False)
class TieCalibration:
    """Tie-calibrated pairwise accuracy acc_eq, where ratings that differ by epsilon or less count as tied.

    `plain` has epsilon = 0, `in_sample` an `epsilon` fitted on the pairs that are scored (in points; None without a
    pair), and `held_out` one fitted on pairs of stories from other folds; undefined with too few folds. `epsilons` are
    those of `held_out`, one for each combination of two stories' folds (which may be equal) that occurs. `right` and
    `taken` count pairs that are right with them, and all pairs, by the units (story-prompts) of the two stories:
    (units, units), or (units,) for pairs within units only. The accuracy in resamples comes from these, without fitting
    the epsilons again."""

    plain: Estimate
    in_sample: Estimate
    held_out: Estimate
    epsilon: float | None
    epsilons: Floats
    right: Floats
    taken: Floats


def calibrate(judge: Floats, people: Floats, unit: Codes, fold: Codes, *, within: bool = False) -> TieCalibration:
    """acc_eq over all pairs of stories, or its mean over units of acc_eq within a unit (Deutsch et al.'s "by item").

    `judge` and `people` (n,) are ratings; a story with a NaN is in no pair. `unit` and `fold` (n,) hold story-prompts
    and folds; all stories of a unit lie in one fold. `within` takes only pairs within units; each unit then has the
    same weight. n counts pairs or, within units, the units averaged. Undefined without a pair; held out also where no
    pair of stories from other folds remains for the fit: with fewer than three folds, or fewer than two where pairs are
    within units. If several epsilons have the same acc_eq, the smallest is taken, as in mt-metrics-eval."""
    keep = np.flatnonzero(~(np.isnan(judge) | np.isnan(people)))
    units = int(unit.max()) + 1 if unit.size else 1
    shape = (units,) if within else (units, units)
    names, f = np.unique(fold[keep], return_inverse=True)
    sums = _Sums(judge[keep], kendall.codes(people[keep]), unit[keep], f.reshape(-1).astype(np.int64), shape)
    if sums.n == 0:
        nothing = Estimate.undefined(_NOTHING)
        return TieCalibration(nothing, nothing, nothing, None, np.empty(0), np.zeros(shape), np.zeros(shape))
    plain = Estimate(float(sums.right[:, 0].sum() / sums.total.sum()), n=sums.n)
    whole = sums.right.sum(axis=0) / sums.total.sum()
    best = _first_best(whole)
    in_sample = Estimate(float(whole[best]), n=sums.n, method="epsilon in sample")
    scored = sums.total > 0
    others = sums.apart[scored].astype(np.float64)
    if (others @ sums.total == 0).any():
        reason = f"undefined held out: {names.size} folds with stories leave none to fit epsilon on"
        return TieCalibration(plain, in_sample, Estimate.undefined(reason), float(sums.candidates[best]), np.empty(0),
                              np.zeros(shape), np.zeros(shape))  # fmt: skip
    fitted = np.zeros(scored.size, dtype=np.int64)
    fitted[scored] = _first_best(others @ sums.right / (others @ sums.total)[:, None])
    value = float(sums.right[np.arange(fitted.size), fitted].sum() / sums.total.sum())
    held_out = Estimate(value, n=sums.n, method=f"epsilon of other folds, {names.size} folds")
    epsilons = sums.candidates[fitted[scored]]
    return TieCalibration(plain, in_sample, held_out, float(sums.candidates[best]), epsilons, *sums.score(fitted))


def _first_best(curve: Floats) -> Codes:
    """Index of the highest accuracy in each row of `curve`, the first of equal ones."""
    # Weights within units are fractions, so that equal accuracies may differ by 1e-15 and a larger epsilon could win by
    # chance.
    return np.asarray(np.argmax(np.round(curve, 12), axis=-1), dtype=np.int64)


class _Sums:
    """Total weight of correctly scored pairs of stories, by the folds of the two stories and by epsilon.

    Each pair has weight 1 or, within units, 1 / number of pairs of the unit. A pair that people tie is right if epsilon
    is at least the difference of the judge's ratings; a concordant pair if epsilon is below it. The weight for each
    epsilon is therefore that of all concordant pairs, plus a cumulative sum of gains and losses over the smaller
    epsilons.

    `candidates` (c,) are epsilons, ascending from 0; `total` (g unordered pairs of folds,) and `right` (g, c) weights;
    `apart` (g, g) says whether two pairs of folds share no fold; `n` counts pairs or, within units, units that have a
    pair."""

    def __init__(self, judge: Floats, people: Codes, unit: Codes, fold: Codes, shape: tuple[int, ...]) -> None:
        self._x, self._y, self._unit, self._fold, self._shape = kendall.codes(judge), people, unit, fold, shape
        first = np.unique(self._x, return_index=True)[1]
        self._levels = judge[first]  # not rounded: differences would be off by 1e-9, and equal ones no longer equal
        few = np.linspace(0, max(0, self._levels.size - 1), min(self._levels.size, _MOST_LEVELS)).round()
        self.candidates = np.unique(_differences(self._levels[few.astype(np.int64)]))
        folds = int(fold.max()) + 1 if fold.size else 0
        row, other = np.triu_indices(folds)
        members = np.stack([row, other], axis=1)
        self.apart = ~(members[:, None, :, None] == members[None, :, None, :]).any(axis=(2, 3))
        self._group = np.zeros((folds, folds), dtype=np.int64)
        self._group[row, other] = self._group[other, row] = np.arange(row.size)
        self._within = len(shape) == 1
        size = np.bincount(unit)
        self._weight = 2.0 / np.maximum(size * (size - 1), 1) if self._within else np.ones(size.size)
        self._kept = list(self._pairs()) if unit.size <= _KEPT else None
        self.total, self.right = self._add_up(row.size)
        self.n = int((size > 1).sum() if self._within else unit.size * (unit.size - 1) // 2)

    def score(self, epsilon: Codes) -> tuple[Floats, Floats]:
        """Pairs scored right and all pairs, by units; `epsilon` is the index for each pair of folds."""
        right, taken = np.zeros(int(np.prod(self._shape))), np.zeros(int(np.prod(self._shape)))
        for i, j, result, candidate in self._kept or self._pairs():
            tied = candidate <= epsilon[self._group[self._fold[i], self._fold[j]]]
            good = np.where(_PEOPLE_TIE[result], tied, (result == CONCORDANT) & ~tied)
            at = self._unit[i] if self._within else self._unit[i] * self._shape[0] + self._unit[j]
            right += np.bincount(at, weights=good, minlength=right.size)
            taken += np.bincount(at, minlength=right.size)
        return right.reshape(self._shape), taken.reshape(self._shape)

    def _add_up(self, groups: int) -> tuple[Floats, Floats]:
        width = self.candidates.size + 1  # the last column: differences above every candidate
        start, total, gain = np.zeros(groups), np.zeros(groups), np.zeros(groups * width)
        for i, j, result, candidate in self._kept or self._pairs():
            weight = self._weight[self._unit[i]]
            group = self._group[self._fold[i], self._fold[j]]
            concordant = weight * (result == CONCORDANT)
            start += np.bincount(group, weights=concordant, minlength=groups)
            total += np.bincount(group, weights=weight, minlength=groups)
            change = weight * _PEOPLE_TIE[result] - concordant
            gain += np.bincount(group * width + candidate, weights=change, minlength=gain.size)
        right = gain.reshape(groups, width)[:, :-1].cumsum(axis=1)
        right += start[:, None]
        return total, right

    def _pairs(self) -> Iterator[tuple[Codes, Codes, Codes, Codes]]:
        """Blocks of pairs: both stories, outcome, and the smallest epsilon that makes the judge tie the pair."""
        lookup = None
        if self._levels.size <= _MOST_LEVELS:
            lookup = np.searchsorted(self.candidates, _differences(self._levels))
        for i, j in blocks(self._unit, within=self._within):
            a, b = self._x[i], self._x[j]
            if lookup is not None:
                candidate = lookup[a, b]
            else:
                difference = np.round(np.abs(self._levels[a] - self._levels[b]), _DECIMALS)
                candidate = np.searchsorted(self.candidates, difference)
            yield i, j, outcome(self._x, self._y, i, j), candidate


def _differences(levels: Floats) -> Floats:
    return np.asarray(np.round(np.abs(levels[:, None] - levels[None, :]), _DECIMALS), dtype=np.float64)
