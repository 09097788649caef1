"""Mean squares of random-effects designs with missing ratings, and their expectations (analogous ANOVA).

All facets are random. A facet may be nested in others: for example, repeats of one query have nothing in common with
repeats of another. All interactions that the nesting allows are terms of the model. The *index set* of a term is the
set of facets that identify one of its effects; for ``repeat in system x story-prompt`` these are all three.

The method is Henderson's Method I (1953, Biometrics 9; Searle, Casella & McCulloch 1992, Variance Components, section
5.3), which Brennan 2001 (Generalizability Theory, chapter 7) calls the analogous-ANOVA procedure. For a term A, a
*combination* is one combination of the levels of the facets in its index set:

- T(A) = sum over a of (sum of ratings in a)² / n(a), where a runs over the combinations of A, and n(a) is the number
  of ratings in a.
- In the expectation of T(A), the coefficient of sigma²(B) is the sum over a of (sum over b of n(a, b)²) / n(a), where
  b runs over the combinations of B, and n(a, b) is the number of ratings that are in both a and b.
- The sum of squares of A is T(A) minus the sum of squares of the mean and of every other term whose facets are all
  facets of A. The degrees of freedom are the same difference of the numbers of combinations that are rated.

If a facet is nested in all others (repeats), T is computed from the means over its levels, and each query counts once,
however many repeats it has (unweighted means: Thomas & Hultquist 1978, Annals of Statistics 6; Burdick & Graybill 1992,
Confidence Intervals on Variance Components, chapter 5). The mean square of the repeats is pooled within queries. A lost
repeat therefore hardly affects the balance. Without missing ratings the result is the ordinary analysis of variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet of the design, such as systems or repeats; its levels differ between levels of `nested_in`."""

    name: str
    nested_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """An effect in the model: its `own` facets, and the `outer` facets in which own facets are nested."""

    own: tuple[str, ...]
    outer: tuple[str, ...] = ()

    @property
    def indices(self) -> frozenset[str]:
        """The facets that identify one of its effects, own and outer."""
        return frozenset(self.own + self.outer)

    def __str__(self) -> str:
        return " x ".join(self.own) + (f" in {' x '.join(self.outer)}" if self.outer else "")


@dataclass(frozen=True, slots=True, eq=False)
class Anova:
    """Mean squares of all terms; arrays have one entry per term, terms with the fewest facets first.

    `df` is below 1 where too few combinations are rated. `squares` are mean squares; below 1e-12 of the total variation
    they are rounding errors, set to 0. Row A of `expected` (terms, terms) holds the coefficient of each sigma²(B) in
    A's expected mean square. `seen` counts the combinations of the term's facets' levels that have a rating.
    """

    terms: tuple[Term, ...]
    df: NDArray[np.int64]
    squares: Floats
    expected: Floats
    seen: NDArray[np.int64]


def analogous_anova(ratings: Floats, facets: Sequence[Facet]) -> Anova:
    """Mean squares of a random-effects design and their expectations (Henderson's Method I).

    `ratings` has one axis per facet, in the order of `facets`; NaN = no rating. The axis of a nested facet counts
    levels within each combination of the facets in which it is nested. A facet nested in all others (repeats) is
    averaged; each query counts once. NaN where a term has no degrees of freedom.
    """
    terms = _terms_of(facets)
    names = [facet.name for facet in facets]
    finest = next((f.name for f in facets if set(f.nested_in) == set(names) - {f.name}), None)
    if finest is None:
        cells, repeats = _centred(ratings), None
        sums = _Sums(cells, np.zeros(cells.shape), names)
    else:
        y = np.moveaxis(ratings, names.index(finest), -1)
        count = np.asarray((~np.isnan(y)).sum(axis=-1), dtype=np.float64)
        means = np.nansum(y, axis=-1) / np.where(count > 0, count, np.nan)
        within = y - means[..., None]
        repeats = (float(np.nansum(within**2)), int(count.sum() - (count > 0).sum()))
        shared = np.divide(1.0, count, out=np.zeros_like(count), where=count > 0)
        sums = _Sums(_centred(means), shared, [name for name in names if name != finest])
    above = [term.indices for term in terms if finest not in term.indices]
    squares, expected, df = sums.of(above)
    if repeats is not None:  # the scale of single ratings, as without gaps: times the (harmonic mean) number of repeats
        each = float((sums.shared > 0).sum() / sums.shared.sum())
        squares, expected = np.append(squares * each, repeats[0]), expected * each
        last = np.zeros(len(terms))
        last[-1] = repeats[1]
        expected, df = np.vstack([expected, last]), np.append(df, repeats[1])
    total = float(np.nansum(_centred(ratings) ** 2))
    squares = np.where(np.abs(squares) <= 1e-12 * total, 0.0, squares)
    seen = [sums.combinations(indices) for indices in above]
    if repeats is not None:
        seen.append(int((~np.isnan(ratings)).sum()))
    degrees = np.where(df > 0, df, np.nan)
    return Anova(
        terms=tuple(terms),
        df=np.asarray(np.rint(df), dtype=np.int64),
        squares=squares / degrees,
        expected=expected[:, : len(terms)] / degrees[:, None],
        seen=np.array(seen, dtype=np.int64),
    )


