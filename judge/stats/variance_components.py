"""Variance components of balanced designs by analysis of variance, with intervals. Never fills a cell, never clips.

Every facet is random. A facet may be nested in others (repeats of one query have nothing in common with those of
another), and all interactions that the nesting allows are terms. An *index set* is what a term's effects are told
apart by: for ``repeat in system x story-prompt`` all three. Rules for the balanced random model, by index sets:

- degrees of freedom: product of (levels - 1) over the term's own facets and of levels over those it is nested in;
- expected mean square of term A: sum over terms B whose index set contains A's of sigma²(B) times the number of
  ratings for each combination of B's levels.

Searle, Casella & McCulloch 1992, Variance Components, chapter 4; Brennan 2001, Generalizability Theory, chapter 3 and
its table 3.2 (p x (r:t)), which a test repeats. Setting mean squares equal to their expectations gives the ANOVA
estimates; where none is negative they are also the REML estimates.

Intervals are generalized confidence intervals (Weerahandi 1993, JASA 88; their coverage: Hannig, Iyer & Patterson
2006, JASA 101): each expected mean square is drawn as df MS / chi²(df), and every component, or coefficient made of
components, is computed from each draw. They assume normal effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judge.errors import DataError
from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facet:
    """What ratings vary over; `nested_in` names the facets within each combination of which its levels begin anew."""

    name: str
    nested_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """An effect that the design allows: its `own` facets, and the `outer` ones in which some of them are nested."""

    own: tuple[str, ...]
    outer: tuple[str, ...] = ()

    @property
    def indices(self) -> frozenset[str]:
        """The index set."""
        return frozenset(self.own + self.outer)

    def __str__(self) -> str:
        return " x ".join(self.own) + (f" in {' x '.join(self.outer)}" if self.outer else "")


@dataclass(frozen=True, slots=True)
class Component:
    """The variance of one term's effects, as estimated: negative where the estimate is."""

    term: Term
    df: int
    mean_square: float
    variance: Estimate

    @property
    def negative(self) -> bool:
        """Whether the estimate is below 0 (sampling error around a small variance, or a model that does not hold)."""
        return self.variance.value is not None and self.variance.value < 0

    @property
    def truncated(self) -> float:
        """The estimate, or 0 where it is negative: what shares and D-studies use."""
        return max(0.0, self.variance.value or 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceComponents:
    """All terms, smallest index sets first; `levels` of each facet; `draws` (b, terms) for intervals; n ratings."""

    components: tuple[Component, ...]
    levels: Mapping[str, int]
    draws: Floats
    n: int
    confidence: float = 0.95

    def __getitem__(self, term: str) -> Component:
        return next(component for component in self.components if str(component.term) == term)

    @property
    def total(self) -> float:
        """Sum of the truncated components: the variance of one rating."""
        return float(sum(component.truncated for component in self.components))

    def share(self, component: Component) -> Estimate:
        """Truncated component over their sum, with an interval; undefined where all ratings are equal."""
        if self.total <= 0:
            return Estimate.undefined("undefined because all ratings are equal (0/0)", n=component.variance.n)
        value, n = component.truncated / self.total, component.variance.n
        if component.mean_square == 0:
            return Estimate(value, n=n, reason=component.variance.reason)
        drawn = np.maximum(self.draws, 0.0)
        shares = drawn[:, self.components.index(component)] / drawn.sum(axis=1)
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(shares, [tail, 100 - tail])
        return Estimate(value, n=n, low=float(low), high=float(high), method=component.variance.method)


def variance_components(
    ratings: Floats,
    facets: Sequence[Facet],
    *,
    rng: np.random.Generator,
    draws: int = 2000,
    confidence: float = 0.95,
    labels: Mapping[str, Sequence[str]] | None = None,
) -> VarianceComponents:
    """ANOVA estimates of all variance components of a balanced design with one rating for each combination.

    Parameters
    ----------
    ratings : array, one axis a facet, in points of the scale
        A nested facet's axis counts levels within each combination of the facets it is nested in.
    facets : sequence of Facet, two or more, in the order of the axes
    rng : numpy Generator
        For the draws that make intervals.
    draws : int
        Number of draws.
    confidence : float
        Coverage of the intervals.
    labels : mapping of facet name to its levels' names, optional
        For the sentence that says what is missing.

    Returns
    -------
    VarianceComponents
        A term without any variation of its own (equal repeats) has the value that follows and no interval.

    Raises
    ------
    DataError
        A combination without a rating (NaN): the estimates above are for balanced designs only. Fewer than two facets,
        a facet with fewer than two levels, or a facet nested in one that is not there.
    """
    names = [facet.name for facet in facets]
    _check(ratings, facets, labels or {})
    levels = dict(zip(names, ratings.shape, strict=True))
    terms = _terms(facets)
    df = np.array([_df(term, levels) for term in terms])
    squares = _mean_squares(ratings, names, terms, df)
    solve = np.linalg.inv(expected_mean_squares(terms, levels))
    values = solve @ squares
    drawn = (squares * df / rng.chisquare(df, size=(draws, df.size))) @ solve.T
    tail = 50 * (1 - confidence)
    ends = np.percentile(drawn, [tail, 100 - tail], axis=0)
    found = [
        Component(term, int(df[i]), float(squares[i]), _estimate(values[i], ends[:, i], squares[i], levels, term))
        for i, term in enumerate(terms)
    ]
    return VarianceComponents(tuple(found), levels, drawn, int(ratings.size), confidence)


def expected_mean_squares(terms: Sequence[Term], levels: Mapping[str, int]) -> Floats:
    """Coefficients, shape (terms, terms): row A holds how often each sigma²(B) stands in A's expected mean square."""
    total = float(np.prod(list(levels.values())))
    out = np.zeros((len(terms), len(terms)))
    for i, inner in enumerate(terms):
        for j, outer in enumerate(terms):
            if inner.indices <= outer.indices:
                out[i, j] = total / np.prod([levels[name] for name in outer.indices])
    return out


def _terms(facets: Sequence[Facet]) -> list[Term]:
    """All sets of facets that hold whatever their members are nested in."""
    nests = {facet.name: set(facet.nested_in) for facet in facets}
    for _ in facets:  # nested also in what its nest is nested in
        nests = {name: nest | {outer for inner in nest for outer in nests[inner]} for name, nest in nests.items()}
    found = []
    for size in range(1, len(facets) + 1):
        for chosen in combinations([facet.name for facet in facets], size):
            outer = set().union(*(nests[name] for name in chosen))
            if outer <= set(chosen):
                own = tuple(name for name in chosen if name not in outer)
                found.append(Term(own, tuple(name for name in chosen if name in outer)))
    return found


def _df(term: Term, levels: Mapping[str, int]) -> int:
    return int(np.prod([levels[name] - 1 for name in term.own] + [levels[name] for name in term.outer]))


def _mean_squares(ratings: Floats, names: Sequence[str], terms: Sequence[Term], df: NDArray[np.int64]) -> Floats:
    """Mean squares; sums of squares below 1e-12 of the total are rounding noise and are set to 0."""
    centred = ratings - ratings.mean()
    total = float((centred**2).sum())
    sums = np.empty(len(terms))
    for i, term in enumerate(terms):
        effect = centred
        for axis, name in enumerate(names):
            if name not in term.indices:
                effect = effect.mean(axis=axis, keepdims=True)
            elif name in term.own:
                effect = effect - effect.mean(axis=axis, keepdims=True)
        sums[i] = float((effect**2).sum()) * (ratings.size / effect.size)
    return np.where(sums <= 1e-12 * total, 0.0, sums) / df


def _estimate(value: float, ends: Floats, square: float, levels: Mapping[str, int], term: Term) -> Estimate:
    n = int(np.prod([levels[name] for name in term.indices]))
    if square == 0:
        return Estimate(float(value), n=n, reason="no interval: this term does not vary at all in these ratings")
    return Estimate(float(value), n=n, low=float(ends[0]), high=float(ends[1]), method="generalized, normal effects")


def _check(ratings: Floats, facets: Sequence[Facet], labels: Mapping[str, Sequence[str]]) -> None:
    names = [facet.name for facet in facets]
    if len(names) < 2 or len(set(names)) < len(names) or ratings.ndim != len(names):
        raise DataError(f"variance components need two or more facets, one for each axis; found {', '.join(names)}")
    for facet in facets:
        absent = set(facet.nested_in) - set(names)
        if absent:
            raise DataError(f"{facet.name} is nested in {', '.join(sorted(absent))}, which is not a facet here")
    for name, count in zip(names, ratings.shape, strict=True):
        if count < 2:
            raise DataError(
                f"{name} has {count} level{'s' if count != 1 else ''}: a variance needs two or more",
                hint=f"leave {name} out of the facets; its variance then hides in the other terms",
            )
    gaps = np.argwhere(np.isnan(ratings))
    if gaps.size:
        where = ", ".join(
            f"{name} {labels[name][at]}" if name in labels else f"{name} {at + 1}"
            for name, at in zip(names, gaps[0].tolist(), strict=True)
        )
        raise DataError(
            f"the design is not balanced: {len(gaps)} of {ratings.size} combinations have no rating, first {where}",
            hint="ask what is missing (judge run, judge retry), or leave out a level of one facet that has gaps",
        )
