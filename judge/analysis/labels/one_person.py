"""Compares one person, and a judge, with the majority of the other people on the same items.

For a panel (every rater labelled nearly every story), each statistic is computed for each rater and averaged. For a
pool (different people labelled different stories), every story has a weight of one, which is shared equally by its
raters. Each rater is compared with the majority of the others. Where the others have no majority, there is no label to
compare with.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judge.analysis.labels.items import Items
from judge.analysis.labels.result import STATISTICS, Beside
from judge.base.estimate import Estimate
from judge.stats.agreement.confusion import Confusion, of_cells
from judge.stats.agreement.majority import of_the_others
from judge.stats.correlation.human_ceiling import is_panel
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

FEW = "human ceiling undefined: no story was labelled by two people of whom the others agree"


class OnePerson:
    """Labels of people one at a time, to be compared with the majority of the other people.

    `pool` is true if different people labelled different stories. It is false for a panel, in which every rater
    labelled nearly every story.
    """

    def __init__(self, items: Items, stories: Masks, resamples: Resamples | None) -> None:
        self.items, self.resamples = items, resamples
        self.people = np.where(stories[:, None], items.people, np.nan)
        self.others = of_the_others(self.people, items.q)
        self.tied = int(((self.others.tied) & ~np.isnan(self.people)).sum())
        self.labels = int((~np.isnan(self.people)).sum())
        self.pool = self.people.shape[1] > 1 and not is_panel(self.people)
        voters = (~np.isnan(self.people)).sum(axis=1)
        self._weight = 1.0 / np.maximum(1, voters)

    def confusions(self, kept: Masks) -> list[Confusion]:
        """Confusion matrices of single people against the majority of the others, on the items in the mask `kept`.

        There is one matrix per rater of a panel, or a single one for a pool (different people labelled different
        stories).
        """
        return self._made(self.people, kept)

    def ceiling(self) -> tuple[dict[str, Estimate], Floats]:
        """Every statistic of one person against the majority of the others, and the confusion matrix summed over
        people.

        The statistics are means over people, with intervals.
        """
        matrices = self.confusions(np.ones(len(self.people), dtype=np.bool_))
        counts = (
            np.sum([rater.counts for rater in matrices], axis=0) if matrices else np.zeros((self.items.q, self.items.q))
        )
        n = self._n(matrices)
        if not n:
            return dict.fromkeys(STATISTICS, Estimate.undefined(FEW)), counts
        values, plain = self._values(matrices), [rater.statistics() for rater in matrices]
        return {name: self._mean([rater[name] for rater in plain], values, name, n) for name in STATISTICS}, counts

    def beside(self, label: Floats) -> Mapping[str, Beside]:
        """Map from each statistic to its value for a judge, its value for people, and judge minus people.

        The judge's labels (`label`, shape (items,)) and single people's labels are compared with the same majorities of
        the other people.
        """
        kept = ~np.isnan(label)
        labels = np.where(np.isnan(self.people), np.nan, label[:, None])
        judge, people = self._made(labels, kept), self.confusions(kept)
        n = self._n(people)
        if not n:
            none = Estimate.undefined(FEW)
            return dict.fromkeys(STATISTICS, Beside(none, none, none))
        sides = [[matrix.statistics() for matrix in side] for side in (judge, people)]
        drawn = [self._values(side) for side in (judge, people)]
        return {name: self._both(name, sides, drawn, n) for name in STATISTICS}

    def _both(
        self,
        name: str,
        sides: Sequence[Sequence[Mapping[str, Estimate]]],
        drawn: Sequence[Sequence[Mapping[str, Floats]]],
        n: int,
    ) -> Beside:
        """Values of one statistic for judge and people, and judge minus people.

        They are means over the raters for whom the judge's and the person's value are both defined. `sides` and `drawn`
        hold the values of the judge, then of people, for each rater; `drawn` in resamples.
        """
        both = [i for i in range(len(sides[0])) if all(side[i][name].defined for side in sides)]
        if not both:
            reason = next(side[i][name].reason for i in range(len(sides[0])) for side in sides if side[i][name].reason)
            none = Estimate.undefined(reason or FEW, n)
            return Beside(none, none, none)
        judge, people = (float(np.mean([side[i][name].value for i in both])) for side in sides)
        estimates = [Estimate(judge, n), Estimate(people, n), Estimate(judge - people, n)]
        if self.resamples is not None:
            mine, theirs = (np.stack([values_of[i][name] for i in both]) for values_of in drawn)
            values = (_mean(mine), _mean(theirs), _mean(mine - theirs))
            estimates = [self.resamples.interval(values_of, v) for values_of, v in zip(estimates, values, strict=True)]
        return Beside(*estimates)

    def _made(self, labels: Floats, kept: Masks) -> list[Confusion]:
        """Confusion matrices of labels against the majority of the other people, on the items in the mask `kept`.

        `labels` has shape (items, raters). There is one matrix per rater, or a single one for a pool of raters.
        """
        q, positive = self.items.q, self.items.positive
        labelled = ~np.isnan(labels) & ~np.isnan(self.people) & ~np.isnan(self.others.label) & kept[:, None]
        row, rater = np.nonzero(labelled)
        theirs, mine = self.others.label[row, rater].astype(np.int64), labels[row, rater].astype(np.int64)
        if self.pool:
            cells = np.zeros((len(labels), q, q))
            np.add.at(cells, (row, theirs, mine), self._weight[row])
            return [of_cells(cells, positive=positive)]
        by_rater = np.zeros((labels.shape[1], len(labels), q, q))
        by_rater[rater, row, theirs, mine] = 1.0
        return [of_cells(rater_cells, positive=positive) for rater_cells in by_rater]

    def _values(self, matrices: Sequence[Confusion]) -> list[dict[str, Floats]]:
        return [matrix.values(self.resamples) for matrix in matrices] if self.resamples is not None else []

    def _mean(self, plain: Sequence[Estimate], values: Sequence[Mapping[str, Floats]], name: str, n: int) -> Estimate:
        """Mean of the statistic `name` over the raters for whom it is defined, with its interval.

        `plain` has the statistic of each rater, `values` all statistics of each rater in resamples; `n` is the number
        of items.
        """
        defined = [i for i, estimate in enumerate(plain) if estimate.defined]
        if not defined:
            return Estimate.undefined(plain[0].reason or FEW, n)
        mean = Estimate(float(np.mean([plain[i].value for i in defined])), n)
        if not self.pool:
            mean = replace(mean, method=f"leave-one-out, {len(defined)} of {len(plain)} raters")
        if self.resamples is None:
            return mean
        return self.resamples.interval(mean, _mean(np.stack([values[i][name] for i in defined])))

    def _n(self, matrices: Sequence[Confusion]) -> int:
        """Number of items (stories, or stories x criteria) that count in any of the confusion matrices."""
        if not matrices:
            return 0
        return int(np.any([matrix.cells.any(axis=(1, 2)) for matrix in matrices], axis=0).sum())


def _mean(values: Floats) -> Floats:
    """Mean over raters of the values that are not NaN: from shape (raters, b resamples) to shape (b,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a resample in which nobody is defined is NaN
        return np.asarray(np.nanmean(values, axis=0), dtype=np.float64)
