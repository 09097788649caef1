"""Bootstrap resamples of stories.

All numbers of a table are computed from the same resamples, so that differences between them are paired; the caller
gives the seed. A resample records how often each unit (such as a story-prompt) was drawn, which gives each story a
weight. The unit that is drawn decides to which population the interval generalises (Deutsch, Dror & Roth 2021, A
Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods, TACL 9, section 4):

=============  ==============================================================  =======================================
name           drawn with replacement                                          generalises to
=============  ==============================================================  =======================================
boot-inputs    story-prompts, each with all its stories                        these systems on new story-prompts
boot-systems   systems, each with all its stories                              new systems on these story-prompts
boot-both      systems and story-prompts, independently                        new systems and new story-prompts
boot-stories   single stories, as if independent                               new stories, were they independent
=============  ==============================================================  =======================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.resampling.bootstrap_intervals import DEGENERATE, bca, expanded, holding, percentile

__all__ = ["DEGENERATE", "bca", "expanded", "percentile"]


# Folds for cross-validation of grouped rows: all rows of a group are in the same fold.


def deal(group: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Fold of each row, from 0: all rows of a group share one; numbers of groups per fold differ by at most one.

    `group` (n,) is numbered from 0 without gaps. With fewer groups than `folds` some stay empty. `rng` is seeded by the
    caller."""
    groups = int(group.max()) + 1 if group.size else 0
    fold = np.empty(groups, dtype=np.int64)
    fold[rng.permutation(groups)] = np.arange(groups) % folds
    return np.asarray(fold[group], dtype=np.int64)


def folds_of_groups(groups: Sequence[str], folds: int, seed: int) -> Codes:
    """Fold of each row by `deal`, from names of `groups`, `folds` and `seed`, whatever the order of the rows."""
    number = {name: index for index, name in enumerate(sorted(set(groups)))}
    return deal(np.array([number[name] for name in groups], dtype=np.int64), folds, np.random.default_rng(seed))


Counts = NDArray[np.int32]

# Weights expanded at a time, so that memory does not grow with resamples x stories.
_CHUNK = 4_000_000

# With fewer systems they are not resampled: their bootstrap distribution has hardly any values (5 give 126).
MIN_SYSTEMS = 5


@dataclass(frozen=True, slots=True)
class Factor:
    """Units (such as story-prompts) that resamples draw: `counts` (b, units), and the `unit` (n,) of each story."""

    counts: Counts
    unit: Codes

    def of(self, rows: Codes) -> Factor:
        """The same draws for the stories with indices `rows` (m,); units without any of them are left out."""
        present, unit = np.unique(self.unit[rows], return_inverse=True)
        return Factor(self.counts[:, present], unit.reshape(-1).astype(np.int64))


@dataclass(frozen=True, slots=True)
class OfSums:
    """A statistic of sums over stories: `parts` (n, m) are summed, and `of` takes sums (b, m) and gives (b, ...). It is
    called with weights (b, n)."""

    parts: Floats
    of: Callable[[Floats], Floats]

    def __call__(self, weights: Codes) -> Floats:
        return self.of(weights.astype(np.float64) @ self.parts)


