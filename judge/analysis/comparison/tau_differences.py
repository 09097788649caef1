"""Difference between two sides' tau with people, by four tests and intervals that answer different questions.

- *permutation*: are the two sides' scores exchangeable? The units swapped are whole story-prompts (PERM-INPUTS, for
  new story-prompts), whole systems (PERM-SYSTEMS, for new systems; the default at system level) or single stories
  (PERM-BOTH, for these stories only);
- *Williams*: do both correlate with people equally on these stories? The theory is that of Pearson's r, applied to tau;
- *boot-inputs*: would the difference hold for new story-prompts?
- *boot-both*: would the difference hold for new systems and story-prompts?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.resamples import unit_of_stories
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.table_options import CompareOptions
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import coefficients, heterogeneity
from judge.stats.resampling import bootstrap, resampled_correlations
from judge.stats.resampling import bootstrap_intervals as intervals
from judge.stats.resampling.swap_test import swap_test

Floats = NDArray[np.float64]
FEW_PROMPTS = "fewer than 5 story-prompts to resample"
# Differences without each system, and each story-prompt: for BCa at system level.
_WITHOUT = ("tau_without_system", "tau_without_prompt")

# What may be among a comparison's resampled differences of tau.
DRAWS = ("tau", "tau_both", "tau_systems", *_WITHOUT)

_SIDES = ("the first side's ratings", "the people's ratings"), ("the second side's ratings", "the people's ratings")


@dataclass(frozen=True, slots=True)
class TauTest:
    """One test that two sides agree with people equally well, with its two-sided p. `reason` says why there is no p.
    For a permutation test, `units` were swapped as a whole, and `least` is the smallest possible p.
    """

    p: float | None
    statistic: float | None = None
    reason: str | None = None
    units: int = 0
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Tau of each side with people, and their difference (second minus first) with its interval over story-prompts
    (`inputs`), and over systems and story-prompts (`both`). `n` counts stories, or systems at system level.
    """

    first: Estimate
    second: Estimate
    inputs: Estimate
    both: Estimate
    permutation: TauTest
    williams: TauTest


def over_inputs(difference: Estimate, draws: Floats, units: tuple[int, int]) -> Estimate:
    """A difference with its expanded percentile interval over story-prompts. `units`: numbers of systems and
    story-prompts. The plain percentile interval left 0 out in 10 % of studies of equal judges with 12 story-prompts.
    """
    return intervals.expanded(difference, draws, units[1], "boot-inputs, expanded percentile, 95 %")


def over_both(difference: Estimate, draws: Mapping[str, Floats], units: tuple[int, int]) -> Estimate:
    """The difference in tau with its interval from resamples of both systems and story-prompts.

    `draws` holds the values stored by `AgreementMeasure.measure`, or their means over criteria. Over all stories the
    interval is a percentile interval, calibrated by `intervals.calibrated` because resampling both units counts the
    noise of each story three times. Over system means it is a BCa interval: a resample of systems contains duplicates,
    so that tau-b over their means lies closer to 0 and varies more than with distinct systems, and calibration does not
    correct this. In simulations with ten systems, percentile intervals, calibrated or not, excluded 0 in 0-3 % of
    studies, both where the judges differed and where they did not. BCa intervals excluded 0 in 27 % of studies where
    they differed, and in 2-7 % where they did not (`tests/benchmarks/simulations/compare_null.py`).
    """
    if _WITHOUT[0] in draws:
        jackknife = [draws[name] for name in _WITHOUT]
        return intervals.bca(difference, draws["tau_both"], jackknife, "boot-both, BCa, 95 %")
    return intervals.percentile(difference, drawn_in(draws, units), "boot-both, calibrated percentile, 95 %")


def drawn_in(draws: Mapping[str, Floats], units: tuple[int, int]) -> Floats:
    """Differences in tau in resamples of systems and story-prompts, rescaled to the variation between new studies."""
    if not draws["tau_both"].size:
        return draws["tau_both"]
    rescaled = intervals.calibrated(draws["tau_both"], (draws["tau_systems"], draws["tau"]), units)
    # No two correlations are further apart.
    return np.asarray(np.clip(rescaled, -2.0, 2.0), dtype=np.float64)


