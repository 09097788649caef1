"""Agreement of two sides with people (Kendall's tau), and its difference by two intervals and two tests.

- *permutation*: are the two sides' scores exchangeable? The units swapped are whole story-prompts (PERM-INPUTS, for
  new story-prompts), whole systems (PERM-SYSTEMS, for new systems; the default at system level) or single stories
  (PERM-BOTH, for these stories only);
- *Williams*: do both correlate with people equally on these stories? The theory is that of Pearson's r, applied to tau;
- *boot-inputs*: would the difference hold for new story-prompts? An expanded percentile interval: the plain one left 0
  out in 10 % of studies of equal judges with 12 story-prompts;
- *boot-both*: would the difference hold for new systems and story-prompts? Over all stories a percentile interval,
  calibrated because resampling both units counts the noise of each story three times. Over system means a BCa interval:
  a resample of systems contains duplicates, so that tau-b over their means lies closer to 0 and varies more than with
  distinct systems, which calibration does not correct. In simulations with ten systems, percentile intervals excluded 0
  in 0-3 % of studies, whether the judges differed or not; BCa intervals in 27 % of studies where they differed, and in
  2-7 % where they did not (`tests/benchmarks/simulations/compare_null.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judge.analysis.inputs.resamples import unit_of_stories
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.table_options import CompareOptions
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import coefficients, heterogeneity
from judge.stats.estimation import sample_size
from judge.stats.resampling import bootstrap, resampled_correlations
from judge.stats.resampling import bootstrap_intervals as intervals
from judge.stats.resampling.swap_test import swap_test

FEW_PROMPTS = "fewer than 5 story-prompts to resample"
_PEOPLE = "the people's ratings"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A difference (second minus first side) in one measure, and the measure on each side.

    `draws` holds the difference in each resample, by what is drawn: story-prompts (`inputs`); for boot-both also
    `systems` and `both`, and for BCa the data without each system and each story-prompt. `units` are the numbers of
    systems and of story-prompts."""

    estimate: Estimate
    draws: Mapping[str, Floats] = field(default_factory=dict, repr=False)
    units: tuple[int, int] = (0, 0)
    first: Estimate | float | None = None
    second: Estimate | float | None = None

    @property
    def drawn(self) -> Floats:
        """The difference in each resample; with systems too, rescaled to the variation between new studies."""
        draws = self.draws
        if "both" not in draws:
            return draws["inputs"]
        rescaled = intervals.calibrated(draws["both"], (draws["systems"], draws["inputs"]), self.units)
        # No two correlations are further apart.
        return np.asarray(np.clip(rescaled, -2.0, 2.0), dtype=np.float64)

    @property
    def detectable(self) -> Estimate:
        """Smallest true difference that would be significant in 80 % of studies of this size."""
        estimate = self.estimate
        if estimate.low is None:
            return Estimate.undefined(estimate.reason or "no interval, so no standard error", n=estimate.n)
        spread = float(self.drawn[~np.isnan(self.drawn)].std(ddof=1))
        return Estimate(sample_size.minimum_detectable_effect(spread), n=estimate.n)

    def with_interval(self) -> Measured:
        """The same with the interval that its resamples give (see the module)."""
        estimate, draws = self.estimate, self.draws
        if "without_system" in draws:
            without = [draws["without_system"], draws["without_prompt"]]
            interval = intervals.bca(estimate, draws["both"], without, "boot-both, BCa, 95 %")
        elif "both" in draws:
            interval = intervals.percentile(estimate, self.drawn, "boot-both, calibrated percentile, 95 %")
        else:
            how = "boot-inputs, expanded percentile, 95 %"
            interval = intervals.expanded(estimate, draws["inputs"], self.units[1], how)
        return replace(self, estimate=interval)


def mean_of(criteria: Sequence[Measured], *, any_interval: bool = False) -> Measured:
    """Mean over those criteria in which the difference is defined; n counts them. It has an interval only if all of
    them have one, or with `any_interval` if one has; otherwise it gives the reason."""
    defined = [measured for measured in criteria if measured.estimate.defined]
    if not defined:
        reasons = dict.fromkeys(measured.estimate.reason or "undefined" for measured in criteria)
        return Measured(Estimate.undefined("; ".join(reasons) or "no criterion in common"))
    estimates = [measured.estimate for measured in defined]
    mean = Estimate(float(np.mean([e.value for e in estimates if e.value is not None])), n=len(defined))
    lacking = [estimate for estimate in estimates if estimate.low is None]
    if lacking and not (any_interval and len(lacking) < len(defined)):
        return Measured(replace(mean, reason=lacking[0].reason or "no interval", parts=lacking[0].parts))
    draws = {name: np.mean([measured.draws[name] for measured in defined], axis=0) for name in defined[0].draws}
    return Measured(mean, draws, defined[0].units).with_interval()


@dataclass(frozen=True, slots=True)
class TauTest:
    """One test that two sides agree with people equally well, with its two-sided p. `reason` says why there is no p.
    For a permutation test, `units` were swapped as a whole, and `least` is the smallest possible p. `adjusted` is p
    adjusted over the tests of a comparison."""

    p: float | None
    statistic: float | None = None
    reason: str | None = None
    units: int = 0
    least: float | None = None
    adjusted: float | None = None


# The difference with its interval over story-prompts, and over systems too; the permutation test; Williams' test.
Agreement = tuple[Measured, Measured, TauTest, TauTest]
# Ratings of both sides and of people on the stories that all three rated, shape (n stories,) each.
_Shared = tuple[Floats, Floats, Floats]


