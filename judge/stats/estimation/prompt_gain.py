"""Gain in Kendall's tau-b with people of one prompt over another, on story-prompts that chose neither.

tau is computed inside each part and then averaged over parts, never over the stitched ratings of different prompts:
prompts differ in leniency, which would count as error. The standard error is that of the pseudo-values of the jackknife
over story-prompts (Efron & Tibshirani 1993, chapter 11), pooled over parts, and the test is Student's t with G - 1
degrees of freedom for G story-prompts. Where each half of the story-prompts chose the prompt that the other half tests,
the two gains depend on each other, and the error is multiplied by `SWAPPED`; in simulations the factor holds the level
(`tests/benchmarks/simulations/improving.py`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.stats.correlation import human_ceiling, kendall
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling import resampled_correlations
from judge.stats.resampling.bootstrap import Factor, Resamples

# Factor on the standard error where each half chose for the other.
SWAPPED = 1.1
# Sum of the normal quantiles of a two-sided test at 5 % and of a power of 80 %.
DETECTS = 2.8
# Spread of a difference of two prompts' tau over story-prompts, with ten systems and with five; on HANNA .18 to .33.
USUAL_SPREAD, SPREAD_OF_FEW = 0.21, 0.29
_FEW_SYSTEMS = 8
_FEWEST = 5
_TEST_SHARE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Ratings of the n stories of one test part, on c criteria; NaN = no rating.

    `people` (c, n) are people's means, `base` (k, c, n) the k askings of the first prompt, `other` (c, n) the second's
    ratings; `story_prompt` (n,) and `system` (n,) are codes. A story counts on a criterion where all of these have a
    rating."""

    people: Floats
    base: Floats
    other: Floats
    story_prompt: Codes
    system: Codes

    def without_system(self, system: int) -> Part:
        """The part without one system's stories."""
        keep = self.system != system
        return Part(
            self.people[:, keep], self.base[:, :, keep], self.other[:, keep], self.story_prompt[keep], self.system[keep]
        )


