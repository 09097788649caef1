"""Correlation of the normal variables behind two ratings: Pearson's r corrected for the ratings' distributions.

Where ratings gather at an end of a bounded scale, Pearson's r is lower although a judge follows people as well there as
elsewhere. If each of two ratings is a rising function of a normal variable, and these two correlate by rho, then

    r(rho) = sum_k a_k b_k rho^k

with a_k and b_k the coefficients of the two functions in normalised Hermite polynomials (Mehler 1866; Lancaster 1957,
Biometrika 44; Cario & Nelson 1997). A rating's function is that of its own distribution in the group, with one step for
each of its values. The correlation rho that gives the r observed does not depend on where a group lies on the scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.correlation.coefficients import MIN_PAIRS, pearson

Floats = NDArray[np.float64]

_TERMS = 40
_POWERS = np.arange(1, _TERMS + 1)
# Largest |rho|: nearer to 1 the series of a step function has not converged.
_MOST = 0.995
_LEAST_SLOPE = 0.05
_HALVINGS = 50
# Story that alone differs from all others: the correlation then rests on it, and no jackknife tells how surely.
_ONE = 1


@dataclass(frozen=True, slots=True)
class LatentCorrelation:
    """Fisher's z of the correlation rho of two normal variables, and its variance by the jackknife over `n` stories."""

    z: float
    variance: float
    n: int


def latent_correlation(x: Floats, y: Floats) -> LatentCorrelation | None:
    """Correlation of the normal variables behind two ratings `x` and `y` (n,) of the same stories, none missing.

    Its variance is the jackknife's of r, carried over by the slope of r(rho) (delta method). None with 3 stories or
    fewer, where a side is constant or differs in one story alone, or where |r| is 1.
    """
    if x.size <= MIN_PAIRS or min(_unusual(x), _unusual(y)) <= _ONE:
        return None
    r = pearson(x, y)
    variance = _jackknife(x, y)
    if abs(r) >= 1 - 1e-12 or variance <= 0:
        return None
    products = _hermite(x) * _hermite(y)
    low, high = -_MOST, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(products @ middle**_POWERS) < r else (low, middle)
    rho = (low + high) / 2
    slope = max(float((products * _POWERS) @ rho ** (_POWERS - 1)), _LEAST_SLOPE)
    return LatentCorrelation(float(np.arctanh(rho)), variance / (slope * (1 - rho**2)) ** 2, x.size)


def _unusual(values: Floats) -> int:
    """Number of values that differ from the most frequent one."""
    return values.size - int(np.unique(values, return_counts=True)[1].max())


def _hermite(values: Floats) -> Floats:
    """Coefficients 1..40 in normalised Hermite polynomials of the step function from a normal to these values."""
    levels, counts = np.unique((values - values.mean()) / values.std(), return_counts=True)
    edges = special.ndtri(np.cumsum(counts)[:-1] / values.size)
    heights = np.diff(levels) * np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    # A jump of height h at e adds h He_{k-1}(e) phi(e) / sqrt(k!) to coefficient k.
    before, now = np.zeros_like(edges), np.ones_like(edges)
    coefficients = np.empty(_TERMS)
    for k in _POWERS:
        coefficients[k - 1] = heights @ now / np.sqrt(k)
        before, now = now, (edges * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return coefficients


def _jackknife(x: Floats, y: Floats) -> float:
    """Jackknife variance of Pearson's r; stories without which a side is constant are left out."""
    m = x.size - 1
    x, y = x - x.mean(), y - y.mean()
    sx, sy = -x, -y
    sxx, syy, sxy = (float((a * b).sum()) - a * b for a, b in ((x, x), (y, y), (x, y)))
    spread = (sxx - sx**2 / m) * (syy - sy**2 / m)
    used = spread > 1e-12
    without = (sxy - sx * sy / m)[used] / np.sqrt(spread[used])
    return m / x.size * float(((without - without.mean()) ** 2).sum()) if used.any() else 0.0
