"""Differences between the two sides of a contrast, for each criterion and averaged over criteria.

All differences are *second minus first*, on stories rated on both sides and repeats requested on both. All numbers of a
dataset use the same two sets of resamples, one of story-prompts and one of systems and story-prompts, so that
differences and their means over criteria are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from judge.analysis.comparison.pairing import Contrast, Paired, pair
from judge.analysis.comparison.tau_differences import (
    DRAWS,
    FEW_PROMPTS,
    Agreement,
    AgreementMeasure,
    drawn_in,
    over_both,
    over_inputs,
)
from judge.analysis.inputs.candidates import Match
from judge.analysis.options.table_options import CompareOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.agreement import icc
from judge.stats.estimation import paired_differences, sample_size
from judge.stats.estimation.paired_differences import RateDifference
from judge.stats.resampling import bootstrap

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Draws = Mapping[str, Floats]

# Differences that have a mean over criteria; `tau_both` is `tau` with the interval over systems and story-prompts.
MEASURES = ("rating", "parsed", "explained", "icc", "tau", "tau_both")

# Story-prompts on which two rates must differ: with fewer an interval of resamples is too short to be believed.
_LEAST_DISCORDANT = 5

_IMPORTED = "undefined for imported ratings: the file does not hold the repeats"
_NOT_ANSWERS = "undefined for imported ratings: the file does not hold the answers"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The results of a contrast on one criterion. Differences are second minus first.

    `stories` have a rating on both sides, from `systems` and `prompts`. `lost` counts stories requested on both sides
    without a rating on each. `repeats` are each side's; only repeats that both have are compared. `rating` and `size`
    are the difference of mean ratings, in points and standardised. `parsed` and `explained` are shares of requested
    repeats with a rating and an explanation, `parse` and `explain` their differences with intervals. `icc` is the
    difference of ICC(1,1) over repeats. `draws` maps a measure to its difference in each resample, and holds the values
    that `tau_differences.over_both` needs. `units` are the numbers of systems and of story-prompts that are resampled.
    """

    criterion: str
    stories: int
    systems: int
    prompts: int
    lost: tuple[int, int]
    repeats: tuple[int, int]
    means: tuple[float | None, float | None]
    rating: Estimate
    size: Estimate
    parsed: RateDifference
    parse: Estimate
    explained: RateDifference
    explain: Estimate
    icc: Estimate
    icc_sides: tuple[Estimate, Estimate]
    agreement: Agreement
    imported: bool
    draws: Draws = field(repr=False)
    units: tuple[int, int]

    def estimate(self, measure: str) -> Estimate:
        """Difference (second minus first) in one of the `MEASURES`."""
        estimates = {"rating": self.rating, "parsed": self.parse, "explained": self.explain, "icc": self.icc}
        estimates |= {"tau": self.agreement.inputs, "tau_both": self.agreement.both}
        return estimates[measure]

    @property
    def detectable(self) -> dict[str, Estimate]:
        """Smallest true difference that would be significant in 80 % of studies of this size, by measure."""
        return {name: detectable(self.estimate(name), _spread(name, self.draws, self.units)) for name in MEASURES}


@dataclass(frozen=True, slots=True, eq=False)
class ContrastResult:
    """Results of one contrast by criterion, and as `means` over criteria, by measure. `detectable` holds the smallest
    mean difference that these stories could detect.
    """

    contrast: Contrast
    outcomes: tuple[Outcome, ...]
    means: Mapping[str, Estimate]
    detectable: Mapping[str, Estimate]


