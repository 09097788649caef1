"""Differences between the two sides of a contrast, for each criterion and averaged over criteria.

All differences are *second minus first*, on stories rated on both sides and repeats requested on both. All numbers of a
dataset use the same two sets of resamples, one of story-prompts and one of systems and story-prompts, so that
differences and their means over criteria are paired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.comparison.pairing import Contrast, Paired, pair
from judge.analysis.comparison.sentence import ContrastFacts, leaves_zero_out, sentence
from judge.analysis.comparison.tau_differences import FEW_PROMPTS, AgreementMeasure, Measured, TauTest, mean_of
from judge.analysis.inputs.candidates import Match
from judge.analysis.options.table_options import CompareOptions
from judge.base.arrays import Masks
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.agreement import icc
from judge.stats.estimation import paired_differences
from judge.stats.estimation.paired_differences import RateDifference
from judge.stats.resampling.bootstrap import OfSums

# Differences that have a mean over criteria; `tau_both` is `tau` with the interval over systems and story-prompts.
MEASURES = ("rating", "parsed", "explained", "icc", "tau", "tau_both")
_RATES = ("parsed", "explained")

# Story-prompts on which two rates must differ: with fewer an interval of resamples is too short to be believed.
_LEAST_DISCORDANT = 5

_IMPORTED = "undefined for imported ratings: the file does not hold the repeats"
_NOT_ANSWERS = "undefined for imported ratings: the file does not hold the answers"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The results of a contrast on one criterion. `measured` holds the difference in each of the `MEASURES`.

    `stories` have a rating on both sides, from `systems` and `prompts`. `lost` counts stories requested on both sides
    without a rating on each. `repeats` are each side's; only repeats that both have are compared. `size` is the
    standardised difference of mean ratings. `parsed` and `explained` are shares of requested repeats with a rating and
    an explanation."""

    criterion: str
    stories: int
    systems: int
    prompts: int
    lost: tuple[int, int]
    repeats: tuple[int, int]
    imported: bool
    size: Estimate
    parsed: RateDifference
    explained: RateDifference
    measured: Mapping[str, Measured]
    permutation: TauTest
    williams: TauTest

    def estimate(self, measure: str) -> Estimate:
        """Difference (second minus first) in one of the `MEASURES`."""
        return self.measured[measure].estimate


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One contrast on one dataset: its results by criterion, their means over criteria by measure with the smallest
    mean difference that these stories could detect, and a sentence that summarises it."""

    dataset: str
    contrast: Contrast
    outcomes: tuple[Outcome, ...]
    means: Mapping[str, Estimate]
    detectable: Mapping[str, Estimate]
    sentence: str


class Comparer:
    """Computes the contrasts of one dataset, all from the same resamples."""

    def __init__(self, matrix: RatingMatrix, options: CompareOptions, criterion_match: Match) -> None:
        self.matrix, self.options, self.match = matrix, options, criterion_match
        self.agreement = AgreementMeasure(matrix, options)

    def compare(self, contrast: Contrast) -> Entry:
        outcomes = tuple(self._outcome(name, first, second) for name, first, second in contrast.cells)
        measured = {
            name: mean_of([outcome.measured[name] for outcome in outcomes], any_interval=name in _RATES)
            for name in MEASURES
        }
        means = {name: mean.estimate for name, mean in measured.items()}
        facts = ContrastFacts(
            first=contrast.first,
            second=contrast.second,
            parsed=(
                _mean_share([outcome.parsed.first for outcome in outcomes]),
                _mean_share([outcome.parsed.second for outcome in outcomes]),
            ),
            parse=means["parsed"],
            rating=means["rating"],
            taus=tuple((outcome.criterion, outcome.estimate("tau")) for outcome in outcomes),
            inputs=means["tau"],
            both=means["tau_both"],
            level=self.options.level,
        )
        detectable = {name: mean.detectable for name, mean in measured.items()}
        return Entry(self.matrix.dataset, contrast, outcomes, means, detectable, sentence(facts))

    def tau(self, contrast: Contrast) -> tuple[Estimate, Estimate | None]:
        """The mean over criteria of the difference in tau, as in `compare`, in a fraction of its time: over
        story-prompts and, where that interval leaves 0 out, over systems too."""
        inputs = self._tau(contrast, systems=False)
        return inputs, self._tau(contrast, systems=True) if leaves_zero_out(inputs) else None

    def _tau(self, contrast: Contrast, *, systems: bool) -> Estimate:
        measured = []
        for _, first, second in contrast.cells:
            means, partner = pair(self.matrix, first, second).means, self.match.partner[first]
            measured.append(self.agreement.interval(means, partner, self.match.reason, systems=systems))
        return mean_of(measured).estimate

    def _outcome(self, criterion: str, first: int, second: int) -> Outcome:
        sides, matrix = pair(self.matrix, first, second), self.matrix
        both = sides.stories
        means = [np.where(both, side, np.nan) for side in sides.means]
        rating = self._resampled(
            paired_differences.mean_difference(*means), paired_differences.resampled_mean_difference(*means)
        )
        if both.any():
            rating = replace(rating, first=float(np.nanmean(means[0])), second=float(np.nanmean(means[1])))
        rated = [~np.isnan(side) for side in sides.ratings]
        parsed, explained = _rates(sides, rated), _rates(sides, sides.explained)
        tau, tau_both, permutation, williams = self.agreement.measure(
            sides.means, self.match.partner[first], self.match.reason
        )
        return Outcome(
            criterion=criterion,
            stories=int(both.sum()),
            systems=int(np.unique(matrix.system[both]).size),
            prompts=int(np.unique(matrix.story_prompt[both]).size),
            lost=sides.lost,
            repeats=sides.repeats,
            imported=sides.imported,
            size=paired_differences.standardised(*means),
            parsed=parsed,
            explained=explained,
            measured={
                "rating": rating,
                "parsed": self._rate(sides, rated, parsed),
                "explained": self._rate(sides, sides.explained, explained),
                "icc": self._icc(sides),
                "tau": tau,
                "tau_both": tau_both,
            },
            permutation=permutation,
            williams=williams,
        )

    def _resampled(self, estimate: Estimate, statistic: paired_differences.Statistic) -> Measured:
        """The estimate with an interval from resamples of story-prompts."""
        if not estimate.defined:
            return Measured(estimate)
        resamples = self.agreement.inputs
        if resamples is None:
            return Measured(estimate.without_interval(FEW_PROMPTS))
        drawn = resamples.values(statistic)
        return Measured(resamples.interval(estimate, drawn), {"inputs": drawn}, self.agreement.units)

    def _rate(self, sides: Paired, done: Sequence[Masks], difference: RateDifference) -> Measured:
        statistic = paired_differences.resampled_rate_difference(sides.asked, done[0], done[1])
        measured = self._resampled(difference.difference, statistic)
        measured = replace(measured, first=difference.first, second=difference.second)
        prompts = int(np.unique(self.matrix.story_prompt[difference.discordant]).size)
        if measured.estimate.low is None:
            return measured
        if prompts < _LEAST_DISCORDANT:
            where = "every answer" if prompts == 0 else f"all but fewer than {_LEAST_DISCORDANT} story-prompts"
            fact = f"the sides agree on {where}"
        elif float(np.ptp(measured.drawn)) < 1e-9:
            fact = "the difference is the same for every story-prompt"
        else:
            return measured
        return replace(measured, estimate=replace(measured.estimate.without_interval(fact), method=None))

    def _icc(self, sides: Paired) -> Measured:
        # Stories where no repeat of either side is missing.
        lost: Masks = np.isnan(sides.ratings[0] + sides.ratings[1]).max(axis=1, initial=False)
        if sides.imported and sides.asked.shape[1] < 2:
            first = second = Estimate.undefined(_IMPORTED)
        else:
            first, second = (icc.family(side[~lost])["ICC(1,1)"].estimate for side in sides.ratings)
        if first.value is None or second.value is None:
            why = Estimate.undefined(first.reason or second.reason or "undefined", n=first.n)
            return Measured(why, first=first, second=second)
        form = icc.FORMS.index("ICC(1,1)")
        of_first, of_second = (icc.resampled(np.where(lost[:, None], np.nan, side)) for side in sides.ratings)
        many = of_first.parts.shape[1]
        statistic = OfSums(
            np.hstack([of_first.parts, of_second.parts]),
            lambda sums: of_second.of(sums[:, many:])[:, form] - of_first.of(sums[:, :many])[:, form],
        )
        difference = self._resampled(Estimate(second.value - first.value, n=first.n), statistic)
        return replace(difference, first=first, second=second)


def _rates(sides: Paired, done: Sequence[Masks]) -> RateDifference:
    difference = paired_differences.rate_difference(sides.asked, done[0], done[1])
    # An imported file in which all or none have a rating says nothing about answers.
    if sides.imported and not difference.discordant.any() and difference.first in (0.0, 1.0):
        return RateDifference.undefined(_NOT_ANSWERS, difference.discordant)
    return difference


def _mean_share(shares: Sequence[float | None]) -> float | None:
    defined = [share for share in shares if share is not None]
    return sum(defined) / len(defined) if defined else None
