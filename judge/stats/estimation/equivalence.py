"""Equivalence tests: two one-sided t tests (TOST) that a difference lies within given bounds.

A mean difference is shown to lie inside (low, high) at level alpha if both one-sided hypotheses, "at or below low" and
"at or above high", are rejected (Schuirmann 1987). That is the case if the 1 - 2 alpha interval lies inside the bounds.
The user chooses the bounds: the smallest differences that would matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.stats.estimation.means import clustered_error


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Result of two one-sided tests that a difference lies within `bounds`, the smallest differences that would matter.

    `difference` has its 1 - 2 alpha interval. `p_low` and `p_high` are of "at or below the lower bound" and of "at or
    above the upper bound".
    """

    difference: Estimate
    bounds: tuple[float, float]
    p_low: float | None = None
    p_high: float | None = None

    @property
    def p(self) -> float | None:
        """The larger of the two one-sided p; equivalence is shown if it is at most alpha. None where undefined."""
        return None if self.p_low is None or self.p_high is None else max(self.p_low, self.p_high)


def tost(
    differences: Floats,
    low: float,
    high: float,
    *,
    alpha: float = 0.05,
    cluster: Codes | None = None,
) -> Equivalence:
    """Two one-sided t tests that the mean of `differences` (n,), without NaN, is in (`low`, `high`) (Schuirmann 1987).

    `alpha` is the level of each. `cluster` (n,) holds independent clusters: the error is that of `means.clustered`,
    with clusters - 1 degrees of freedom; None = differences are independent. Undefined with fewer than two differences;
    no test where all are equal. ValueError if the bounds do not ascend.
    """
    present = ~np.isnan(differences)
    d = differences[present]
    n = d.size
    if n < 2:
        _ascending(low, high)
        return Equivalence(Estimate.undefined("undefined with fewer than 2 differences", n=n), (low, high))
    group = np.arange(n) if cluster is None else renumbered(cluster[present])
    error, clusters = clustered_error(d, group)
    mean = Estimate(float(d.mean()), n=n, method=None if cluster is None else "clustered by story-prompt")
    if error is None:
        _ascending(low, high)
        return Equivalence(replace(mean, reason="no test: differences for one story-prompt only"), (low, high))
    return tost_of(mean, error, clusters - 1, low, high, alpha=alpha)


def tost_of(
    difference: Estimate, error: float, df: float, low: float, high: float, *, alpha: float = 0.05, skew: float = 0.0
) -> Equivalence:
    """Two one-sided t tests of a `difference` with a standard `error`, such as a difference of two correlations.

    `error` has `df` degrees of freedom; 0 (all differences equal) allows no test. `low` and `high` are the smallest
    differences that would matter (ValueError if they do not ascend), and `alpha` is the level. `skew` is the skewness
    of the averaged values (such as story-prompts' pseudo-values), divided by the square root of their number. It causes
    an error of this order in each one-sided test, in either direction (Hall 1992, Journal of the Royal Statistical
    Society B 54, 221-228): the more conservative of Student's t and Hall's corrected t is used.
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
    """t after Hall's monotone transformation, which removes the effect of skewness."""
    return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6


def _uncorrected(t: float, skew: float) -> float:
    """Inverse of Hall's transformation."""
    if abs(skew) < 1e-9:
        return t
    return float(3 / skew * (np.cbrt(1 + skew * (t - skew / 6)) - 1))


def _ascending(low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"equivalence bounds must ascend: {low}, {high}")