class Comparer:
    """Computes the contrasts of one dataset, all from the same resamples."""

    def __init__(self, matrix: RatingMatrix, options: CompareOptions, criterion_match: Match) -> None:
        self.matrix, self.options, self.match = matrix, options, criterion_match
        self.inputs, systems = self._draw()
        self.agreement = AgreementMeasure(matrix, options, self.inputs, systems)

    def compare(self, contrast: Contrast) -> ContrastResult:
        outcomes = tuple(self._outcome(name, first, second) for name, first, second in contrast.cells)
        units = self.agreement.units
        means, detectable_effects = {}, {}
        for name in MEASURES:
            measured = [(outcome.estimate(name), outcome.draws) for outcome in outcomes]
            means[name], draws = mean_over_criteria(name, measured, units)
            detectable_effects[name] = detectable(means[name], _spread(name, draws, units))
        return ContrastResult(contrast, outcomes, means, detectable_effects)

    def tau(self, contrast: Contrast) -> Estimate:
        """The mean over criteria of the difference in tau, as in `compare`, in a fraction of its time."""
        measured: list[tuple[Estimate, Draws]] = []
        for _, first, second in contrast.cells:
            draws: dict[str, Floats] = {}
            means, partner = pair(self.matrix, first, second).means, self.match.partner[first]
            measured.append((self.agreement.over_prompts(means, partner, self.match.reason, draws), draws))
        return mean_over_criteria("tau", measured, self.agreement.units)[0]

    def _draw(self) -> tuple[bootstrap.Resamples | None, bootstrap.Resamples | None]:
        """Resamples of story-prompts and of systems; None where there are too few."""
        matrix, resamples = self.matrix, self.options.resamples
        if np.unique(matrix.story_prompt).size < 5:
            return None, None
        rng = np.random.default_rng(self.options.seed)
        inputs = bootstrap.draw(matrix.story_prompt, resamples, rng, "boot-inputs")
        if bootstrap.both_refused(matrix.system):
            return inputs, None
        return inputs, bootstrap.draw(matrix.system, resamples, rng, "boot-systems")

    def _outcome(self, criterion: str, first: int, second: int) -> Outcome:
        sides, matrix = pair(self.matrix, first, second), self.matrix
        both = sides.stories
        means = [np.where(both, side, np.nan) for side in sides.means]
        draws: dict[str, Floats] = {}
        rating = self._with_interval(
            "rating",
            paired_differences.mean_difference(*means),
            lambda: paired_differences.resampled_mean_difference(*means),
            draws,
        )
        rated = [~np.isnan(side) for side in sides.ratings]
        parsed, explained = _rates(sides, rated), _rates(sides, sides.explained)
        icc_sides, icc_difference = self._icc(sides, draws)
        agreement = self.agreement.measure(sides.means, self.match.partner[first], self.match.reason, draws)
        return Outcome(
            criterion=criterion,
            stories=int(both.sum()),
            systems=int(np.unique(matrix.system[both]).size),
            prompts=int(np.unique(matrix.story_prompt[both]).size),
            lost=sides.lost,
            repeats=sides.repeats,
            means=tuple(float(np.nanmean(m)) if both.any() else None for m in means),  # type: ignore[arg-type]
            rating=rating,
            size=paired_differences.standardised(*means),
            parsed=parsed,
            parse=self._rate("parsed", sides, rated, parsed, draws),
            explained=explained,
            explain=self._rate("explained", sides, sides.explained, explained, draws),
            icc=icc_difference,
            icc_sides=icc_sides,
            agreement=agreement,
            imported=sides.imported,
            draws=draws,
            units=self.agreement.units,
        )

    def _rate(
        self, name: str, sides: Paired, done: Sequence[Mask], difference: RateDifference, draws: dict[str, Floats]
    ) -> Estimate:
        estimate = self._with_interval(
            name,
            difference.difference,
            lambda: paired_differences.resampled_rate_difference(sides.asked, done[0], done[1]),
            draws,
        )
        prompts = int(np.unique(self.matrix.story_prompt[difference.discordant]).size)
        if estimate.low is None:
            return estimate
        if prompts < _LEAST_DISCORDANT:
            where = "every answer" if prompts == 0 else f"all but fewer than {_LEAST_DISCORDANT} story-prompts"
            fact = f"the sides agree on {where}"
        elif float(np.ptp(draws[name])) < 1e-9:
            fact = "the difference is the same for every story-prompt"
        else:
            return estimate
        return replace(estimate.without_interval(fact), method=None)

    def _icc(self, sides: Paired, draws: dict[str, Floats]) -> tuple[tuple[Estimate, Estimate], Estimate]:
        # Stories where no repeat of either side is missing.
        lost: Mask = np.isnan(sides.ratings[0] + sides.ratings[1]).max(axis=1, initial=False)
        ratings = [side[~lost] for side in sides.ratings]
        if sides.imported and sides.asked.shape[1] < 2:
            coefficients = [Estimate.undefined(_IMPORTED)] * 2
        else:
            coefficients = [icc.family(side)["ICC(1,1)"].estimate for side in ratings]
        first, second = coefficients
        if first.value is None or second.value is None:
            draws["icc"] = np.empty(0)
            return (first, second), Estimate.undefined(first.reason or second.reason or "undefined", n=first.n)
        form = icc.FORMS.index("ICC(1,1)")
        statistics = [icc.resampled(np.where(lost[:, None], np.nan, side)) for side in sides.ratings]
        difference = self._with_interval(
            "icc",
            Estimate(second.value - first.value, n=first.n),
            lambda: lambda weights: statistics[1](weights)[:, form] - statistics[0](weights)[:, form],
            draws,
        )
        return (first, second), difference

    def _with_interval(
        self,
        name: str,
        estimate: Estimate,
        statistic: Callable[[], paired_differences.Statistic],
        draws: dict[str, Floats],
    ) -> Estimate:
        if self.inputs is None or not estimate.defined:
            draws[name] = np.empty(0)
            return estimate.without_interval(FEW_PROMPTS) if estimate.defined else estimate
        draws[name] = self.inputs.values(statistic())
        return self.inputs.interval(estimate, draws[name])


