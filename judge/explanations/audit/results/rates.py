"""Computes the rate of each kind of error in several ways of counting, and the agreement between annotators.

The HANNA study published one rate for each error without saying how it was counted. Here each item counts once:

- mean: the share of its annotators who see the error, averaged over items;
- majority: more than half of them see it (if one of two sees it, there is no majority);
- any: at least one of them sees it;
- final: the answer after the second round.

Intervals treat stories as the independent units (`stats.shares.weighted_proportion`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.explanations.audit.results.answer_matrix import Answered
from judge.stats.agreement import chance_agreement, krippendorff
from judge.stats.agreement.chance_agreement import ChanceAgreement
from judge.stats.shares.weighted_proportion import weighted_share

Floats = NDArray[np.float64]
NO_ROUND = "undefined: no disagreement of annotators has been adjudicated"


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one kind of error, in each way of counting.

    `mean` is the share of an item's annotators who see the error, averaged over items. `majority` and `any` are the
    shares of items in which more than half, or at least one, of the annotators see it. `final` is the rate after
    disagreements are settled. `weighted` is the mean with each item weighted by the number of explanations that it
    represents. `ties` is the number of items on which exactly half of the annotators see the error.
    """

    mean: Estimate
    majority: Estimate
    any: Estimate
    final: Estimate
    weighted: Estimate
    ties: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Coefficients of agreement between annotators on one category; each of them also holds the raw agreement."""

    ac1: ChanceAgreement
    fleiss: ChanceAgreement
    alpha: ChanceAgreement


def rates(matrix: Answered, key: str, where: NDArray[np.bool_] | None = None) -> Rates:
    """Rates of the error of category `key`, over all items or over those where `where` is True."""
    some = np.ones(len(matrix.items), dtype=np.bool_) if where is None else where
    values = matrix.given[key][some]
    share, story, raters = matrix.share(key)[some], matrix.story[some], matrix.raters[some]
    rated = raters > 0
    flat = np.ones(share.size)
    trials = int(raters.sum())

    def of(hits: Floats) -> Estimate:
        return weighted_share(np.where(rated, hits, np.nan), flat, story)

    final = Estimate.undefined(NO_ROUND)
    if matrix.settled:
        final = weighted_share(matrix.final[key][some], flat, story)
    weight = matrix.weight[some]
    weighted = Estimate.undefined("undefined: it is not known how the items were sampled")
    if not np.isnan(weight).any():
        weighted = weighted_share(share, weight, story, trials=trials)
    return Rates(
        mean=weighted_share(share, flat, story, trials=trials),
        majority=of((share > 0.5).astype(np.float64)),
        any=of((values == 1).any(axis=1).astype(np.float64)),
        final=final,
        weighted=weighted,
        ties=int((share == 0.5).sum()),
    )


def agreement(answered: Answered, key: str, *, resamples: int, seed: int, as_published: bool = False) -> Agreement:
    """AC1, Fleiss' kappa and Krippendorff's alpha of a category, over items that at least two annotators finished.

    AC1 is computed for the two possible answers even if only one occurs: it is then 1, without an interval.
    Explanations of the same story are not independent, so intervals treat stories as the independent units. With
    `as_published`, intervals treat explanations as independent, as in the HANNA study.
    """
    values, story = answered.given[key], None if as_published else answered.story
    rng = np.random.default_rng(seed)
    return Agreement(
        chance_agreement.gwet(values, categories=np.array([0.0, 1.0]), story=story),
        chance_agreement.fleiss(values, story=story),
        krippendorff.alpha(values, "nominal", rng, resamples=resamples, story=story),
    )


def agreement_with_others(answered: Answered, annotator: str) -> Estimate:
    """Share of pairs of answers that are equal, where a pair is one annotator's answer and another annotator's answer
    on the same item and category. All items have equal weight.
    """
    j = answered.annotators.index(annotator)
    equal = np.zeros(len(answered.items))
    pairs = np.zeros(len(answered.items))
    for values in answered.given.values():
        mine = values[:, [j]]
        others = np.delete(values, j, axis=1)
        both = ~np.isnan(others) & ~np.isnan(mine)
        equal += ((others == mine) & both).sum(axis=1)
        pairs += both.sum(axis=1)
    if not pairs.any():
        return Estimate.undefined("undefined: no other annotator has finished the same items")
    share = np.where(pairs > 0, equal / np.maximum(pairs, 1), np.nan)
    return weighted_share(share, np.ones(share.size), answered.story, trials=int(pairs.sum()))


def rate_of_annotator(answered: Answered, annotator: str, key: str) -> Estimate:
    """Share of the items finished by one annotator in which this annotator sees the error."""
    hits = answered.given[key][:, answered.annotators.index(annotator)]
    return weighted_share(hits, np.ones(hits.size), answered.story)