class AgreementMeasure:
    """Agreement with people for pairs of judges in one dataset. All pairs share the same resamples."""

    def __init__(
        self,
        matrix: RatingMatrix,
        options: CompareOptions,
        inputs: bootstrap.Resamples | None,
        systems: bootstrap.Resamples | None,
    ) -> None:
        self.matrix, self.options, self.inputs, self.systems = matrix, options, inputs, systems
        self.both_refused = bootstrap.both_refused(matrix.system)
        self.both: bootstrap.Resamples | None = None
        if inputs is not None and systems is not None:
            self.both = bootstrap.Resamples((*systems.factors, *inputs.factors), "boot-both")

    def measure(
        self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None, draws: dict[str, Floats]
    ) -> Agreement:
        """Agreement of both sides with people on human criterion `partner`, on stories that all three rated. The
        resampled differences that `over_both` needs go to `draws`. Without `partner`, `reason` says why.
        """
        if partner is None:
            return self._undefined(reason or "nobody rated this criterion", draws)
        shared = self._shared(sides, partner)
        taus, difference = self._difference(shared)
        if difference.value is None:
            return replace(self._undefined(difference.reason or "undefined", draws), first=taus[0], second=taus[1])
        inputs, both = self._over_prompts(difference, shared, draws), self._over_both(difference, shared, draws)
        return Agreement(*taus, inputs, both, *self._tests(*shared))

    def over_prompts(
        self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None, draws: dict[str, Floats]
    ) -> Estimate:
        """`inputs` of `measure` alone, in a fraction of its time; its resampled differences go to `draws`."""
        if partner is None:
            return self._undefined(reason or "nobody rated this criterion", draws).inputs
        shared = self._shared(sides, partner)
        _, difference = self._difference(shared)
        if difference.value is None:
            return self._undefined(difference.reason or "undefined", draws).inputs
        return self._over_prompts(difference, shared, draws)

    def _shared(self, sides: tuple[Floats, Floats], partner: int) -> tuple[Floats, Floats, Floats]:
        """Ratings of both sides and of people on the stories that all three rated."""
        people = self.matrix.people[partner]
        keep = ~(np.isnan(sides[0]) | np.isnan(sides[1]) | np.isnan(people))
        first, second, y = (np.where(keep, side, np.nan) for side in (*sides, people))
        return first, second, y

    def _difference(self, shared: tuple[Floats, Floats, Floats]) -> tuple[tuple[Estimate, Estimate], Estimate]:
        first, second, y = shared
        taus = self._tau(first, y, _SIDES[0]), self._tau(second, y, _SIDES[1])
        if taus[0].value is None or taus[1].value is None:
            reason = next((tau.reason for tau in taus if not tau.defined), None)
            return taus, Estimate.undefined(reason or "undefined")
        return taus, Estimate(taus[1].value - taus[0].value, n=taus[0].n)

    def _over_prompts(
        self, difference: Estimate, shared: tuple[Floats, Floats, Floats], draws: dict[str, Floats]
    ) -> Estimate:
        if self.inputs is None:
            draws["tau"] = np.empty(0)
            return difference.without_interval(FEW_PROMPTS)
        draws["tau"] = self._differences(self.inputs, shared)
        return over_inputs(difference, draws["tau"], self.units)

    def _over_both(
        self, difference: Estimate, sides: tuple[Floats, Floats, Floats], draws: dict[str, Floats]
    ) -> Estimate:
        if self.both is None or self.systems is None:
            draws["tau_both"] = np.empty(0)
            return difference.without_interval(str(self.both_refused or FEW_PROMPTS))
        draws["tau_both"] = self._differences(self.both, sides)
        draws["tau_systems"] = self._differences(self.systems, sides)
        if self.options.both == "bca":
            for name, without in zip(_WITHOUT, self.both.jackknife(), strict=True):
                draws[name] = self._differences(without, sides)
        return over_both(difference, draws, self.units)

    @property
    def units(self) -> tuple[int, int]:
        """Number of systems and number of story-prompts that are resampled."""
        return len(self.matrix.systems), int(np.unique(self.matrix.story_prompt).size)

    def _differences(self, resamples: bootstrap.Resamples, sides: tuple[Floats, Floats, Floats]) -> Floats:
        first, second, people = sides
        grouping, both = LEVELS[self.options.level].grouping, np.stack([first, second])
        taus = resampled_correlations.values(resamples, both, people, grouping=grouping, group=self.matrix.system)
        return np.asarray(taus[1] - taus[0], dtype=np.float64)

    def _tau(self, x: Floats, y: Floats, names: tuple[str, str]) -> Estimate:
        if LEVELS[self.options.level].group:
            return coefficients.correlate_means(x, y, self.matrix.system, "kendall", names=names)
        return coefficients.correlate(x, y, "kendall", names=names, unit="stories")

    def _undefined(self, reason: str, draws: dict[str, Floats]) -> Agreement:
        draws["tau"] = draws["tau_both"] = np.empty(0)
        nothing, no_test = Estimate.undefined(reason), TauTest(None, reason=reason)
        return Agreement(nothing, nothing, nothing, nothing, no_test, no_test)

    def _tests(self, first: Floats, second: Floats, people: Floats) -> tuple[TauTest, TauTest]:
        return self._permutation(first, second, people), self._williams(first, second, people)

    def _permutation(self, first: Floats, second: Floats, people: Floats) -> TauTest:
        matrix = self.matrix
        group = matrix.system if LEVELS[self.options.level].group else None
        # A generator of its own: a comparison's p does not depend on which others were asked for.
        rng = np.random.default_rng(self.options.seed)
        whole = unit_of_stories(matrix, self.options.swapped)
        test = swap_test(second, first, people, whole, self.options.permutations, rng, group=group)
        return TauTest(test.p, reason=test.reason, units=test.units, least=test.least)

    def _williams(self, first: Floats, second: Floats, people: Floats) -> TauTest:
        pairs = ((people, second), (people, first), (second, first))
        taus = [self._tau(x, y, ("one side's ratings", "the other's")) for x, y in pairs]
        # Correlations keep their sign: a negative correlation with people is worse than 0.
        r12, r13, r23 = (np.nan if tau.value is None else tau.value for tau in taus)
        test = heterogeneity.compare(r12, r13, r23, taus[0].n, tail="two-sided")
        return TauTest(test.p, test.statistic, test.reason)
