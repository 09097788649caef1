"""Transitivity of preferences: the share of cyclic triads, compared with the fitted model and with chance.

A triad is three stories for one story-prompt that were all compared with each other. It is cyclic if a is preferred to
b, b to c, and c to a (Kendall & Babington Smith 1940, Biometrika 31). The preference of a pair is the majority of its
comparisons (both orders, all repeats). A triad with a tied pair is not strict and is counted separately. Random choices
make a quarter of strict triads cyclic. Under a fitted model, comparisons are independent given their probabilities, and
the expected share is the ratio of the expected numbers of cyclic and of strict triads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.comparing.davidson import interval
from judge.stats.comparing.paired_comparisons import FIRST, SECOND, TIE, Comparisons

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Share of cyclic triads of coin tosses.
GUESSING = 0.25


@dataclass(frozen=True, slots=True)
class CircularTriads:
    """Number and share of cyclic triads: three stories with a preferred to b, b to c, and c to a.

    `share` is that of `strict` triads (those without a tied pair) that are `cyclic`, with a jackknife interval over
    story-prompts; `expected` is the share under the fitted model; `uneven` triads have a tied pair.
    """

    share: Estimate
    expected: Estimate
    cyclic: int
    strict: int
    uneven: int


def circular_triads(comparisons: Comparisons, chances: Floats | None = None) -> CircularTriads:
    """Number and share of cyclic triads within clusters (a story-prompt, or a story-prompt and a judge).

    `comparisons` are of stories (or of systems that have one story per cluster). `chances` (n comparisons, 3) are
    fitted probabilities (`Fit.chances`); without them there is no expected share. Undefined if every triad has a tied
    pair or there is no triad.
    """
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
        with np.errstate(invalid="ignore", divide="ignore"):
            without = (cyclic - counted[:, 0]) / (strict - counted[:, 1])
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
    without a fit.
    """

    net: Floats
    met: NDArray[np.bool_]
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