def _rates(sides: Paired, done: Sequence[Mask]) -> RateDifference:
    difference = paired_differences.rate_difference(sides.asked, done[0], done[1])
    # An imported file in which all or none have a rating says nothing about answers.
    if sides.imported and not difference.discordant.any() and difference.first in (0.0, 1.0):
        return RateDifference.undefined(_NOT_ANSWERS, difference.discordant)
    return difference


def mean_over_criteria(
    measure: str, measured: Sequence[tuple[Estimate, Draws]], units: tuple[int, int]
) -> tuple[Estimate, Draws]:
    """Mean over criteria of the difference in one measure, with an interval from resamples, and its mean draws.
    `measured` holds the difference on each criterion with its draws; `units` are the numbers of systems and of
    story-prompts that are resampled.

    Only criteria in which the difference is defined are used, and n counts them. The mean has an interval only if the
    difference has one on all of them; for the shares `parsed` and `explained`, one is enough. A mean without an
    interval gives the reason.
    """
    defined = [(estimate, draws) for estimate, draws in measured if estimate.defined]
    means = _mean_draws(measure, [draws for _, draws in defined])
    if not defined:
        reasons = dict.fromkeys(estimate.reason or "undefined" for estimate, _ in measured)
        return Estimate.undefined("; ".join(reasons) or "no criterion in common"), means
    estimates = [estimate for estimate, _ in defined]
    mean = Estimate(float(np.mean([e.value for e in estimates if e.value is not None])), n=len(defined))
    lacking = [e for e in estimates if e.low is None]
    if lacking and (measure not in ("parsed", "explained") or len(lacking) == len(estimates)):
        return replace(mean, reason=lacking[0].reason or "no interval", parts=lacking[0].parts), means
    if measure == "tau_both":
        return over_both(mean, means, units), means
    return over_inputs(mean, means[measure], units), means


def _mean_draws(measure: str, defined: Sequence[Draws]) -> Draws:
    names = [name for name in (DRAWS if measure == "tau_both" else (measure,)) if defined and name in defined[0]]
    means = {name: np.asarray(np.mean([draws[name] for draws in defined], axis=0), dtype=np.float64) for name in names}
    return means or {measure: np.empty(0)}


def _spread(measure: str, draws: Draws, units: tuple[int, int]) -> Floats:
    """Values of a measure in each resample; rescaled by `units` where systems are resampled too."""
    return drawn_in(draws, units) if measure == "tau_both" else draws[measure]


def detectable(estimate: Estimate, draws: Floats) -> Estimate:
    """Smallest true difference that would be significant in 80 % of studies of this size, from the variation over
    `draws`; undefined if `estimate` has no interval.
    """
    if estimate.low is None:
        return Estimate.undefined(estimate.reason or "no interval, so no standard error", n=estimate.n)
    defined = draws[~np.isnan(draws)]
    return Estimate(sample_size.minimum_detectable_effect(float(defined.std(ddof=1))), n=estimate.n)
