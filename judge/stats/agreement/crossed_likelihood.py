"""Restricted likelihood of two crossed random effects, for any pattern of missing ratings.

With incidence matrices Z of stories and W of raters, the covariance is proportional to I + a ZZ' + b WW'. The effect
with more levels is inverted level by level, and the other one by Woodbury's identity. Only a matrix of the size of the
latter (usually the number of raters) is therefore decomposed. Levels of the larger effect with equally many ratings
enter as one sum, computed once, so that the time of an evaluation does not depend on the number of stories. Restricted
likelihood: Searle, Casella & McCulloch 1992, Variance Components, section 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CrossedLikelihood:
    """Sums over the ratings from which the restricted likelihood of crossed story and rater effects is computed.

    The levels of the larger effect (usually stories) are grouped by their number of ratings m, in g groups. u stands
    for the columns (1, y - mean), and p for the number of levels of the smaller effect. `swapped`: whether the smaller
    effect is the stories.
    """

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
        """The likelihood of ratings in long form (one entry per rating).

        Parameters
        ----------
        story, rater : array of int, shape (n ratings,)
            Codes 0, 1, ..., each of which occurs.
        y : array, shape (n ratings,)
            Ratings in points of the scale, none missing.

        Returns
        -------
        CrossedLikelihood
            Its larger effect is the one with more levels.
        """
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
        """-2 log restricted likelihood up to a constant, with mean and scale profiled out.

        Parameters
        ----------
        rho : float
            Share of the variance of one rating that is due to stories, from 0 to below 1.
        phi : float
            Share of the remaining variance that is due to raters, from 0 to below 1.

        Returns
        -------
        float
            NaN where the likelihood does not exist.
        """
        return self._solve(rho, phi)[0]

    def scale(self, rho: float, phi: float) -> float:
        """Estimated variance of one rating: the sum of story, rater and error variance.

        Parameters
        ----------
        rho : float
            Share of the variance of one rating that is due to stories, from 0 to below 1.
        phi : float
            Share of the remaining variance that is due to raters, from 0 to below 1.

        Returns
        -------
        float
            In squared points of the scale; NaN where the likelihood does not exist.
        """
        return self._solve(rho, phi)[1]

    def _solve(self, rho: float, phi: float) -> tuple[float, float]:
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
