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
from judge.stats.estimation import paired_effects, power
from judge.stats.estimation.paired_effects import RateDifference
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
    """The results of a contrast (first side against second side) on one criterion. Differences are second minus first.

    Attributes
    ----------
    stories, systems, prompts : int
        Number of stories with a rating on both sides, and of their systems and story-prompts.
    lost : two int
        Number of stories requested on both sides that have no rating on the first side, and on the second side.
    repeats : two int
        Number of repeats of each side; only repeats that both sides have are compared.
    means : two floats or None
        Mean ratings of the compared stories on each side.
    rating, size : Estimate
        Difference of mean ratings, in points and standardised.
    parsed, explained : RateDifference
        Shares of requested repeats with a rating, and with an explanation, on both sides. `parse` and `explain` are
        the differences of the shares with intervals.
    icc, icc_sides : Estimate, two Estimates
        Difference of ICC(1,1) over repeats, and the ICC of each side.
    agreement : Agreement
        Kendall's tau of each side with people, and its difference.
    imported : bool
        Whether the ratings of a side were imported from a file.
    draws : mapping
        Measure -> its difference in each resample; also the resampled values that `tau_differences.over_both` needs.
    units : two int
        Numbers of systems and of story-prompts that are resampled.
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
        """Difference between the two sides of the contrast (second minus first) in one of the `MEASURES`.

        The measure is the mean rating, the share of parsed or explained answers, the ICC, or tau with people.
        """
        estimates = {"rating": self.rating, "parsed": self.parse, "explained": self.explain, "icc": self.icc}
        estimates |= {"tau": self.agreement.inputs, "tau_both": self.agreement.both}
        return estimates[measure]

    @property
    def detectable(self) -> dict[str, Estimate]:
        """Map from a measure to the smallest true difference between the two sides that would be significant in 80 % of
        studies of this size.
        """
        return {name: detectable(self.estimate(name), _spread(name, self.draws, self.units)) for name in MEASURES}


@dataclass(frozen=True, slots=True, eq=False)
class ContrastResult:
    """Results of one contrast (comparison of two sides, e.g. two judges).

    They are given by criterion (`outcomes`), and as `means` over criteria. The mappings are keyed by measure.
    `detectable` holds the smallest mean difference that these stories could detect.
    """

    contrast: Contrast
    outcomes: tuple[Outcome, ...]
    means: Mapping[str, Estimate]
    detectable: Mapping[str, Estimate]


class Comparer:
    """Computes the contrasts (comparisons of two sides, e.g. two judges) of one dataset, all from the same
    resamples.
    """

    def __init__(self, matrix: RatingMatrix, options: CompareOptions, criterion_match: Match) -> None:
        self.matrix, self.options, self.match = matrix, options, criterion_match
        self.inputs, systems = self._draw()
        self.agreement = AgreementMeasure(matrix, options, self.inputs, systems)

    def compare(self, contrast: Contrast) -> ContrastResult:
        """Results of one contrast (comparison of two sides): for every criterion, then means over criteria."""
        outcomes = tuple(self._outcome(name, first, second) for name, first, second in contrast.cells)
        means = {name: mean_over_criteria(outcomes, name) for name in MEASURES}
        units = self.agreement.units
        detectable_effects = {
            name: detectable(means[name], _spread(name, _mean_draws(outcomes, name), units)) for name in MEASURES
        }
        return ContrastResult(contrast, outcomes, means, detectable_effects)

    def _draw(self) -> tuple[bootstrap.Resamples | None, bootstrap.Resamples | None]:
        """Resamples of story-prompts, and resamples of systems.

        The resamples are None where there are too few story-prompts, or too few systems.
        """
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
            paired_effects.mean_difference(*means),
            lambda: paired_effects.resampled_mean_difference(*means),
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
            size=paired_effects.standardised(*means),
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
        """Difference of rates (second minus first side) with its interval, e.g. of the shares of parsed answers.

        `done` holds for each side whether a repeat counts, e.g. was parsed. There is no interval where the sides differ
        on too few story-prompts. The difference in each resample is stored in `draws` under `name`.
        """
        estimate = self._with_interval(
            name,
            difference.difference,
            lambda: paired_effects.resampled_rate_difference(sides.asked, done[0], done[1]),
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
        """ICC(1,1) of each side of the contrast, and their difference (second minus first).

        Only repeats that both sides have are used, on stories where no repeat of either side is missing.
        """
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
        statistic: Callable[[], paired_effects.Statistic],
        draws: dict[str, Floats],
    ) -> Estimate:
        """The estimate with an expanded percentile interval from resamples of story-prompts.

        The resampled values of the statistic are stored in `draws` under `name`.
        """
        if self.inputs is None or not estimate.defined:
            draws[name] = np.empty(0)
            return estimate.without_interval(FEW_PROMPTS) if estimate.defined else estimate
        draws[name] = self.inputs.values(statistic())
        return self.inputs.interval(estimate, draws[name])


def _rates(sides: Paired, done: Sequence[Mask]) -> RateDifference:
    """Share of requested repeats with a given property, e.g. a rating, on each side of a contrast, and their
    difference.

    `done` holds for each side whether a repeat has the property. The result is undefined for imported ratings where all
    or none have the property, because an imported file then says nothing about answers.
    """
    difference = paired_effects.rate_difference(sides.asked, done[0], done[1])
    if sides.imported and not difference.discordant.any() and difference.first in (0.0, 1.0):
        return RateDifference.undefined(_NOT_ANSWERS, difference.discordant)
    return difference


def mean_over_criteria(outcomes: Sequence[Outcome], measure: str) -> Estimate:
    """Mean over criteria of the difference in one measure (second minus first side), with an interval from resamples.

    Only criteria in which the difference is defined are used, and n counts them. The mean has an interval only if the
    difference has one on all of them; for the shares `parsed` and `explained`, one of them is enough. A mean without an
    interval gives the reason.
    """
    defined = [outcome for outcome in outcomes if outcome.estimate(measure).defined]
    if not defined:
        reasons = dict.fromkeys(outcome.estimate(measure).reason or "undefined" for outcome in outcomes)
        return Estimate.undefined("; ".join(reasons) or "no criterion in common")
    estimates = [outcome.estimate(measure) for outcome in defined]
    mean = Estimate(float(np.mean([e.value for e in estimates if e.value is not None])), n=len(defined))
    lacking = [e for e in estimates if e.low is None]
    if lacking and (measure not in ("parsed", "explained") or len(lacking) == len(estimates)):
        return replace(mean, reason=lacking[0].reason or "no interval", parts=lacking[0].parts)
    draws = _mean_draws(outcomes, measure)
    if measure == "tau_both":
        return over_both(mean, draws, outcomes[0].units)
    return over_inputs(mean, draws[measure], outcomes[0].units)


def _mean_draws(outcomes: Sequence[Outcome], measure: str) -> Draws:
    """Map from a measure to its mean over criteria in each resample.

    Only criteria in which the measure is defined are used.
    """
    defined = [outcome.draws for outcome in outcomes if outcome.estimate(measure).defined]
    names = [name for name in (DRAWS if measure == "tau_both" else (measure,)) if defined and name in defined[0]]
    means = {name: np.asarray(np.mean([draws[name] for draws in defined], axis=0), dtype=np.float64) for name in names}
    return means or {measure: np.empty(0)}


def _spread(measure: str, draws: Draws, units: tuple[int, int]) -> Floats:
    """Values of a measure in each resample; their standard deviation is the measure's standard error.

    `draws` holds the values of all measures. `units` are the numbers of systems and of story-prompts, by which the
    values are rescaled where both are resampled.
    """
    return drawn_in(draws, units) if measure == "tau_both" else draws[measure]


def detectable(estimate: Estimate, draws: Floats) -> Estimate:
    """Smallest true difference between two sides that would be significant in 80 % of studies of this size.

    It is computed from the variation of the difference over the resamples `draws`. It is undefined if `estimate` has no
    interval.
    """
    if estimate.low is None:
        return Estimate.undefined(estimate.reason or "no interval, so no standard error", n=estimate.n)
    defined = draws[~np.isnan(draws)]
    return Estimate(power.minimum_detectable_effect(float(defined.std(ddof=1))), n=estimate.n)