@dataclass(frozen=True, slots=True)
class Gain:
    """A gain with its interval at `confidence`, standard error, and number of story-prompts; `by_part` are the parts'
    own gains, in their order. `smallest` is the true gain that 80 % of such tests find."""

    estimate: Estimate
    se: float | None = None
    clusters: int = 0
    confidence: float = 0.95
    by_part: tuple[float, ...] = ()

    @property
    def above(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.estimate.low is not None and self.estimate.low > 0

    @property
    def below(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.estimate.high is not None and self.estimate.high < 0

    @property
    def p(self) -> float | None:
        """Two-sided p of no gain, by Student's t; None without a standard error."""
        if self.se is None or self.estimate.value is None:
            return None
        return float(2 * special.stdtr(self.clusters - 1, -abs(self.estimate.value) / self.se))

    @property
    def smallest(self) -> float | None:
        return None if self.se is None else DETECTS * self.se


def taus(x: Floats, y: Floats, story_prompt: Codes) -> Floats:
    """tau-b of each row of `x` (m, n) with `y` (n,): of all stories, then without each `story_prompt`, (m, 1 + G).

    NaN ratings are left out pairwise. NaN where a side is constant or fewer than 2 stories are left."""
    unit = renumbered(story_prompt)
    groups = int(unit.max(initial=-1)) + 1
    counts = np.concatenate([np.ones((1, groups), np.int32), 1 - np.eye(groups, dtype=np.int32)])
    resamples = Resamples((Factor(counts, unit),), "jackknife")
    return resampled_correlations.tau_b(resamples, np.stack([kendall.codes(row) for row in x]), kendall.codes(y))


def mean_tau(ratings: Floats, people: Floats) -> float:
    """Mean over criteria of tau-b of `ratings` (c, n) with `people` (c, n); NaN where it exists on no criterion."""
    values = [kendall.tau_b(kendall.codes(x), kendall.codes(y)) for x, y in zip(ratings, people, strict=True)]
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def gain(parts: Sequence[Part], *, confidence: float = 0.95, factor: float = 1.0) -> Gain:
    """Gain of the second prompt over the mean of the first one's askings, mean over criteria, then over `parts`.

    `confidence` is that of the two-sided interval; `factor` multiplies the standard error. A criterion on which a
    side's tau does not exist is left out; undefined where no criterion is left, without an interval with fewer than 5
    story-prompts, where tau rests on one story-prompt alone, and where nothing varies."""
    values = [_of_part(part) for part in parts]
    n = sum(part.story_prompt.size for part in parts)
    if any(value is None for value in values):
        return Gain(Estimate.undefined("on no criterion do both prompts have a tau with people", n=n))
    known = [value for value in values if value is not None]
    by_part = tuple(float(value[0]) for value in known)
    estimate = Estimate(float(np.mean(by_part)), n=n, method="jackknife by story-prompt")
    pseudo = np.concatenate([(v.size - 1) * v[0] - (v.size - 2) * v[1:] for v in known])
    clusters = pseudo.size
    if clusters < _FEWEST:
        return Gain(replace(estimate, reason=f"no interval with fewer than {_FEWEST} story-prompts"), by_part=by_part)
    if not np.isfinite(pseudo).all():
        return Gain(replace(estimate, reason="no interval: tau rests on one story-prompt alone"), by_part=by_part)
    se = factor * float(pseudo.std(ddof=1)) / math.sqrt(clusters)
    if se < 1e-12:
        why = "no interval: both prompts order the stories alike, or differ alike in every story-prompt"
        return Gain(replace(estimate, reason=why), clusters=clusters, by_part=by_part)
    half = float(special.stdtrit(clusters - 1, 0.5 + confidence / 2)) * se
    value = estimate.value or 0.0
    method = f"t({clusters - 1}), {estimate.method}, {100 * confidence:.4g} %"
    estimate = replace(estimate, low=value - half, high=value + half, method=method)
    return Gain(estimate, se, clusters, confidence, by_part)


def adjusted(overall: Gain, criteria: Mapping[str, Gain]) -> dict[str, float]:
    """p of each criterion's gain in `criteria`, adjusted by Holm over them; those without a test are left out.

    Criteria are a second step: none is tested unless the gain over all of them, `overall`, lies apart from 0. So the
    whole family, the first test and these, has the level of one test (a fixed sequence: Maurer, Hothorn & Lehmacher
    1995)."""
    tested = {name: gain.p for name, gain in criteria.items() if gain.p is not None}
    if not (overall.above or overall.below) or not tested:
        return {}
    values = holm(np.array(list(tested.values()), dtype=np.float64))
    return dict(zip(tested, map(float, values), strict=True))


def _of_part(part: Part) -> Floats | None:
    """The gain on one part, and without each of its story-prompts, (1 + G,); None where undefined."""
    rows = []
    for criterion, people in enumerate(part.people):
        sides = np.concatenate([part.base[:, criterion], part.other[None, criterion]])
        used = ~(np.isnan(sides).any(axis=0) | np.isnan(people))
        sides = np.where(used, sides, np.nan)
        values = taus(sides, np.where(used, people, np.nan), part.story_prompt)
        if np.isfinite(values[:, 0]).all():
            rows.append(values[-1] - values[:-1].mean(axis=0))
    return np.mean(rows, axis=0) if rows else None


def smallest_gain(spread: float, story_prompts: int, factor: float = 1.0) -> float:
    """True gain that 80 % of tests at 5 % find, with the `spread` of the difference over so many `story_prompts`;
    `factor` multiplies the standard error."""
    return DETECTS * factor * spread / math.sqrt(story_prompts)


def story_prompts_for(gain_wanted: float, spread: float, factor: float = 1.0) -> int:
    """Smallest number of story-prompts of test with which 80 % of tests at 5 % find the gain `gain_wanted`, with this
    `spread` over story-prompts; `factor` multiplies the standard error."""
    return math.ceil((DETECTS * factor * spread / gain_wanted) ** 2)


def usual_spread(systems: int) -> float:
    """Spread over story-prompts of a difference of two prompts' tau with so many `systems`, where none was measured."""
    return USUAL_SPREAD if systems >= _FEW_SYSTEMS else SPREAD_OF_FEW


def confidence_of_use(use: int) -> float:
    """Confidence of the two-sided interval that decides the `use`-th verdict on one test part, from 1.

    A false IMPROVED may come at the one-sided level .05 / (J (J + 1)) at the J-th use; over all uses these sum to .05.
    """
    if use < 1:
        raise ValueError(f"use {use}: uses are counted from 1")
    return 1 - 2 * _TEST_SHARE / (use * (use + 1))


def repeats_for(once: float, twice: float, wanted: float, repeats: int) -> float | None:
    """Number of repeats with which the first prompt would reach the tau `wanted`, by Spearman and Brown's formula.

    `once` is its tau with `repeats` repeats and `twice` with twice as many. None where more repeats brought nothing, or
    no number reaches it. Taus are converted to r and back by Greiner's relation, as in `human_ceiling`."""
    r, r2, target = (math.sin(math.pi * tau / 2) for tau in (once, twice, wanted))
    if wanted <= once:
        return float(repeats)
    if not 0 < r < r2:
        return None
    reliability = min(1.0, max(0.0, 2 / (r2 / r) ** 2 - 1))
    aim = (target / r) ** 2 * reliability
    if reliability <= 0 or aim >= 1:
        return None
    single = reliability / (repeats - (repeats - 1) * reliability)
    times = human_ceiling.number_for(single, aim)
    return None if times is None else float(times)