class AgreementMeasure:
    """Agreement with people for pairs of judges in one dataset. All pairs share the same resamples: `inputs` of
    story-prompts and `systems`, None where there are too few."""

    def __init__(self, matrix: RatingMatrix, options: CompareOptions) -> None:
        self.matrix, self.options = matrix, options
        self.units = len(matrix.systems), int(np.unique(matrix.story_prompt).size)
        self.both_refused = bootstrap.both_refused(matrix.system)
        self.inputs: bootstrap.Resamples | None = None
        self.systems: bootstrap.Resamples | None = None
        if self.units[1] < 5:
            return
        rng = np.random.default_rng(options.seed)
        self.inputs = bootstrap.draw(matrix.story_prompt, options.resamples, rng, "boot-inputs")
        if not self.both_refused:
            self.systems = bootstrap.draw(matrix.system, options.resamples, rng, "boot-systems")

    def measure(self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None) -> Agreement:
        """Agreement of both sides with people on human criterion `partner`, on stories that all three rated. Without
        `partner`, `reason` says why."""
        measured = self._difference(sides, partner, reason)
        if isinstance(measured, Measured):
            no_test = TauTest(None, reason=measured.estimate.reason)
            return measured, measured, no_test, no_test
        shared, difference = measured
        inputs = self._over_prompts(difference, shared)
        both = self._over_both(replace(difference, draws=inputs.draws), shared)
        return inputs, both, self._permutation(shared), self._williams(shared)

    def interval(
        self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None, *, systems: bool
    ) -> Measured:
        """The second part of `measure` alone (with `systems`), or the first, in a fraction of its time."""
        measured = self._difference(sides, partner, reason)
        if isinstance(measured, Measured):
            return measured
        shared, difference = measured
        inputs = self._over_prompts(difference, shared)
        return self._over_both(replace(difference, draws=inputs.draws), shared) if systems else inputs

    def _difference(
        self, sides: tuple[Floats, Floats], partner: int | None, reason: str | None
    ) -> Measured | tuple[_Shared, Measured]:
        """The shared ratings and the difference without an interval; only the latter where it is undefined."""
        if partner is None:
            nothing = Estimate.undefined(reason or "nobody rated this criterion")
            return Measured(nothing, first=nothing, second=nothing)
        people = self.matrix.people[partner]
        keep = ~(np.isnan(sides[0]) | np.isnan(sides[1]) | np.isnan(people))
        first, second, y = (np.where(keep, side, np.nan) for side in (*sides, people))
        one = self._tau(first, y, ("the first side's ratings", _PEOPLE))
        other = self._tau(second, y, ("the second side's ratings", _PEOPLE))
        if one.value is None or other.value is None:
            why = one.reason if one.value is None else other.reason
            return Measured(Estimate.undefined(why or "undefined"), first=one, second=other)
        difference = Measured(Estimate(other.value - one.value, n=one.n), {}, self.units, one, other)
        return (first, second, y), difference

    def _over_prompts(self, difference: Measured, shared: _Shared) -> Measured:
        if self.inputs is None:
            return replace(difference, estimate=difference.estimate.without_interval(FEW_PROMPTS))
        return replace(difference, draws={"inputs": self._drawn(self.inputs, shared)}).with_interval()

    def _over_both(self, difference: Measured, shared: _Shared) -> Measured:
        """`difference` has been drawn over story-prompts."""
        if self.inputs is None or self.systems is None:
            fact = str(self.both_refused or FEW_PROMPTS)
            return replace(difference, estimate=difference.estimate.without_interval(fact))
        both = bootstrap.Resamples((*self.systems.factors, *self.inputs.factors), "boot-both")
        sets = {"systems": self.systems, "both": both}
        if self.options.both == "bca":
            sets |= zip(("without_system", "without_prompt"), both.jackknife(), strict=True)
        draws = {name: self._drawn(resamples, shared) for name, resamples in sets.items()}
        return replace(difference, draws={**difference.draws, **draws}).with_interval()

    def _drawn(self, resamples: bootstrap.Resamples, shared: _Shared) -> Floats:
        first, second, people = shared
        grouping, both = LEVELS[self.options.level].grouping, np.stack([first, second])
        taus = resampled_correlations.values(resamples, both, people, grouping=grouping, group=self.matrix.system)
        return np.asarray(taus[1] - taus[0], dtype=np.float64)

    def _tau(self, x: Floats, y: Floats, names: tuple[str, str]) -> Estimate:
        if LEVELS[self.options.level].group:
            return coefficients.correlate_means(x, y, self.matrix.system, "kendall", names=names)
        return coefficients.correlate(x, y, "kendall", names=names, unit="stories")

    def _permutation(self, shared: _Shared) -> TauTest:
        first, second, people = shared
        group = self.matrix.system if LEVELS[self.options.level].group else None
        # A generator of its own: a comparison's p does not depend on which others were asked for.
        rng = np.random.default_rng(self.options.seed)
        whole = unit_of_stories(self.matrix, self.options.swapped)
        test = swap_test(second, first, people, whole, self.options.permutations, rng, group=group)
        return TauTest(test.p, reason=test.reason, units=test.units, least=test.least)

    def _williams(self, shared: _Shared) -> TauTest:
        first, second, people = shared
        pairs = ((people, second), (people, first), (second, first))
        taus = [self._tau(x, y, ("one side's ratings", "the other's")) for x, y in pairs]
        # Correlations keep their sign: a negative correlation with people is worse than 0.
        r12, r13, r23 = (np.nan if tau.value is None else tau.value for tau in taus)
        test = heterogeneity.compare(r12, r13, r23, taus[0].n, tail="two-sided")
        return TauTest(test.p, test.statistic, test.reason)
