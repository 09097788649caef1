"""Variance components of random-effects designs by analysis of variance, with intervals.

`analogous_anova` gives mean squares and their expectations, with or without missing ratings. Equating the two gives
unbiased estimates if ratings are missing at random, whatever the distribution of the effects. Without missing ratings
these are the ANOVA estimates (Searle, Casella & McCulloch 1992, Variance Components, chapter 4; Brennan 2001,
Generalizability Theory, chapter 3, whose table 3.2 a test reproduces). If none is negative, they equal the REML
estimates.

Intervals are generalized confidence intervals (Weerahandi 1993, JASA 88; coverage: Hannig, Iyer & Patterson 2006, JASA
101). Each expected mean square is drawn as df MS / chi²(df), and all components, and coefficients computed from them,
are computed from each draw. Effects are assumed to be normal. With missing ratings, mean squares are also assumed to be
independent and chi-squared, which holds approximately. In simulated studies of 6 systems, 20 story-prompts and 3
Eval-Prompts, 95 % intervals covered the true value in 89 to 97 % of cases with up to 10 % of the queries unrated, and
in 75 to 96 % with 30 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.stats.agreement.analogous_anova import Anova, Facet, Term, analogous_anova

Floats = NDArray[np.float64]

_BELOW = "no interval: the variance is estimated below 0, up to the upper end of its interval; it counts as 0"


@dataclass(frozen=True, slots=True)
class Component:
    """Estimated variance component of one term. A negative estimate is kept."""

    term: Term
    df: int
    mean_square: float
    variance: Estimate

    @property
    def negative(self) -> bool:
        """Whether the estimate is below 0, which is due to sampling error or to a wrong model."""
        return self.variance.value is not None and self.variance.value < 0

    @property
    def printed(self) -> Estimate:
        """The variance as printed: undefined where its whole interval is below 0, impossible for a variance."""
        value, low, high = self.variance.value, self.variance.low, self.variance.high
        if value is None or low is None or high is None or high >= 0:
            return self.variance
        return Estimate.undefined(
            f"undefined: {self.term} is estimated at {value:.3g} [{low:.3g}, {high:.3g}], impossible for a variance",
            n=self.variance.n,
        )

    @property
    def truncated(self) -> float:
        """The variance, or 0 if negative; shares and D-studies use this."""
        return max(0.0, self.variance.value or 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceComponents:
    """Variance components of all terms of a design, terms with the fewest facets first.

    `levels` counts the levels of each facet, `draws` (draws, terms) are random draws of the components for intervals,
    `n` counts ratings, and `confidence` is the coverage.
    """

    components: tuple[Component, ...]
    levels: Mapping[str, int]
    draws: Floats
    n: int
    confidence: float = 0.95

    def __getitem__(self, term: str) -> Component:
        return next(component for component in self.components if str(component.term) == term)

    @property
    def total(self) -> float:
        """The variance of one rating: the sum of all components, where negative ones count as 0."""
        return float(sum(component.truncated for component in self.components))

    @property
    def impossible(self) -> str | None:
        """Reason why the model does not hold: a variance that is negative in 99.9 % of the draws.

        The level of 95 % would reject one in forty variances that are truly 0. A term without any variation is not
        reported.
        """
        above = np.quantile(self.draws, 0.999, axis=0)
        pairs = zip(self.components, above, strict=True)
        terms = [str(part.term) for part, end in pairs if part.negative and part.mean_square > 0 and end < 0]
        if not terms:
            return None
        return f"undefined: the variance of {' and of '.join(terms)} is clearly below 0, impossible for a variance"

    def share(self, component: Component) -> Estimate:
        """Share of one `component` in the variance of one rating, with an interval; negative components count as 0.

        Undefined where no component is above 0. No interval, but a reason, where the component has none, or where both
        ends would be 0.
        """
        if self.total <= 0:
            equal = all(part.mean_square == 0 for part in self.components)
            why = "all ratings are equal" if equal else "no variance is estimated above 0"
            return Estimate.undefined(f"undefined because {why} (0/0)", n=component.variance.n)
        value, n = component.truncated / self.total, component.variance.n
        if component.variance.low is None:
            return Estimate(value, n=n, reason=component.variance.reason)
        drawn = np.maximum(self.draws, 0.0)
        drawn = drawn[drawn.sum(axis=1) > 0]
        shares = drawn[:, self.components.index(component)] / drawn.sum(axis=1)
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(shares, [tail, 100 - tail])
        if high <= 0:
            return Estimate(value, n=n, reason=_BELOW)
        return Estimate(value, n=n, low=float(low), high=float(high), method=component.variance.method)


def variance_components(
    ratings: Floats,
    facets: Sequence[Facet],
    *,
    rng: np.random.Generator,
    draws: int = 2000,
    confidence: float = 0.95,
) -> VarianceComponents:
    """ANOVA estimates of all variance components of a design with at most one rating per combination of levels.

    `ratings` has one axis per facet, in the order of `facets` (two or more); NaN = no rating. The axis of a nested
    facet counts levels within each combination of the facets in which it is nested. `rng` makes the `draws` of the
    intervals, of coverage `confidence`. A term whose mean square is 0 (such as equal repeats) or negative has no
    interval.

    DataError if too few combinations are rated to identify a variance, for fewer than two facets, for a facet with
    fewer than two levels, and for a facet nested in an unknown one.
    """
    _check(ratings, facets)
    anova = analogous_anova(ratings, facets)
    _told_apart(anova)
    solve = np.linalg.inv(anova.expected)
    values = solve @ anova.squares
    squares = np.maximum(anova.squares, 0.0)
    drawn = (squares * anova.df / rng.chisquare(anova.df, size=(draws, anova.df.size))) @ solve.T
    tail = 50 * (1 - confidence)
    ends = np.percentile(drawn, [tail, 100 - tail], axis=0)
    whole = not bool(np.isnan(ratings).any())
    parts = [
        Component(term, int(anova.df[i]), float(anova.squares[i]), _estimate(anova, i, values[i], ends[:, i], whole))
        for i, term in enumerate(anova.terms)
    ]
    return VarianceComponents(tuple(parts), _levels(anova, facets), drawn, int((~np.isnan(ratings)).sum()), confidence)


def _levels(anova: Anova, facets: Sequence[Facet]) -> dict[str, int]:
    """Number of rated levels of each facet; of a nested one the rounded mean over combinations of its outer facets."""
    seen = {term.indices: int(count) for term, count in zip(anova.terms, anova.seen, strict=True)}
    out = {}
    for term in anova.terms:
        if len(term.own) == 1:
            out[term.own[0]] = round(seen[term.indices] / seen.get(frozenset(term.outer), 1))
    return {facet.name: out[facet.name] for facet in facets}


def _estimate(anova: Anova, at: int, value: float, ends: Floats, whole: bool) -> Estimate:
    n = int(anova.seen[at])
    if anova.squares[at] == 0:
        return Estimate(float(value), n=n, reason="no interval: this term does not vary at all in these ratings")
    if anova.squares[at] < 0:
        return Estimate(float(value), n=n, reason="no interval: with these gaps the term's mean square is negative")
    method = "generalized, normal effects" if whole else "generalized, normal effects, approximate because of gaps"
    return Estimate(float(value), n=n, low=float(ends[0]), high=float(ends[1]), method=method)


def _check(ratings: Floats, facets: Sequence[Facet]) -> None:
    names = [facet.name for facet in facets]
    if len(names) < 2 or len(set(names)) < len(names) or ratings.ndim != len(names):
        raise DataError(f"variance components need two or more facets, one for each axis; found {', '.join(names)}")
    for facet in facets:
        absent = set(facet.nested_in) - set(names)
        if absent:
            raise DataError(f"{facet.name} is nested in {', '.join(sorted(absent))}, which is not a facet here")
    for axis, name in enumerate(names):
        others = tuple(i for i in range(len(names)) if i != axis)
        count = int((~np.isnan(ratings)).any(axis=others).sum())
        if count < 2:
            raise DataError(
                f"{name} has {count} level{'s' if count != 1 else ''}: a variance needs two or more",
                hint=f"leave {name} out of the facets; its variance then hides in the other terms",
            )


def _told_apart(anova: Anova) -> None:
    """DataError where the pattern of missing ratings does not identify the variance of each term."""
    for term, df in zip(anova.terms, anova.df, strict=True):
        if df < 1:
            raise DataError(
                f"the variance of {term} cannot be estimated: too few of its combinations are rated", hint=_MENDS
            )
    scaled = anova.expected / np.abs(anova.expected).max(axis=1, keepdims=True)
    if np.linalg.cond(scaled) > 1e8:
        raise DataError("the variances cannot be separated in this pattern of ratings", hint=_MENDS)


_MENDS = Advice(
    "ask what is missing (judge run, judge run {retry}), or leave out a judge or system ({drop_systems})", retry=True
)
