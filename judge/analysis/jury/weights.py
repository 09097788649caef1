"""Weights of a jury's members: means over the folds in which they were fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.jury.combiners import COMBINERS
from judge.analysis.jury.nested_folds import Folding
from judge.analysis.jury.panel import Panel


@dataclass(frozen=True, slots=True)
class Weight:
    """One predictor's weight in one of a jury's combiners: mean and standard deviation over the folds that used it.

    `source` is the member that the predictor belongs to. `own` says whether it is a rating of the criterion itself.
    """

    combiner: str
    source: str
    predictor: str
    own: bool
    mean: float
    spread: float
    folds: int


@dataclass(frozen=True, slots=True)
class MemberWeight:
    """Sum of a jury member's weights in one combiner.

    `own` is the sum over its ratings of the criterion itself, `others` over its ratings of other criteria, and `total`
    over all. `own` or `others` is None if ratings of this kind were not used.
    """

    combiner: str
    source: str
    own: float | None
    others: float | None
    total: float
    folds: int


def weights_of(panel: Panel, foldings: Sequence[Folding]) -> tuple[Weight, ...]:
    """Weights of a jury's predictors on one criterion, as means over folds, one for each combiner and predictor."""
    weights_by_key: dict[tuple[str, str, str, bool], list[float]] = {}
    for folding in foldings:
        for fold in folding.weights:
            if COMBINERS[fold.combiner].combine is None:
                names = [(f"combiner: {base}", f"combiner: {base}", False) for base in fold.stacked]
            else:
                names = list(zip(panel.sources, panel.labels, panel.own.tolist(), strict=True))
            for (source, label, own), weight in zip(names, fold.weights.tolist(), strict=True):
                if own or not COMBINERS[fold.combiner].own_only:
                    weights_by_key.setdefault((fold.combiner, source, label, own), []).append(weight)
    return tuple(Weight(*key, float(np.mean(v)), float(np.std(v)), len(v)) for key, v in weights_by_key.items())


def by_member(weights: Sequence[Weight]) -> list[MemberWeight]:
    """Weights summed over each member's predictors; they are sorted by combiner, then largest first."""
    parts: dict[tuple[str, str], list[Weight]] = {}
    for weight in weights:
        parts.setdefault((weight.combiner, weight.source), []).append(weight)
    sums = [_summed(combiner, source, each) for (combiner, source), each in parts.items()]
    return sorted(sums, key=lambda one: (one.combiner, -one.total))


def _summed(combiner: str, source: str, parts: Sequence[Weight]) -> MemberWeight:
    own, others = [w.mean for w in parts if w.own], [w.mean for w in parts if not w.own]
    sums = (sum(own) if own else None, sum(others) if others else None)
    return MemberWeight(combiner, source, *sums, sum(own) + sum(others), parts[0].folds)
