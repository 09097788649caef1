"""Equivalence tests: two one-sided t tests (TOST) that a difference lies within given bounds.

A mean difference is shown to lie inside (low, high) at level alpha if both one-sided hypotheses, "at or below low" and
"at or above high", are rejected (Schuirmann 1987). That is the case if the 1 - 2 alpha interval lies inside the bounds.
The user chooses the bounds: the smallest differences that would matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.estimation.means import clustered_error


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Result of two one-sided tests that a difference lies within given bounds (equivalence).

    Attributes
    ----------
    difference : Estimate
        The difference with its 1 - 2 alpha interval; for a mean of differences, `n` counts them.
    bounds : tuple of float
        The smallest differences that would matter.
    p_low, p_high : float or None
        One-sided p values of "at or below the lower bound" and of "at or above the upper bound".
    p : float or None
        The larger of the two; equivalence is shown if it is at most alpha.
    """

    difference: Estimate
    bounds: tuple[float, float]
    p_low: float | None = None
    p_high: float | None = None

    @property
    def p(self) -> float | None:
        """p value of the equivalence test, the larger of the two one-sided ones; None where the test is undefined."""
        return None if self.p_low is None or self.p_high is None else max(self.p_low, self.p_high)


def tost(
    differences: NDArray[np.float64],
    low: float,
    high: float,
    *,
    alpha: float = 0.05,
    cluster: NDArray[np.int64] | None = None,
) -> Equivalence:
    """Two one-sided t tests that the mean of differences lies within bounds (Schuirmann 1987).

    Parameters
    ----------
    differences : array, shape (n differences,)
        In points of the scale; NaN = missing, left out.
    low, high : float
        Bounds: the smallest differences that would matter, in the unit of the differences.
    alpha : float
        Significance level of each of the two tests.
    cluster : array of int, shape (n differences,), optional
        Cluster of each difference. Clusters are independent: the standard error is that of `means.clustered`, with
        clusters - 1 degrees of freedom. None = all differences are independent.

    Returns
    -------
    Equivalence
        Undefined with fewer than two differences, and where all are equal, since the t test then has no variance.

    Raises
    ------
    ValueError
        If the bounds are not in ascending order.
    """
    present = ~np.isnan(differences)
    d = differences[present]
    n = d.size
    if n < 2:
        _ascending(low, high)
        return Equivalence(Estimate.undefined("undefined with fewer than 2 differences", n=n), (low, high))
    group = np.arange(n) if cluster is None else np.unique(cluster[present], return_inverse=True)[1].reshape(-1)
    error, clusters = clustered_error(d, group)
    mean = Estimate(float(d.mean()), n=n, method=None if cluster is None else "clustered by story-prompt")
    if error is None:
        _ascending(low, high)
        return Equivalence(replace(mean, reason="no test: differences for one story-prompt only"), (low, high))
    return tost_of(mean, error, clusters - 1, low, high, alpha=alpha)


def tost_of(
    difference: Estimate, error: float, df: float, low: float, high: float, *, alpha: float = 0.05, skew: float = 0.0
) -> Equivalence:
    """Two one-sided t tests of a difference with a standard error, such as a difference of two correlations.

    Parameters
    ----------
    difference : Estimate
        The difference; if it is undefined there is no test.
    error : float
        Its standard error; 0 where all differences are equal, which allows no test.
    df : float
        Degrees of freedom of the standard error.
    low, high : float
        The smallest differences that would matter.
    alpha : float
        Significance level of each of the two tests, and of the equivalence test.
    skew : float
        Skewness of the averaged values (such as story-prompts' pseudo-values), divided by the square root of their
        number. It causes an error of this order in each one-sided test, in either direction (Hall 1992, Journal of
        the Royal Statistical Society B 54, 221-228). If given, the more conservative of Student's t and Hall's
        corrected t is used.

    Returns
    -------
    Equivalence
        Without p values, and with the reason, where there is no test.

    Raises
    ------
    ValueError
        If the bounds are not in ascending order.
    """
    from scipy import stats

    _ascending(low, high)
    mean = difference.value
    if mean is None:
        return Equivalence(difference, (low, high))
    if error < 1e-12:
        return Equivalence(replace(difference, reason="no test: the differences are all equal"), (low, high))
    quantile = float(stats.t.ppf(1 - alpha, df))
    method = ", ".join(part for part in ("t", difference.method, f"{100 * (1 - 2 * alpha):.0f} %") if part)
    below = max(quantile, _uncorrected(quantile, skew))
    above = max(quantile, -_uncorrected(-quantile, skew))
    from_low, from_high = (mean - low) / error, (mean - high) / error
    return Equivalence(
        replace(difference, low=mean - below * error, high=mean + above * error, method=method),
        (low, high),
        p_low=float(stats.t.sf(min(from_low, _corrected(from_low, skew)), df)),
        p_high=float(stats.t.cdf(max(from_high, _corrected(from_high, skew)), df)),
    )


def _corrected(t: float, skew: float) -> float:
    """The t statistic after Hall's monotone transformation, which removes the effect of skewness.

    `skew` is the skewness of the averaged values divided by the square root of their number.
    """
    return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6


def _uncorrected(t: float, skew: float) -> float:
    """The t statistic that `_corrected` would transform into `t`: the inverse of Hall's transformation."""
    if abs(skew) < 1e-9:
        return t
    return float(3 / skew * (np.cbrt(1 + skew * (t - skew / 6)) - 1))


def _ascending(low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"equivalence bounds must ascend: {low}, {high}")
