"""Isotonic regression: the non-decreasing curve with the smallest squared error.

The curve f minimises sum_i w_i (y_i - f(x_i))^2 among non-decreasing curves; it is computed by pooling adjacent
violators (Ayer et al. 1955, An Empirical Distribution Function for Sampling with Incomplete Information, section 2;
Barlow et al. 1972, chapter 1). Equal x are merged into one point with the weighted mean of their y, so that ties share
one prediction (Kruskal 1964, secondary approach).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import kendall

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A fitted isotonic curve: `scores` holds the k distinct scores in ascending order, and `values` the prediction for
    each; predictions never decrease.
    """

    scores: Floats
    values: Floats

    def predict(self, x: Floats) -> Floats:
        """Predictions of the fitted isotonic curve, in the units of the fitted responses and in the shape of `x`. They
        are interpolated linearly between fitted scores and constant outside their range.

        Parameters
        ----------
        x : array, any shape
            Scores; NaN gives NaN.
        """
        return np.asarray(np.interp(x, self.scores, self.values), dtype=np.float64)


def fit_isotonic(x: Floats, y: Floats) -> Isotonic:
    """The isotonic regression of y on x by pooling adjacent violators (Ayer et al. 1955).

    Parameters
    ----------
    x, y : array, shape (n,)
        Scores and responses. Pairs with a missing side (NaN) are left out; scores that are equal to 1e-9 share one
        prediction.

    Returns
    -------
    Isotonic
        Distinct scores in ascending order with predictions in the unit of y.

    Raises
    ------
    ValueError
        There is no pair without NaN.
    """
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size == 0:
        raise ValueError("isotonic regression needs a pair of score and response")
    level = kendall.codes(x)
    mass = np.bincount(level).astype(np.float64)
    scores, means = (np.bincount(level, weights=side) / mass for side in (x, y))
    return Isotonic(scores, pooled(means, mass))


def pooled(values: Floats, weights: Floats) -> Floats:
    """The non-decreasing sequence, shape (k,), with the smallest weighted squared distance from `values`; computed by
    averaging adjacent values that violate the order.

    Parameters
    ----------
    values : array, shape (k,)
        Responses in the order of the scores, without NaN.
    weights : array, shape (k,)
        Weight of each value, above 0.
    """
    # A stack of blocks, each with its mean, its weight and how many values it holds; one pass, O(k).
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, size = value, weight, 1
        while means and means[-1] >= mean:
            before = masses.pop()
            mean = (means.pop() * before + mean * mass) / (before + mass)
            mass += before
            size += sizes.pop()
        means.append(mean)
        masses.append(mass)
        sizes.append(size)
    return np.repeat(np.array(means), sizes)
