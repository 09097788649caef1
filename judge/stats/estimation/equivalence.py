"""Is a difference small enough to be none? Two one-sided t tests. Never takes "not significant" for "equal".

TOST (Schuirmann 1987): a mean difference is shown to lie inside (low, high) at level alpha when both "at or below low"
and "at or above high" are rejected one-sidedly, which is when the 1 - 2 alpha interval lies inside the bounds. The
bounds are the user's: what difference would not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate
from judge.stats.estimation.means import clustered_error


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Result of two one-sided tests.

    Attributes
    ----------
    difference : Estimate
        Mean difference with the 1 - 2 alpha interval; `n` counts differences.
    bounds : tuple of float
        The smallest differences that would matter.
    p_low, p_high : float or None
        p of "at or below the lower bound" and of "at or above the upper bound", one-sided.
    p : float or None
        The larger of both: equivalence is shown where it is at most alpha.
    """

    difference: Estimate
    bounds: tuple[float, float]
    p_low: float | None = None
    p_high: float | None = None

    @property
    def p(self) -> float | None:
        """p value of the pair of tests."""
        return None if self.p_low is None or self.p_high is None else max(self.p_low, self.p_high)


def tost(
    differences: NDArray[np.float64],
    low: float,
    high: float,
    *,
    alpha: float = 0.05,
    cluster: NDArray[np.int64] | None = None,
) -> Equivalence:
    """Two one-sided t tests of the mean of differences (n,), NaN left out.

    Differences are independent, or, with `cluster` (n,), those with unequal codes are: the standard error is then that
    of `means.clustered`, with clusters - 1 degrees of freedom. Undefined with fewer than two differences, and where
    they are all equal: a t test has no variance to go by then.

    Raises
    ------
    ValueError
        The bounds are not ascending.
    """
    known = ~np.isnan(differences)
    d = differences[known]
    n = d.size
    if n < 2:
        _ascending(low, high)
        return Equivalence(Estimate.undefined("undefined with fewer than 2 differences", n=n), (low, high))
    group = np.arange(n) if cluster is None else np.unique(cluster[known], return_inverse=True)[1].reshape(-1)
    error, clusters = clustered_error(d, group)
    mean = Estimate(float(d.mean()), n=n, method=None if cluster is None else "clustered by story-prompt")
    if error is None:
        _ascending(low, high)
        return Equivalence(replace(mean, reason="no test: differences for one story-prompt only"), (low, high))
    return tost_of(mean, error, clusters - 1, low, high, alpha=alpha)


def tost_of(
    difference: Estimate, error: float, df: float, low: float, high: float, *, alpha: float = 0.05
) -> Equivalence:
    """Two one-sided t tests of any difference with a standard error, e.g. of two correlations over story-prompts.

    Parameters
    ----------
    difference : Estimate
        Its value; an undefined one has no test.
    error : float
        Its standard error; 0 where all differences are equal, which leaves nothing to test by.
    df : float
        Degrees of freedom of the standard error.
    low, high : float
        The smallest differences that would matter.
    alpha : float
        Level of each of the two tests, and of both together.

    Raises
    ------
    ValueError
        The bounds are not ascending.
    """
    from scipy import stats

    _ascending(low, high)
    mean = difference.value
    if mean is None:
        return Equivalence(difference, (low, high))
    if error < 1e-12:
        return Equivalence(replace(difference, reason="no test: the differences are all equal"), (low, high))
    half = float(stats.t.ppf(1 - alpha, df)) * error
    method = ", ".join(part for part in ("t", difference.method, f"{100 * (1 - 2 * alpha):.0f} %") if part)
    return Equivalence(
        replace(difference, low=mean - half, high=mean + half, method=method),
        (low, high),
        p_low=float(stats.t.sf((mean - low) / error, df)),
        p_high=float(stats.t.cdf((mean - high) / error, df)),
    )


def _ascending(low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"equivalence bounds must ascend: {low}, {high}")
