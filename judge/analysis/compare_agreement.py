"""Difference of two sides' tau with people: four views side by side, and what each answers. Never picks one of them.

- *permutation* (PERM-BOTH): could the two sides' scores be exchanged on these stories?
- *Williams*: the same question by Pearson's theory of dependent correlations, which is not tau's;
- *boot-inputs*: would the difference hold for new story-prompts?
- *boot-both*: would it hold for new systems and story-prompts?
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.analysis.options import CompareOptions
from judge.rating_matrix import RatingMatrix
from judge.stats import correlation, dependent_correlations, interval, kendall, resample
from judge.stats.estimate import Estimate
from judge.stats.permutation import swap_test

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

FEW_PROMPTS = "fewer than 5 story-prompts to resample"
_SIDES = ("the first side's ratings", "the people's ratings"), ("the second side's ratings", "the people's ratings")


@dataclass(frozen=True, slots=True)
class TauTest:
    """One test of no difference: its statistic where it has one, two-sided p, or why there is none."""

    p: float | None
    statistic: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Tau of both sides with people and their difference; `n` of each counts stories, or systems at system level."""

    first: Estimate
    second: Estimate
    inputs: Estimate
    both: Estimate
    permutation: TauTest
    williams: TauTest


class AgreementMeasure:
    """Measures agreement of pairs of cells in one dataset; holds the resamples that all of them share."""

    def __init__(self, matrix: RatingMatrix, options: CompareOptions, inputs: resample.Resamples | None) -> None:
        self.matrix, self.options, self.inputs = matrix, options, inputs
        self.both_refused = resample.both_refused(matrix.system)
        self.both: resample.Resamples | None = None
        if inputs is not None and self.both_refused is None:
            rng = np.random.default_rng(options.seed)
            self.both = resample.draw_both(matrix.system, matrix.story_prompt, options.resamples, rng)
        self._known: dict[tuple[str, bytes, bytes], Floats] = {}

    def measure(
        self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None, draws: dict[str, Floats]
    ) -> Agreement:
        """Both sides against the people's criterion `partner`, on stories that all three rated.

        `draws` gets the resampled differences under ``tau`` (boot-inputs) and ``tau_both``.
        """
        if partner is None:
            return self._undefined(reason or "nobody rated this criterion", draws)
        people = self.matrix.people[partner]
        keep = ~(np.isnan(sides[0]) | np.isnan(sides[1]) | np.isnan(people))
        first, second, y = (np.where(keep, side, np.nan) for side in (*sides, people))
        taus = self._tau(first, y, _SIDES[0]), self._tau(second, y, _SIDES[1])
        undefined = next((tau.reason for tau in taus if not tau.defined), None)
        if taus[0].value is None or taus[1].value is None:
            found = self._undefined(undefined or "undefined", draws)
            return replace(found, first=taus[0], second=taus[1])
        difference = Estimate(taus[1].value - taus[0].value, n=taus[0].n)
        inputs, both = (
            self._interval(name, how, difference, (first, second, y), draws)
            for name, how in (("tau", "boot-inputs"), ("tau_both", "boot-both"))
        )
        return Agreement(*taus, inputs, both, *self._tests(first, second, y))

    def _interval(
        self, name: str, how: str, difference: Estimate, sides: tuple[Floats, Floats, Floats], draws: dict[str, Floats]
    ) -> Estimate:
        """The difference with its interval in one kind of resamples; its values in them go to `draws`."""
        resamples = self.both if name == "tau_both" else self.inputs
        if resamples is None:
            draws[name] = np.empty(0)
            reason = self.both_refused if name == "tau_both" and self.both_refused else FEW_PROMPTS
            return replace(difference, reason=f"no interval: {reason}")
        first, second, people = sides
        if self.options.level == "system":
            taus = resamples.tau_b_means(np.stack([first, second]), people, self.matrix.system)
        else:
            codes = np.stack([kendall.codes(first), kendall.codes(second)])
            taus = resamples.tau_b(codes, kendall.codes(people))
        draws[name] = taus[1] - taus[0]
        return interval.percentile(difference, draws[name], f"{how}, percentile, 95 %")

    def _tau(self, x: Floats, y: Floats, names: tuple[str, str]) -> Estimate:
        if self.options.level == "system":
            return correlation.correlate_means(x, y, self.matrix.system, "kendall", names=names)
        return correlation.correlate(x, y, "kendall", names=names, unit="stories")

    def _undefined(self, reason: str, draws: dict[str, Floats]) -> Agreement:
        draws["tau"] = draws["tau_both"] = np.empty(0)
        nothing, no_test = Estimate.undefined(reason), TauTest(None, reason=reason)
        return Agreement(nothing, nothing, nothing, nothing, no_test, no_test)

    def _tests(self, first: Floats, second: Floats, people: Floats) -> tuple[TauTest, TauTest]:
        """Permutation and Williams' test of the same difference."""
        return self._permutation(first, second, people), self._williams(first, second, people)

    def _permutation(self, first: Floats, second: Floats, people: Floats) -> TauTest:
        group = self.matrix.system if self.options.level == "system" else None
        # A generator of its own: a comparison's p does not depend on which others were asked for.
        rng = np.random.default_rng(self.options.seed)
        stories = np.arange(self.matrix.n)
        found = swap_test(second, first, people, stories, self.options.permutations, rng, group=group)
        return TauTest(found.p, reason=found.reason)

    def _williams(self, first: Floats, second: Floats, people: Floats) -> TauTest:
        """Signs are kept: a side that follows people the wrong way round is worse, not as good."""
        pairs = ((people, second), (people, first), (second, first))
        taus = [self._tau(x, y, ("one side's ratings", "the other's")) for x, y in pairs]
        r12, r13, r23 = (np.nan if tau.value is None else tau.value for tau in taus)
        found = dependent_correlations.compare(r12, r13, r23, taus[0].n, tail="two-sided")
        return TauTest(found.p, found.statistic, found.reason)
