"""Agreement of a judge with people on which story of a pair is better, where either may prefer neither.

It is arbitrary which story of a pair is called first. Every pair is therefore counted in both directions. Judge and
people then say "first" as often as "second", and chance agreement depends only on the shares of ties, s (judge) and t
(people):

    expected agreement of kappa = s t + (1 - s)(1 - t) / 2
    expected agreement of AC1   = (m (1 - m) + 2 k (1 - k)) / 2,  m = (s + t) / 2,  k = (1 - m) / 2

(Cohen 1960, Educational & Psychological Measurement 20; Gwet 2008, British Journal of Mathematical & Statistical
Psychology 61). If a tie is not a possible answer, AC1 has two categories and both expected agreements are 1/2. Pairs
for one story-prompt are not independent, so that intervals are jackknife intervals over story-prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, Masks, ratio, renumbered
from judge.base.estimate import Estimate
from judge.stats.comparing.davidson import interval
from judge.stats.comparing.paired_comparisons import FIRST, SECOND, TIE, Comparisons
from judge.stats.ordering.ranking import mean_share, win_rate

# Transitivity of preferences: the share of cyclic triads, compared with the fitted model and with chance.


# Share of cyclic triads of coin tosses.
GUESSING = 0.25


@dataclass(frozen=True, slots=True)
class CircularTriads:
    """Number and share of cyclic triads: three stories with a preferred to b, b to c, and c to a.

    `share` is that of `strict` triads (those without a tied pair) that are `cyclic`, with a jackknife interval over
    story-prompts; `expected` is the share under the fitted model; `uneven` triads have a tied pair."""

    share: Estimate
    expected: Estimate
    cyclic: int
    strict: int
    uneven: int


def circular_triads(comparisons: Comparisons, chances: Floats | None = None) -> CircularTriads:
    """Number and share of cyclic triads within clusters (a story-prompt, or a story-prompt and a judge).

    `comparisons` are of stories (or of systems that have one story per cluster). `chances` (n comparisons, 3) are
    fitted probabilities (`Fit.chances`); without them there is no expected share. Undefined if every triad has a tied
    pair or there is no triad."""
    counted = np.zeros((comparisons.clusters, 3))
    expected = np.zeros(2)
    for g in range(comparisons.clusters):
        rows = np.flatnonzero(comparisons.cluster == g)
        if rows.size:
            tables = _tables(comparisons, rows, None if chances is None else chances[rows])
            counted[g] = tables.counts()
            expected += tables.expected()
    cyclic, strict, uneven = counted.sum(axis=0)
    share = Estimate.undefined("undefined without three stories that were all compared")
    if strict:
        share = Estimate(float(cyclic / strict), n=round(strict))
        without = ratio(cyclic - counted[:, 0], strict - counted[:, 1])
        having = counted[:, 1] > 0
        share = interval(share, without[having], bounds=(0.0, 1.0))
    under = Estimate.undefined("undefined without a fit")
    if chances is not None and strict and expected[1] > 0:
        under = Estimate(float(expected[0] / expected[1]), n=round(strict))
    return CircularTriads(share, under, round(cyclic), round(strict), round(uneven))


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """Comparisons between the stories of one cluster; arrays (s, s).

    `net`: wins of the row's minus the column's story; `chance`: fitted probability that the row's has more wins, 0
    without a fit."""

    net: Floats
    met: Masks
    chance: Floats

    def counts(self) -> tuple[float, float, float]:
        """Numbers of cyclic, strict and uneven triads."""
        over = (self.net > 1e-9).astype(np.float64)
        decided = over + over.T
        met = self.met.astype(np.float64)
        cyclic = float(np.trace(over @ over @ over)) / 3
        strict = float(np.trace(decided @ decided @ decided)) / 6
        return cyclic, strict, float(np.trace(met @ met @ met)) / 6 - strict

    def expected(self) -> tuple[float, float]:
        """Expected numbers of cyclic and of strict triads."""
        decided = self.chance + self.chance.T
        cyclic = float(np.trace(self.chance @ self.chance @ self.chance)) / 3
        return cyclic, float(np.trace(decided @ decided @ decided)) / 6


def _tables(comparisons: Comparisons, rows: Codes, chances: Floats | None) -> _Cluster:
    present, position = np.unique(
        np.concatenate([comparisons.first[rows], comparisons.second[rows]]), return_inverse=True
    )
    first, second = position.reshape(2, -1)
    size = present.size
    net, met, chance = np.zeros((size, size)), np.zeros((size, size), dtype=bool), np.zeros((size, size))
    ended = comparisons.ended[rows]
    lead = ended[:, FIRST] - ended[:, SECOND]
    np.add.at(net, (first, second), lead)
    np.add.at(net, (second, first), -lead)
    met[first, second] = met[second, first] = True
    if chances is None:
        return _Cluster(net, met, chance)
    for a, b in zip(*np.triu_indices(size, 1), strict=True):
        if met[a, b]:
            here = np.flatnonzero(((first == a) & (second == b)) | ((first == b) & (second == a)))
            mine = np.where((first[here] == a)[:, None], chances[here], chances[here][:, [SECOND, FIRST, TIE]])
            repeats = np.maximum(1, np.round(ended[here].sum(axis=1))).astype(np.int64)
            chance[a, b], chance[b, a] = _strict(np.repeat(mine, repeats, axis=0))
    return _Cluster(net, met, chance)


def _strict(shares: Floats) -> tuple[float, float]:
    """Probability that the first of two stories has more wins, and of the reverse, from independent comparisons."""
    net = np.ones(1)
    for share in shares:
        net = np.convolve(net, share[[SECOND, TIE, FIRST]])
    middle = len(shares)
    return float(net[middle + 1 :].sum()), float(net[:middle].sum())


NO_PAIR = "undefined: no pair that both sides judged"
NO_PREFERENCE = "undefined: no pair of which people prefer either story"


@dataclass(frozen=True, slots=True)
class PreferenceAgreement:
    """Agreement of one side (a judge or a baseline) with people about which story of a pair is better.

    `half` and `strict` are shares, among pairs of which people prefer one story, in which the side prefers the same
    one; its ties count one half, or as wrong; n counts pairs. `macro` is `half` averaged over story-prompts; n counts
    these. `kappa` and `ac1` are over all pairs that both judged, with ties as a category. `ties` and `people_ties`
    count pairs."""

    half: Estimate
    strict: Estimate
    macro: Estimate
    kappa: Estimate
    ac1: Estimate
    ties: int
    people_ties: int


def preference_agreement(side: Floats, people: Floats, cluster: Codes, *, ties: bool) -> PreferenceAgreement:
    """Agreement of a side's preferences (a judge's or baseline's) with people's; undefined without a pair both judged.

    `side` and `people` (pairs,) are 1 = first preferred, -1 = second preferred, 0 = tie; NaN = none, left out pairwise.
    `cluster` (pairs,) holds story-prompts, for the jackknife intervals. `ties` says whether a tie is a possible answer:
    it is then a category of AC1, even if it does not occur."""
    defined = np.flatnonzero(~np.isnan(side + people))
    x, y, group = side[defined], people[defined], cluster[defined]
    preferred = np.flatnonzero(y != 0)
    x1, y1, group1 = x[preferred], y[preferred], group[preferred]
    half = strict = macro = Estimate.undefined(NO_PREFERENCE if defined.size else NO_PAIR)
    if preferred.size:
        code = renumbered(group1)
        half = win_rate(x1 * y1, code).estimate
        strict = win_rate(np.where(x1 * y1 > 0, 1.0, -1.0), code).estimate
        share = np.bincount(code, weights=(x1 * y1 + 1) / 2) / np.bincount(code)
        macro = mean_share(share, np.arange(share.size))
    return PreferenceAgreement(
        half,
        strict,
        macro,
        _chance_corrected(x, y, group, _kappa_expected),
        _chance_corrected(x, y, group, _ac1_expected if ties else _even),
        int((x == 0).sum()),
        int((y == 0).sum()),
    )


def pair_credit(side: Floats, people: Floats) -> Floats:
    """1 where `side` prefers the story that `people` prefer, 1/2 where it says tie, otherwise 0; all (pairs,).

    Codes are as in `preference_agreement`. NaN where people say tie, or where either did not judge the pair."""
    return np.asarray(np.where(people == 0, np.nan, (side * people + 1) / 2), dtype=np.float64)


def _kappa_expected(ties: Floats, people_ties: Floats) -> Floats:
    return np.asarray(ties * people_ties + (1 - ties) * (1 - people_ties) / 2, dtype=np.float64)


def _ac1_expected(ties: Floats, people_ties: Floats) -> Floats:
    tie = (ties + people_ties) / 2
    rest = (1 - tie) / 2
    return np.asarray((tie * (1 - tie) + 2 * rest * (1 - rest)) / 2, dtype=np.float64)


def _even(ties: Floats, people_ties: Floats) -> Floats:
    return np.asarray(np.full_like(ties + people_ties, 0.5), dtype=np.float64)


def _chance_corrected(
    x: Floats, y: Floats, cluster: Codes, expectation: Callable[[Floats, Floats], Floats]
) -> Estimate:
    """(observed - expected) / (1 - expected), with a jackknife interval over clusters."""
    if not x.size:
        return Estimate.undefined(NO_PAIR)
    code = renumbered(cluster)
    counts = np.stack([np.bincount(code, weights=row.astype(np.float64)) for row in (x == y, x == 0, y == 0, x == x)])
    sums = np.concatenate([counts.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True) - counts], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        agree, ties, people_ties, _ = sums / sums[3]
        expected = expectation(ties, people_ties)
        values = (agree - expected) / (1 - expected)
    if not np.isfinite(values[0]):
        return Estimate.undefined("undefined: both sides tie every pair", n=x.size)
    return interval(Estimate(float(values[0]), n=int(x.size)), values[1:], bounds=(-1.0, 1.0))
