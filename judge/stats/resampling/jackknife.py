"""Delete-a-cluster jackknife: standard error and t test of any smooth statistic of weighted stories.

The jackknife leaves out one cluster (a story-prompt with all its stories) at a time; its variance estimate is
(G - 1) / G * sum_g (theta_(g) - mean)^2 (Efron & Tibshirani 1993, equation 11.5, with clusters for observations; for
means it is the cluster-robust variance CR3 up to (G - 1) / G). Tests refer theta / se to Student's t with G - 1 degrees
of freedom. Not for statistics that jump, such as medians or ranks of a handful of systems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Tail = Literal["two-sided", "greater", "less"]
Statistic = Callable[[Floats], Floats]
"""From weights (b, n) of stories to the statistic (b,); NaN where it is undefined."""

MIN_CLUSTERS = 5
"""With fewer, t has so few degrees of freedom that next to nothing is found."""
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class Test:
    """A statistic with its interval, and the test of the hypothesis that it is zero.

    Attributes
    ----------
    estimate : Estimate
        Value and confidence interval; `n` counts stories. Undefined carries its reason.
    se : float or None
        Jackknife standard error, in the statistic's unit.
    p : float or None
        None where the statistic or its standard error does not exist; never 0 in place of "no test".
    tail : str
        What the alternative is.
    clusters : int
        Independent units.
    df : int
        Degrees of freedom of the standard error.
    bias : float
        How far the value may be off whatever the number of stories; part of interval and test.
    """

    estimate: Estimate
    se: float | None
    p: float | None
    tail: Tail
    clusters: int
    df: int = 0
    bias: float = 0.0


def against_zero(
    statistic: Statistic,
    cluster: Codes,
    used: NDArray[np.bool_],
    *,
    tail: Tail = "two-sided",
    confidence: float = 0.95,
    bias: float = 0.0,
    informative: int | None = None,
) -> Test:
    """Jackknife a statistic over clusters and test it against zero.

    Parameters
    ----------
    statistic : callable
        See `Statistic`. It is called with 0/1 weights.
    cluster : array of int, shape (n,)
        Story-prompt of each story.
    used : array of bool, shape (n,)
        Stories that the statistic rests on: only their clusters are left out, and they are what `n` counts.
    tail : {"two-sided", "greater", "less"}
        What the alternative is.
    confidence : float
        Coverage of the interval, 0 to 1.
    bias : float
        How far the statistic may be off, in its unit, which more stories would not mend: see `student`.
    informative : int, optional
        Clusters that the statistic's spread comes from, where these are fewer than all: one more than the degrees of
        freedom.

    Returns
    -------
    Test
        Undefined where the statistic is, with fewer than `MIN_CLUSTERS` clusters, and where leaving out one cluster
        makes it undefined; without a test (p None, with the reason) where nothing varies.
    """
    n = int(used.sum())
    groups = np.unique(cluster[used])
    value = float(statistic(used[None, :].astype(np.float64))[0]) if n else float("nan")
    if not np.isfinite(value):
        return _none("undefined on these stories", n, tail, groups.size)
    if groups.size < MIN_CLUSTERS:
        return _none(f"undefined with fewer than {MIN_CLUSTERS} story-prompts", n, tail, groups.size, value)
    left_out = np.concatenate(
        [statistic((used & (cluster != part[:, None])).astype(np.float64)) for part in _parts(groups, cluster.size)]
    )
    if not np.isfinite(left_out).all():
        return _none("undefined when one story-prompt is left out", n, tail, groups.size, value)
    se = float(np.sqrt((groups.size - 1) / groups.size * ((left_out - left_out.mean()) ** 2).sum()))
    if se <= 1e-12 * max(1.0, abs(value)):
        return _none("no test: nothing varies between story-prompts", n, tail, groups.size, value)
    df = (informative or groups.size) - 1
    estimate = Estimate(value, n, method="jackknife by story-prompt")
    return student(estimate, se, df, groups.size, tail=tail, confidence=confidence, bias=abs(bias))


def student(
    estimate: Estimate,
    se: float,
    df: int,
    clusters: int,
    *,
    tail: Tail = "two-sided",
    confidence: float = 0.95,
    bias: float = 0.0,
) -> Test:
    """The t test that a value with a standard error is zero, and the confidence interval of the value.

    With `bias`, the interval is that much longer on both sides, and the test is that of a value so much nearer to zero
    (Armstrong & Kolesár 2021, Econometrica 89, section 2: the interval that adds the bound holds its level).

    Parameters
    ----------
    estimate : Estimate
        The value; its `method` says whose standard error `se` is.
    se : float
        Standard error in the value's unit, above 0.
    df : int
        Degrees of freedom of the standard error.
    clusters : int
        Independent units, for the result.
    tail : {"two-sided", "greater", "less"}
        What the alternative is.
    confidence : float
        Coverage of the interval, 0 to 1.
    bias : float
        The most that the value may be off either way, in its unit; 0 or more.

    Returns
    -------
    Test
    """
    value = estimate.value or 0.0
    half = float(special.stdtrit(df, 0.5 + confidence / 2)) * se + bias
    nearer = float(np.sign(value)) * max(0.0, abs(value) - bias)
    method = f"t({df}), {estimate.method}, {100 * confidence:.0f} %"
    with_interval = replace(estimate, low=value - half, high=value + half, method=method)
    return Test(with_interval, se, _p(nearer / se, df, tail), tail, clusters, df, bias)


def _parts(groups: Codes, n: int) -> list[Codes]:
    step = max(1, _CHUNK // max(1, n))
    return [groups[i : i + step] for i in range(0, groups.size, step)]


def _p(t: float, df: int, tail: Tail) -> float:
    if tail == "greater":
        return float(special.stdtr(df, -t))
    if tail == "less":
        return float(special.stdtr(df, t))
    return float(2 * special.stdtr(df, -abs(t)))


def _none(reason: str, n: int, tail: Tail, clusters: int, value: float | None = None) -> Test:
    estimate = Estimate.undefined(reason, n=n) if value is None else replace(Estimate(value, n), reason=reason)
    return Test(estimate, None, None, tail, clusters)
