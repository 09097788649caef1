"""ICC from crossed random effects (REML), for raters who did not all rate the same stories.

The model is rating = mu + story + rater + error. All three effects are random, and any pattern of who rated what is
allowed. With the variances s² (stories), r² (raters) and e² (error):

- ICC(A,1) = s² / (s² + r² + e²), the counterpart of ICC(2,1): agreement of one rating with another rater's;
- ICC(A,k) = s² / (s² + (r² + e²) / k), the counterpart of ICC(2,k): reliability of the mean of k raters' ratings.

The formulas are those of McGraw & Wong 1996, table 4, with variance components in place of mean squares. For complete
tables with positive components both give equal values, since REML equals ANOVA there (Searle, Casella & McCulloch 1992,
section 6.7).

With mean and scale profiled out, the restricted likelihood is a function of two shares between 0 and 1: rho = ICC(A,1)
and phi = r² / (r² + e²). Variances are therefore never negative. The interval of rho is the profile-likelihood
interval: all rho whose -2 log likelihood, minimised over phi, is within chi²(1) of the minimum (Venzon & Moolgavkar
1988, Applied Statistics 37)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import CONFIDENCE, Estimate

# Restricted likelihood of two crossed random effects, for any pattern of missing ratings.


@dataclass(frozen=True, slots=True, eq=False)
class CrossedLikelihood:
    """Sums over the ratings from which the restricted likelihood of crossed story and rater effects is computed.

    The levels of the larger effect (usually stories) are grouped by their number of ratings m, in g groups. u stands
    for the columns (1, y - mean), p for the number of levels of the smaller effect; `swapped` where that is the
    stories."""

    n: int
    size: Floats  # (g,) m
    levels: Floats  # (g,) how many levels
    outer: Floats  # (g, p, p) sums of products of the levels' incidence rows
    mixed: Floats  # (g, p, 2) sums of incidence times the levels' sums of u
    square: Floats  # (g, 2, 2) sums of products of the levels' sums of u
    count: Floats  # (p,) ratings of each level of the smaller side
    small: Floats  # (p, 2) their sums of u
    whole: Floats  # (2, 2) u'u
    swapped: bool

    @classmethod
    def of(cls, story: Codes, rater: Codes, y: Floats) -> CrossedLikelihood:
        """The likelihood of ratings `y` (n,), none missing; `story` and `rater` are codes 0, 1, ... that all occur."""
        from scipy import sparse

        stories, raters = int(story.max()) + 1, int(rater.max()) + 1
        swapped = stories < raters
        large, little = (rater, story) if swapped else (story, rater)
        u = np.column_stack([np.ones(y.size), y - y.mean()])
        shape = (int(large.max()) + 1, int(little.max()) + 1)
        incidence = sparse.csr_array((np.ones(y.size), (large, little)), shape=shape)
        sums, small = _sums(large, u), _sums(little, u)
        size, group = np.unique(sums[:, 0], return_inverse=True)
        parts = [(incidence[group == g], sums[group == g]) for g in range(size.size)]
        return cls(
            n=y.size,
            size=size,
            levels=np.bincount(group).astype(np.float64),
            outer=np.array([(rows.T @ rows).toarray() for rows, _ in parts]),
            mixed=np.array([rows.T @ part for rows, part in parts]),
            square=np.array([part.T @ part for _, part in parts]),
            count=small[:, 0],
            small=small,
            whole=u.T @ u,
            swapped=swapped,
        )

    def deviance(self, rho: float, phi: float) -> float:
        """-2 log restricted likelihood up to a constant, mean and scale profiled out; NaN where it does not exist.

        `rho` is the stories' share of the variance of one rating, `phi` the raters' share of the rest, each from 0 to
        below 1."""
        return self._solve(rho, phi)[0]

    def scale(self, rho: float, phi: float) -> float:
        """Estimated variance of one rating (story, rater and error); `rho` and `phi` are as in `deviance`."""
        return self._solve(rho, phi)[1]

    def _solve(self, rho: float, phi: float) -> tuple[float, float]:
        from scipy import linalg

        error = (1 - rho) * (1 - phi)
        large, little = rho / error, phi / (1 - phi)
        if self.swapped:
            large, little = little, large
        shrink = large / (1 + large * self.size)
        products = self.whole - np.tensordot(shrink, self.square, 1)
        reduced = self.small - np.tensordot(shrink, self.mixed, 1)
        core = little * (np.diag(self.count) - np.tensordot(shrink, self.outer, 1))
        core[np.diag_indices_from(core)] += 1.0
        factor, solved, failed = linalg.lapack.dposv(core, reduced, lower=1)
        if failed:
            return float("nan"), float("nan")
        products = products - little * (reduced.T @ solved)
        quadratic = products[1, 1] - products[0, 1] ** 2 / products[0, 0]
        quadratic = max(quadratic, 1e-13 * self.whole[1, 1])  # rounding, where no error is left
        logs = self.levels @ np.log1p(large * self.size) + 2 * np.log(np.diag(factor)).sum()
        deviance = (self.n - 1) * np.log(quadratic) + logs + np.log(products[0, 0])
        return float(deviance), float(quadratic / (self.n - 1) / error)


def _sums(codes: Codes, columns: Floats) -> Floats:
    sums = [np.bincount(codes, weights=column) for column in columns.T]
    return np.column_stack(sums).astype(np.float64)


# Largest share that is tried.
_TOP = 1.0 - 1e-7

# An optimum above means that no error variance is left.
_NO_ERROR = 1.0 - 1e-5

# Shares from which a search starts.
_GRID = np.array([0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.999, _TOP])

_PRECISE = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 1000}


@dataclass(frozen=True, slots=True)
class CrossedEffects:
    """Agreement (ICC) with its variance components.

    `single` is ICC(A,1), `average` ICC(A,k) for the mean of `k` ratings by different raters; n counts stories. `story`,
    `rater` and `error` are variances in squared points, None where the agreement is undefined. `boundary` is a sentence
    on which variances are estimated as 0."""

    single: Estimate
    average: Estimate
    k: float
    story: float | None
    rater: float | None
    error: float | None
    stories: int
    raters: int
    ratings: int
    boundary: str | None = None


def crossed_effects(story: Codes, rater: Codes, rating: Floats, *, k: float) -> CrossedEffects:
    """ICCs and variance components by a fit of crossed random effects of story and rater to ratings in long form.

    `story` and `rater` (n ratings,) are any codes; `rating` (n ratings,) is in points, NaN left out. `k` is the number
    of ratings in the mean of ICC(A,k).

    Undefined, with a reason: fewer than 2 stories or raters; all ratings equal; a pattern that does not identify the
    three variances (e.g. each rater rated one story); an unbounded likelihood (no error besides rater effects); a
    search that did not converge. If all ratings of each story are equal, the value is 1, without an interval."""
    present = ~np.isnan(rating)
    names, a = np.unique(story[present], return_inverse=True)
    people, b = np.unique(rater[present], return_inverse=True)
    y = rating[present]
    counts = (names.size, people.size, y.size)
    reason = _reason(a, b, y)
    if reason:
        return _without(Estimate.undefined(reason, n=names.size), k, counts)
    likelihood = CrossedLikelihood.of(a, b, y)
    within = y - np.bincount(a, weights=y)[a] / np.bincount(a)[a]
    # Without error the likelihood has no maximum, and the value is known without a fit.
    if float((within**2).sum()) <= 1e-12 * float(((y - y.mean()) ** 2).sum()):
        why = "no interval: the ratings of each story are equal, no error is left"
        return _without(Estimate(1.0, n=names.size, reason=why), k, counts)

    rho, phi, least = _search(likelihood.deviance)
    if not np.isfinite(least):
        return _without(Estimate.undefined("undefined: the likelihood did not converge", n=names.size), k, counts)
    if max(rho, phi) > _NO_ERROR:
        why = "undefined: no error is left after the raters' leniency, and the likelihood has no maximum"
        return _without(Estimate.undefined(why, n=names.size), k, counts)
    return _fitted(likelihood, (rho, phi, least), k, counts)


def _fitted(
    likelihood: CrossedLikelihood, minimum: tuple[float, float, float], k: float, counts: tuple[int, int, int]
) -> CrossedEffects:
    """ICCs and variance components at the `minimum` of the deviance: rho, phi and the deviance."""
    from scipy import stats

    (rho, phi, least), (stories, raters, ratings) = minimum, counts
    low, high = _ends(likelihood.deviance, rho, least + float(stats.chi2.ppf(CONFIDENCE, 1)))
    scale = likelihood.scale(rho, phi)
    zero = [name for name, share in (("stories", rho), ("raters", phi)) if share == 0]
    method = "REML, profile likelihood, 95 %"
    return CrossedEffects(
        single=Estimate(rho, n=stories, low=low, high=high, method=method),
        average=Estimate(_mean_of(rho, k), n=stories, low=_mean_of(low, k), high=_mean_of(high, k), method=method),
        k=k,
        story=scale * rho,
        rater=scale * (1 - rho) * phi,
        error=scale * (1 - rho) * (1 - phi),
        stories=stories,
        raters=raters,
        ratings=ratings,
        boundary=f"the variance between {' and between '.join(zero)} is estimated as 0" if zero else None,
    )


def _mean_of(rho: float, k: float) -> float:
    """Spearman-Brown formula."""
    return k * rho / (1 + (k - 1) * rho)


def _without(single: Estimate, k: float, counts: tuple[int, int, int]) -> CrossedEffects:
    return CrossedEffects(single, single, k, None, None, None, *counts)


def _search(deviance: Callable[[float, float], float]) -> tuple[float, float, float]:
    """Shares (rho, phi) with the smallest deviance, and that deviance; NaN where the search does not converge."""
    values = np.array([[deviance(rho, phi) for phi in _GRID] for rho in _GRID])
    i, j = np.unravel_index(values.argmin(), values.shape)
    rho, phi = float(_GRID[i]), float(_GRID[j])
    # An own first simplex: scipy's is tiny where a share is 0.
    options: Any = {"initial_simplex": [[rho, phi], [_beside(int(i)), phi], [rho, _beside(int(j))]], **_PRECISE}

    def at(shares: Floats, *_: Any, **__: Any) -> float:
        return deviance(float(shares[0]), float(shares[1]))

    from scipy import optimize

    optimum = optimize.minimize(
        at, [rho, phi], method="Nelder-Mead", bounds=[(0.0, _TOP), (0.0, _TOP)], options=options
    )
    converged = optimum.success or max(optimum.x) > _NO_ERROR  # up there rounding keeps the search from ending
    if not converged or not np.isfinite(values).all():
        return float("nan"), float("nan"), float("nan")
    edge_phi, at_rho_0 = _least(lambda phi: deviance(0.0, phi))
    edge_rho, at_phi_0 = _least(lambda rho: deviance(rho, 0.0))
    # A share is set to exactly 0 unless a larger value fits better.
    candidates = [
        (at_rho_0, 0.0, edge_phi),
        (at_phi_0, edge_rho, 0.0),
        (float(optimum.fun) + 1e-9, float(optimum.x[0]), float(optimum.x[1])),
    ]
    least, rho, phi = min(candidates)
    return rho, phi, least


def _beside(index: int) -> float:
    """Midpoint between a point of the grid and the next one (for the last one, the one before)."""
    return float(_GRID[index] + _GRID[index + 1 if index + 1 < _GRID.size else index - 1]) / 2


def _least(function: Callable[[float], float]) -> tuple[float, float]:
    """Share at which a function is smallest, and its value: bounded Brent search around the best point of the grid."""
    values = np.array([function(float(share)) for share in _GRID])
    best = int(values.argmin())
    bounds = (float(_GRID[max(best - 1, 0)]), float(_GRID[min(best + 1, _GRID.size - 1)]))
    from scipy import optimize

    minimum = optimize.minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    if minimum.fun >= values[best] - 1e-10:
        return float(_GRID[best]), float(values[best])
    return float(minimum.x), float(minimum.fun)


def _ends(deviance: Callable[[float, float], float], rho: float, cutoff: float) -> tuple[float, float]:
    """Where the deviance, minimised over phi, crosses the cutoff; 0 or 1 where it does not."""

    def above(share: float) -> float:
        return _least(lambda phi: deviance(share, phi))[1] - cutoff

    from scipy import optimize

    low = float(optimize.brentq(above, 0.0, rho, xtol=1e-5)) if rho > 0 and above(0.0) > 0 else 0.0
    high = float(optimize.brentq(above, rho, _TOP, xtol=1e-5)) if above(_TOP) > 0 else 1.0
    return low, high


def _reason(story: Codes, rater: Codes, y: Floats) -> str | None:
    stories, raters = np.bincount(story), np.bincount(rater)
    if stories.size < 2:
        return "undefined with fewer than 2 stories"
    if raters.size < 2:
        return "undefined with fewer than 2 raters"
    if float(np.ptp(y)) < 1e-9:
        return "undefined because all ratings are equal (0/0)"
    if not _told_apart(story, rater, stories, raters):
        return (
            "undefined: variances of stories, raters and error cannot be separated in this pattern of who rated what "
            "(several stories must have several raters, and several raters several stories)"
        )
    return None


def _told_apart(story: Codes, rater: Codes, stories: Codes, raters: Codes) -> bool:
    """Whether the pattern of who rated which story identifies the variances of stories, raters and error.

    It does if the three covariance matrices, projected to remove the mean, are linearly independent. This is tested by
    the smallest eigenvalue of their matrix of products tr(P A P B), for A and B among ZZ' of stories, ZZ' of raters,
    and I."""
    n = float(story.size)
    pairs = np.unique(story * raters.size + rater, return_counts=True)[1].astype(np.float64)
    s, r = stories.astype(np.float64), raters.astype(np.float64)
    traces = np.array([[s @ s, pairs @ pairs, n], [pairs @ pairs, r @ r, n], [n, n, n]])
    both = float((s[story] * r[rater]).sum())
    inner = np.array([[(s**3).sum(), both, s @ s], [both, (r**3).sum(), r @ r], [s @ s, r @ r, n]])
    sums = np.array([s @ s, r @ r, n])
    gram = traces - 2 * inner / n + np.outer(sums, sums) / n**2
    scale = np.sqrt(np.diag(gram))
    if (scale < 1e-9).any():
        return False
    return bool(np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] > 1e-9)