@dataclass(frozen=True, slots=True)
class Resamples:
    """Bootstrap resamples of stories, which draw one kind of units (a factor) or two kinds independently.

    A story's weight is the number of draws of its unit or, for two factors, the product of the two numbers. Only
    stories that exist have a weight, also in an unbalanced design."""

    factors: tuple[Factor, ...]
    name: str

    @property
    def size(self) -> int:
        """Number of resamples (B)."""
        return int(self.factors[0].counts.shape[0])

    @property
    def n(self) -> int:
        """Number of stories that the resamples are drawn from."""
        return int(self.factors[0].unit.size)

    @property
    def counts(self) -> Counts:
        """How often each unit was drawn, (B, units); for one factor only."""
        (factor,) = self.factors
        return factor.counts

    @property
    def unit(self) -> Codes:
        """Unit of each story, (n,); for one factor only."""
        (factor,) = self.factors
        return factor.unit

    def weights(self, rows: slice = slice(None)) -> Counts:
        """How often each story was drawn, (resamples, n), in the resamples of the slice `rows`."""
        first, *rest = (factor.counts[rows].take(factor.unit, axis=1) for factor in self.factors)
        for other in rest:
            first *= other
        return first

    def blocks(self) -> Iterator[slice]:
        """Consecutive slices of the resamples, each so small that all its weights fit into memory."""
        step = max(1, _CHUNK // max(1, self.n))
        for start in range(0, self.size, step):
            yield slice(start, start + step)

    def values(self, statistic: Callable[[Codes], Floats]) -> Floats:
        """A statistic in each of B resamples, (B, ...).

        `statistic` takes weights (b, n) and gives (b, ...); it is called for one block of resamples at a time. One of
        sums is computed from the sums of units, of which there are fewer than stories."""
        if isinstance(statistic, OfSums) and len(self.factors) == 1:
            units = self.counts.shape[1]
            sums = [np.bincount(self.unit, weights=part, minlength=units) for part in statistic.parts.T]
            return statistic.of(self.counts.astype(np.float64) @ np.stack(sums, axis=1))
        return np.concatenate([statistic(self.weights(block).astype(np.int64)) for block in self.blocks()])

    def of(self, rows: Codes) -> Resamples:
        """The same draws for the stories with indices `rows` (m,)."""
        return replace(self, factors=tuple(factor.of(rows) for factor in self.factors))

    def split(self, group: Codes) -> tuple[Codes, Resamples | None]:
        """Draws of whole groups of stories (such as systems), and resamples that draw units within groups.

        `group` (n,) holds codes from 0 on. The first result (B, groups) is how often each group was drawn as a whole:
        the count of the factor that draws whole groups, the product of the counts if two do, and 1 if none does. The
        second holds the other factors; None if there are no others."""
        groups = int(group.max()) + 1 if group.size else 0
        mass = np.ones((self.size, groups), dtype=np.int64)
        varying = []
        for factor in self.factors:
            units = factor.counts.shape[1]
            group_of, unit_of = np.divmod(np.unique(group * units + factor.unit), max(1, units))
            if np.unique(group_of).size == group_of.size:
                mass[:, group_of] *= factor.counts[:, unit_of]
            else:
                varying.append(factor)
        return mass, replace(self, factors=tuple(varying)) if varying else None

    def jackknife(self) -> tuple[Resamples, ...]:
        """For each factor, resamples that each leave out one unit, for influence values and `intervals.bca`."""
        subsets = []
        for i, factor in enumerate(self.factors):
            units = factor.counts.shape[1]
            all_but_one = 1 - np.eye(units, dtype=np.int32)
            counts = [np.ones((units, other.counts.shape[1]), dtype=np.int32) for other in self.factors]
            counts[i] = all_but_one
            factors = (Factor(c, f.unit) for c, f in zip(counts, self.factors, strict=True))
            subsets.append(Resamples(tuple(factors), f"jackknife of {self.name}"))
        return tuple(subsets)

    def whole(self) -> Resamples:
        """The original data as one resample, in which every unit is drawn once."""
        factors = (Factor(np.ones((1, factor.counts.shape[1]), dtype=np.int32), factor.unit) for factor in self.factors)
        return Resamples(tuple(factors), "the data")

    def one_way(self) -> tuple[Resamples, ...]:
        """For each factor, resamples with the same draws of it alone, for `intervals.calibrated`."""
        return tuple(Resamples((factor,), f"one factor of {self.name}") for factor in self.factors)

    def interval(self, estimate: Estimate, values: Floats) -> Estimate:
        """The `estimate` with the program's default 95 % interval, whose name is appended to its `method`.

        `values` (B,) are the statistic in these resamples, NaN = undefined. With one factor this is the expanded
        percentile interval (`intervals.expanded`); with two the plain one, because such resamples already vary too much
        (see `intervals.calibrated`). An undefined estimate is returned unchanged. No interval, but a reason, where more
        than 5 % of the values are undefined, or with only one unit to draw from."""
        name = "percentile" if len(self.factors) > 1 else "expanded percentile"
        method = ", ".join(part for part in (estimate.method, self.name, name, "95 %") if part)
        if len(self.factors) > 1:
            return holding(percentile(estimate, values, method))
        return expanded(estimate, values, self.counts.shape[1], method)


def draw(unit: Codes, resamples: int, rng: np.random.Generator, name: str) -> Resamples:
    """Resamples that draw one kind of units (such as story-prompts) with replacement, as many as there are.

    `unit` (n,) holds codes 0..units-1, `resamples` is the number B, `rng` is seeded by the caller, and `name` stands in
    descriptions of methods, e.g. ``boot-inputs``."""
    return Resamples((Factor(_counts(unit, resamples, rng), unit),), name)


def draw_both(system: Codes, story_prompt: Codes, resamples: int, rng: np.random.Generator) -> Resamples:
    """Resamples that draw systems and, independently, story-prompts (BOOT-BOTH, Deutsch, Dror & Roth 2021).

    `system` and `story_prompt` (n,) hold codes from 0 on, `resamples` is the number B, and `rng` is seeded by the
    caller. ValueError with fewer than 5 systems; `both_refused` checks this beforehand.

    In 2,000 simulated studies of 40 systems x 40 story-prompts, the coverage of 95 % intervals for tau-b over all
    stories was 98.2 % (percentile), 98.0 % (BCa) and 94.0 % (`intervals.calibrated`, percentile). At system level it
    was 99.3 % (percentile) and 93.8 % (BCa). With 10 systems x 96 story-prompts, these five coverages were 96.4, 95.0,
    93.7, 99.8 and 96.5 % (`judge.stats.resampling.bootstrap_intervals`)."""
    reason = both_refused(system)
    if reason:
        raise ValueError(reason)
    factors = tuple(Factor(_counts(unit, resamples, rng), unit) for unit in (system, story_prompt))
    return Resamples(factors, "boot-both")


def both_refused(system: Codes) -> str | None:
    """Reason why there are too few systems in `system` (n,) for `draw_both`, or None."""
    systems = np.unique(system).size
    if systems < MIN_SYSTEMS:
        return f"{systems} systems are too few to resample (at least {MIN_SYSTEMS}); story-prompts alone can be"
    return None


def _counts(unit: Codes, resamples: int, rng: np.random.Generator) -> Counts:
    units = int(unit.max()) + 1 if unit.size else 0
    counts = np.zeros((resamples, units), dtype=np.int32)
    if units == 0:
        return counts
    step = max(1, 1_000_000 // units)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, units, size=(rows, units)) + units * np.arange(rows)[:, None]
        counts[start : start + rows] = np.bincount(drawn.reshape(-1), minlength=rows * units).reshape(rows, units)
    return counts
