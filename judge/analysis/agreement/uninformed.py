"""Whether a judge agrees with people more than the best uninformed judge does, on all stories and within systems.

An uninformed judge reads no meaning. Those that are set beside a judge, by Kendall's tau-b with people's means:

==========  ==========================================================================  ================================
name        its ratings                                                                 its tau
==========  ==========================================================================  ================================
chance      one rating for all stories, or people's ratings randomly permuted           0, by construction
control     a regression on surface features of the texts, out of fold                  on the stories that both rated
length      the number of words, in the direction in which people's ratings go with it  on the stories that both have
==========  ==========================================================================  ================================

A judge that knows which system wrote a story, and nothing else, agrees with people too. It has no agreement *within*
systems: over pairs of stories of one system. The comparison is therefore made twice, over all stories and as the mean
of tau within systems. Both are paired, on the same resamples of story-prompts.

The judge must be above every uninformed judge (an intersection-union test, Berger 1982, Technometrics 24, so that each
comparison keeps its level). The result is the comparison with the smallest evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.correlation.statistic import Floats, Intervals, Side, Statistic
from judge.analysis.inputs.candidates import Candidate
from judge.analysis.options.choices import Level
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.resampling.bootstrap_intervals import p_above_zero

Levels = Mapping[Level, tuple[Statistic, Intervals]]

CHANCE, CONTROL, LENGTH = "chance", "the control", "length"


@dataclass(frozen=True, slots=True)
class Lead:
    """A judge's tau-b with people minus that of the uninformed judge with the least difference from it by the evidence.
    `over` has a 95 % interval over story-prompts; it is undefined, with the reason, where an uninformed judge or the
    judge has no tau. `p` is two-sided; None without an interval.
    """

    over: Estimate
    against: str = CHANCE
    p: float | None = None

    @property
    def shown(self) -> bool:
        """Whether the judge is above every uninformed judge by the 95 % interval."""
        return self.over.low is not None and self.over.low > 0


class Uninformed:
    """The uninformed judges of one dataset and human criterion, and the leads of judges over them."""

    def __init__(self, matrix: RatingMatrix, control: Candidate, levels: Levels):
        people = np.full(matrix.n, np.nan) if control.people is None else control.people
        self.matrix, self.people, self.control = matrix, Side(people), control
        self._levels = levels

    def lead(self, judge: Floats, level: Level) -> Lead:
        """The judge's lead over the uninformed judges at a level. `judge` has shape (n stories,), NaN = not rated."""
        if self.control.ratings is None:
            return Lead(Estimate.undefined(self.control.reason or "there is no control"), CONTROL)
        statistic, intervals = self._levels[level]
        rivals = self._rivals(judge, statistic)
        return min((self._over(judge, *rival, statistic, intervals) for rival in rivals), key=_evidence)

    def _rivals(self, judge: Floats, statistic: Statistic) -> Iterator[tuple[str, Floats | None]]:
        # None: its tau is 0 by construction.
        yield CHANCE, None
        if self.control.ratings is not None:
            yield CONTROL, np.where(np.isnan(judge), np.nan, self.control.ratings)
        words = np.array(self.matrix.stories["words"], dtype=np.float64)
        words = np.where(np.isnan(judge), np.nan, words)
        there = ~np.isnan(words) & ~np.isnan(self.people.values)
        if np.unique(words[there]).size > 1:
            along = statistic.estimate(Side(words), self.people).value
            yield LENGTH, words if along is None or along >= 0 else -words

    def _over(self, judge: Floats, name: str, rival: Floats | None, statistic: Statistic, intervals: Intervals) -> Lead:
        shared = judge if rival is None else np.where(np.isnan(rival), np.nan, judge)
        mine = statistic.estimate(Side(shared), self.people)
        theirs = Estimate(0.0, n=mine.n) if rival is None else statistic.estimate(Side(rival), self.people)
        if mine.value is None or theirs.value is None:
            return Lead(mine if mine.value is None else theirs, name)
        # An uninformed judge that goes against people is no lower bar than chance.
        over = Estimate(mine.value - max(0.0, theirs.value), n=mine.n)
        if not intervals.sets:
            return Lead(over, name)
        rows = shared[None] if rival is None else np.stack([shared, rival])
        drawn = intervals.values(rows, self.people.values)
        values = tuple(each[0] - (0.0 if rival is None else np.maximum(0.0, each[1])) for each in drawn)
        units = min(factor.counts.shape[1] for factor in intervals.sets[0].factors)
        p = p_above_zero(over, values[0], units)
        return Lead(intervals.of_values(over, values), name, None if p is None else min(1.0, 2 * p))


def levels_of(matrix: RatingMatrix, options: CorrelationOptions) -> Levels:
    """The statistics by which judges are compared with uninformed ones, with their resamples, at both levels."""
    levels: tuple[Level, ...] = ("overall", "by-system")
    at = {level: replace(options, level=level) for level in levels}
    statistics = {level: Statistic.of(matrix, own) for level, own in at.items()}
    return {level: (statistics[level], Intervals.of(matrix, own, statistics[level])) for level, own in at.items()}


def _evidence(lead: Lead) -> tuple[bool, float, float]:
    """Order by evidence, the least first: undefined, then the largest p, then the smallest difference."""
    if lead.over.value is None:
        return False, 0.0, 0.0
    return True, -(1.0 if lead.p is None else lead.p), lead.over.value