def _terms_of(facets: Sequence[Facet]) -> list[Term]:
    """All sets of facets that contain, with each facet, those in which it is nested."""
    nests = {facet.name: set(facet.nested_in) for facet in facets}
    for _ in facets:  # nested also in what its nest is nested in
        nests = {name: nest | {outer for inner in nest for outer in nests[inner]} for name, nest in nests.items()}
    facet_terms = []
    for size in range(1, len(facets) + 1):
        for chosen in combinations([facet.name for facet in facets], size):
            outer = set().union(*(nests[name] for name in chosen))
            if outer <= set(chosen):
                own = tuple(name for name in chosen if name not in outer)
                facet_terms.append(Term(own, tuple(name for name in chosen if name in outer)))
    return facet_terms


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums over combinations of levels; both arrays have an axis per facet in `names`.

    `cells` holds the centred mean over the repeats of each query, `shared` the reciprocal of their number, or 0 if
    repeats are not a facet.
    """

    cells: Floats
    shared: Floats
    names: Sequence[str]

    def of(self, sets: Sequence[frozenset[str]]) -> tuple[Floats, Floats, Floats]:
        """Sum of squares, coefficients of its expectation (those of the repeats last) and df of each index set."""
        every = [frozenset[str](), *sets]
        counts = {a | b: self._count(a | b) for a in every for b in every}
        t, seen = np.empty(len(every)), np.empty(len(every))
        weights = np.empty((len(every), len(every) + 1))
        for i, a in enumerate(every):
            number = np.where(counts[a] > 0, counts[a], np.inf)  # an empty combination adds nothing
            t[i] = float((self._over(np.nan_to_num(self.cells), a) ** 2 / number).sum())
            seen[i] = float((counts[a] > 0).sum())
            for j, b in enumerate(every):
                weights[i, j] = float((self._over(counts[a | b] ** 2, a) / number).sum())
            weights[i, -1] = float((self._over(self.shared, a) / number).sum())
        less = np.eye(len(every))
        for i, a in enumerate(every):
            for j, b in enumerate(every):
                if b < a:
                    less[i] -= less[j]
        return (less @ t)[1:], (less @ weights)[1:, 1:], (less @ seen)[1:]

    def combinations(self, indices: frozenset[str]) -> int:
        return int((self._count(indices) > 0).sum())

    def _count(self, indices: frozenset[str]) -> Floats:
        return self._over(np.asarray(~np.isnan(self.cells), dtype=np.float64), indices)

    def _over(self, values: Floats, indices: frozenset[str]) -> Floats:
        """Sums over the axes not in `indices`, kept with length 1."""
        axes = tuple(i for i, name in enumerate(self.names) if name not in indices)
        return np.asarray(values.sum(axis=axes, keepdims=True), dtype=np.float64)


def _centred(values: Floats) -> Floats:
    # Avoids a loss of precision where the mean is large.
    return np.asarray(values - np.nanmean(values), dtype=np.float64)
