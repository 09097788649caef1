"""Methods that combine the ratings of a jury's members into one, fitted on training stories to predict held-out ones.

========== ======================================================================================================
mean       mean of the members' ratings of the criterion that are present; nothing is fitted
median     median of the members' ratings of the criterion that are present; nothing is fitted
calibrated each member mapped to the human scale by isotonic regression, then the mean of those present
weighted   least squares with weights >= 0 on the members' standardised ratings of the criterion
ridge      ridge regression on rank scores of all predictors; the penalty has the smallest leave-one-out error; it
           is reduced for the members' ratings of the criterion itself, by a factor chosen in the same way
ordinal    proportional-odds model on the same predictors as ridge, with the ridge penalty in logits
========== ======================================================================================================

The first three leave out missing ratings of members; the regressions replace them by the training mean.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judge.analysis.options.table_options import NamedCombiner
from judge.base.choices import registry
from judge.stats import near_ties
from judge.stats.regression.calibration import fit_calibration
from judge.stats.regression.ordinal import fit_ordinal
from judge.stats.regression.rank_scores import RankScores, fit_rank_scores
from judge.stats.regression.ridge import RidgeFit, fit_ridge
from judge.stats.regression.stacking import fit_stack

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rows = NDArray[np.int64]

OWN_FACTORS = (1.0, 2.0, 4.0)
"""A column scaled up by g is penalised g^2 times less: how far a criterion's own ratings may count for more."""

LOGIT_PENALTY = 3 / math.pi**2
"""A ridge penalty is residual variance / prior variance of a weight; a logistic latent residual has variance pi^2/3."""


class Split:
    """The predictors of a jury (e.g. its members' ratings) for the training stories and for the held-out stories.

    Their rank scores are shared by criteria and combiners.
    """

    def __init__(self, predictors: Floats, train: Rows, held_out: Rows) -> None:
        self.train, self.held_out = predictors[train], predictors[held_out]

    @cached_property
    def ranks(self) -> RankScores:
        """Transformation of a jury's predictors to rank scores, fitted on the training stories."""
        return fit_rank_scores(self.train)

    @cached_property
    def scored(self) -> tuple[Floats, Floats]:
        """Rank scores of a jury's predictors for the training stories and for the held-out stories."""
        return self.ranks.apply(self.train), self.ranks.apply(self.held_out)


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """A combiner's ratings of held-out stories (NaN = none), and its weights of the p predictors, shape (p,).

    `weights` is None where there are none. `reason` says why ratings are missing. A weight is in points of the human
    scale per standard deviation of the predictor.
    """

    predicted: Floats
    weights: Floats | None = None
    reason: str | None = None


Combiner = Callable[[Split, Floats, Bools], Combined]
"""From a split, people's ratings of its training rows (no NaN), and which predictors are the criterion's own."""


def _mean(split: Split, people: Floats, own: Bools) -> Combined:  # noqa: ARG001  nothing is fitted
    return Combined(_over_present(np.nanmean, split.held_out[:, own]))


def _median(split: Split, people: Floats, own: Bools) -> Combined:  # noqa: ARG001  nothing is fitted
    return Combined(_over_present(np.nanmedian, split.held_out[:, own]))


def _calibrated(split: Split, people: Floats, own: Bools) -> Combined:
    columns = [
        fit_calibration(split.train[:, j], people, "isotonic").predict(split.held_out[:, j])
        for j in np.flatnonzero(own)
    ]
    return Combined(_over_present(np.nanmean, np.column_stack(columns)))


def _weighted(split: Split, people: Floats, own: Bools) -> Combined:
    train, held_out = split.train[:, own], split.held_out[:, own]
    mean = _over_present(np.nanmean, train.T)
    spread = _over_present(np.nanstd, train.T)
    scale = np.where(spread > 1e-12, spread, 1.0)
    fitted = fit_stack(np.nan_to_num((train - mean) / scale), people)
    weights = np.zeros(own.size)
    weights[own] = fitted.weights
    return Combined(fitted.predict(np.nan_to_num((held_out - mean) / scale)), weights)


def _ridge(split: Split, people: Floats, own: Bools) -> Combined:
    fitted, factors = _best_ridge(split, people, own)
    return Combined(fitted.predict(split.scored[1] * factors), fitted.weights * factors)


def _ordinal(split: Split, people: Floats, own: Bools) -> Combined:
    ridge, factors = _best_ridge(split, people, own)
    train, held_out = split.scored
    model = fit_ordinal(train * factors, people, ridge.penalty * LOGIT_PENALTY)
    if isinstance(model, str):
        return Combined(np.full(len(held_out), np.nan), reason=f"no ordinal model: {model}")
    return Combined(model.predict(held_out * factors), model.weights * factors)


@dataclass(frozen=True, slots=True)
class CombinerRecord:
    """All that depends on the choice of a combiner.

    `combine` is None for the stack, which weighs other combiners against each other (`stacked` of these is true).
    `fitted` is false if the ratings are on the members' scale; all others predict people's mean. `own_only` is true
    if predictors of other criteria are not read and so have no weight. ``auto`` chooses among the `candidate` ones.
    """

    combine: Combiner | None
    fitted: bool = True
    own_only: bool = False
    stacked: bool = False
    candidate: bool = False


COMBINERS: Mapping[NamedCombiner, CombinerRecord] = registry(
    NamedCombiner,
    {
        "mean": CombinerRecord(_mean, fitted=False, stacked=True, candidate=True),
        "median": CombinerRecord(_median, fitted=False, stacked=True),
        "calibrated": CombinerRecord(_calibrated),
        "weighted": CombinerRecord(_weighted, own_only=True, stacked=True),
        "ridge": CombinerRecord(_ridge, stacked=True, candidate=True),
        "ordinal": CombinerRecord(_ordinal),
        "stack": CombinerRecord(None, candidate=True),
    },
)
"""The combiners. Where candidates agree equally well with people, the first one is chosen."""


def _best_ridge(split: Split, people: Floats, own: Bools) -> tuple[RidgeFit, Floats]:
    train = split.scored[0]
    choices = [np.where(own, factor, 1.0) for factor in (OWN_FACTORS if not own.all() else OWN_FACTORS[:1])]
    fits = [fit_ridge(train * factors, people) for factors in choices]
    best = near_ties.lowest([fit.press for fit in fits])
    return fits[best], choices[best]


def _over_present(statistic: Callable[..., Floats], ratings: Floats) -> Floats:
    """A statistic (e.g. the mean) of each story's ratings without the missing ones; NaN where a story has none.

    `ratings` has one row per story.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy, for rows without a rating: NaN is what is wanted
        return np.asarray(statistic(ratings, axis=1), dtype=np.float64)
