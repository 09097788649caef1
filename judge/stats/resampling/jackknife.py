"""Delete-a-cluster jackknife: standard error and t test of any smooth statistic of weighted stories.

The jackknife leaves out one cluster (a story-prompt with all its stories) at a time; its variance estimate is (G - 1) /
G * sum_g (theta_(g) - mean)^2 (Efron & Tibshirani 1993, equation 11.5, with clusters in place of observations; for
means it equals the cluster-robust variance CR3 up to a factor (G - 1) / G). Tests compare theta / se with Student's t
with G - 1 degrees of freedom. The jackknife is not suitable for non-smooth statistics, such as medians or ranks of a
few systems.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate

# Jackknife intervals of coefficients for few clusters, some of which contribute most of the variance.

Floats = NDArray[np.float64]


def with_jackknife(
    estimate: Estimate,
    left_out: Floats,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> tuple[Estimate, float | None]:
    """A coefficient with a jackknife confidence interval, and its standard error.

    Parameters
    ----------
    estimate : Estimate
        The coefficient over all clusters, without an interval.
    left_out : array, shape (clusters,)
        The coefficient recomputed without each cluster in turn; NaN = undefined without that cluster.
    confidence : float
        Coverage of the interval, 0 to 1.
    bounds : tuple of float
        Lowest and highest possible value, to which the interval is clipped.

    Returns
    -------
    Estimate, float or None
        The estimate with its interval, and the standard error. With fewer than 2 clusters, where `left_out` holds
        NaN, and where its values do not vary, the estimate has a reason instead of an interval, and the standard
        error is None.
    """
    clusters, value = left_out.size, estimate.value
    if value is None:
        return estimate, None
    if clusters < 2:
        return replace(estimate, reason="no interval with fewer than 2 stories"), None
    if not np.isfinite(left_out).all():
        return replace(estimate, reason=f"no interval: it rests on one of the {clusters} stories alone"), None
    square = (left_out - left_out.mean()) ** 2
    error = float(np.sqrt((clusters - 1) / clusters * square.sum()))
    if error < 1e-12:
        return replace(estimate, reason="no interval: all stories agree alike, the standard error is 0"), None
    effective = min(float(square.sum() ** 2 / (square @ square)), clusters - 1.0)
    half = float(special.stdtrit(effective, 0.5 + confidence / 2)) * error
    low, high = min(value, max(bounds[0], value - half)), max(value, min(bounds[1], value + half))
    method = f"jackknife, t({effective:.1f}) over {clusters} stories, {100 * confidence:g} %"
    return replace(estimate, low=low, high=high, method=method), error


Codes = NDArray[np.int64]
Tail = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Weights of n stories in b samples that each leave out one cluster: 1 for the stories used, 0 for the others.

    It stands for an array of shape (b, n) in what statistics do with weights: products with an array over stories, sums
    over stories, and a choice of stories. All are the sum over the stories used minus that of the cluster left out, so
    that they take time by stories plus clusters, not by stories times clusters.

    Attributes
    ----------
    stories : array of int, shape (m,)
        Indices of the stories used.
    left : array of int, shape (m,)
        Sample that leaves out each of them; below 0 or b and above where no sample does.
    shape : (int, int)
        b and n.
    """

    stories: Codes
    left: Codes
    shape: tuple[int, int]

    def __matmul__(self, values: Floats) -> Floats:
        """Weighted sums over stories of an array of shape (n,) or (n, k): shape (b,) or (b, k)."""
        used = values[self.stories]
        if used.ndim == 1:
            return np.asarray(used.sum() - self._of_left(used), dtype=np.float64)
        parts = [self._of_left(column) for column in used.T]
        return np.asarray(used.sum(axis=0) - np.stack(parts, axis=1), dtype=np.float64)

    def __getitem__(self, chosen: tuple[slice, NDArray[np.bool_]]) -> LeftOut:
        """Weights of the stories in a mask, as `weights[:, mask]`."""
        mask = chosen[1]
        kept = mask[self.stories]
        place = np.cumsum(mask) - 1
        return LeftOut(place[self.stories[kept]], self.left[kept], (self.shape[0], int(mask.sum())))

    def sum(self, axis: int) -> Floats:
        """Sum of weights in each sample, shape (b,).

        Parameters
        ----------
        axis : int
            1, as of an array of shape (b, n): stories are summed over. Others raise `ValueError`.
        """
        if axis != 1:
            raise ValueError(f"axis {axis}: weights are summed over stories, axis 1")
        return np.asarray(self.stories.size - self._of_left(np.ones(self.stories.size)), dtype=np.float64)

    def _of_left(self, values: Floats) -> Floats:
        samples = self.shape[0]
        inside = (self.left >= 0) & (self.left < samples)
        return np.bincount(self.left[inside], weights=values[inside], minlength=samples).astype(np.float64)


# Weights of n stories in b samples, shape (b, n).
Weights = Floats | LeftOut

# From weights (b, n) of stories to the statistic (b,); NaN where it is undefined.
Statistic = Callable[[Weights], Floats]

# With fewer, t has so few degrees of freedom that next to nothing is found.
MIN_CLUSTERS = 5
# Up to so many clusters x stories an array of weights is quicker than `LeftOut`.
_FEW = 250_000
# Up to so many stories the weights of the last few sets of stories are kept.
_REMEMBERED = 10_000
# Clusters left out at a time, so that memory does not grow with clusters x regressors.
_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class Test:
    """A statistic with its jackknife interval, and the t test of the hypothesis that it is zero.

    Attributes
    ----------
    estimate : Estimate
        Value and confidence interval; `n` counts stories. An undefined estimate has a reason.
    se : float or None
        Jackknife standard error, in the statistic's unit.
    p : float or None
        p value; None where the statistic or its standard error does not exist.
    tail : str
        The alternative hypothesis: "two-sided", "greater" or "less".
    clusters : int
        Number of clusters (independent units, such as story-prompts).
    df : int
        Degrees of freedom of the standard error; 0 without a test.
    bias : float
        Largest systematic error of the value, which more stories would not reduce; interval and test allow for
        it.
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
    """Test of the hypothesis that a statistic of weighted stories is zero, with its interval, by a jackknife over
    story-prompts.

    Parameters
    ----------
    statistic : callable
        Function from weights of n stories in b samples, shape (b, n), to the statistic in each sample, shape
        (b,); NaN where it is undefined. It is called with weights 0 and 1, as an array or as `LeftOut`, so that
        it may only multiply weights with arrays over stories (``weights @ array``), sum them over stories, and choose
        stories (``weights[:, mask]``).
    cluster : array of int, shape (n,)
        Story-prompt of each story.
    used : array of bool, shape (n,)
        Mask of the stories that the statistic uses. Only their story-prompts are left out in turn, and `n`
        counts these stories.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    confidence : float
        Coverage of the interval, 0 to 1.
    bias : float
        Largest systematic error of the statistic, in its unit, which more stories would not reduce (see
        `student`).
    informative : int, optional
        Number of story-prompts that contribute to the standard error, where not all do; the degrees of freedom
        are one less. None = all contribute.

    Returns
    -------
    Test
        Undefined where the statistic is undefined, with fewer than `MIN_CLUSTERS` story-prompts, and where the
        statistic is undefined without one of the story-prompts. Where the statistic does not vary between
        story-prompts there is no test: `p` is None, and the estimate has the reason.
    """
    n = int(used.sum())
    samples_of = _samples if used.size <= _REMEMBERED else _samples.__wrapped__
    clusters, samples = samples_of(np.asarray(cluster, dtype=np.int64).tobytes(), used.tobytes())
    whole, *left_out = map(statistic, samples) if n else [np.array([np.nan])]
    value = float(whole[0])
    if not np.isfinite(value):
        return _none("undefined on these stories", n, tail, clusters)
    if clusters < MIN_CLUSTERS:
        return _none(f"undefined with fewer than {MIN_CLUSTERS} story-prompts", n, tail, clusters, value)
    each = np.concatenate([whole[1:], *left_out])
    if not np.isfinite(each).all():
        return _none("undefined when one story-prompt is left out", n, tail, clusters, value)
    se = float(np.sqrt((clusters - 1) / clusters * ((each - each.mean()) ** 2).sum()))
    if se <= 1e-12 * max(1.0, abs(value)):
        return _none("no test: nothing varies between story-prompts", n, tail, clusters, value)
    df = (informative or clusters) - 1
    estimate = Estimate(value, n, method="jackknife by story-prompt")
    return student(estimate, se, df, clusters, tail=tail, confidence=confidence, bias=abs(bias))


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
    """The t test of the hypothesis that a value is zero, and the confidence interval of the value, from its standard
    error.

    The interval is extended by `bias` on both sides, and the test uses the value moved by `bias` towards zero. The
    interval then keeps its level (Armstrong & Kolesár 2021, Econometrica 89, section 2).

    Parameters
    ----------
    estimate : Estimate
        The value without an interval; its `method` describes the standard error.
    se : float
        Standard error in the value's unit, above 0.
    df : int
        Degrees of freedom of the standard error.
    clusters : int
        Number of clusters (independent units, such as story-prompts), which is only passed on to the result.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    confidence : float
        Coverage of the interval, 0 to 1.
    bias : float
        Largest systematic error of the value in either direction, in its unit; 0 or more.

    Returns
    -------
    Test
        The value with its interval, and the p value.
    """
    value = estimate.value or 0.0
    half = float(special.stdtrit(df, 0.5 + confidence / 2)) * se + bias
    nearer = float(np.sign(value)) * max(0.0, abs(value) - bias)
    method = f"t({df}), {estimate.method}, {100 * confidence:.0f} %"
    with_interval = replace(estimate, low=value - half, high=value + half, method=method)
    return Test(with_interval, se, _p(nearer / se, df, tail), tail, clusters, df, bias)


def undefined(reason: str, tail: Tail, used: NDArray[np.bool_] | None = None) -> Test:
    """A test that cannot be made.

    Parameters
    ----------
    reason : str
        Why not.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis that it would have had.
    used : array of bool, shape (n stories,), optional
        Stories that have the data.

    Returns
    -------
    Test
        Without a value.
    """
    return _none(reason, 0 if used is None else int(used.sum()), tail, 0)


@functools.lru_cache(maxsize=8)
def _samples(cluster: bytes, used: bytes) -> tuple[int, tuple[Weights, ...]]:
    """Number of clusters of the stories used, and weights: first of all of them, then without each cluster in turn.

    Tests of hundreds of criteria use the same stories; both arguments are the arrays' bytes.
    """
    mask = np.frombuffer(used, dtype=np.bool_)
    groups, code = np.unique(np.frombuffer(cluster, dtype=np.int64)[mask], return_inverse=True)
    return groups.size, tuple(_weights(np.flatnonzero(mask), code.reshape(-1), mask.size))


def _weights(stories: Codes, code: Codes, n: int) -> Iterator[Weights]:
    """Yield weights of all stories used, and without each cluster in turn, some clusters at a time; `code` numbers the
    stories' clusters.
    """
    clusters = int(code.max(initial=-1)) + 1
    few = clusters * n <= _FEW
    weights = np.zeros((1 + clusters if few else 1, n))
    weights[:, stories] = code != np.arange(-1, len(weights) - 1)[:, None]
    weights.setflags(write=False)
    yield weights
    if few:
        return
    for start in range(0, clusters, _CHUNK):
        yield LeftOut(stories, code - start, (min(_CHUNK, clusters - start), n))


def _p(t: float, df: int, tail: Tail) -> float:
    if tail == "greater":
        return float(special.stdtr(df, -t))
    if tail == "less":
        return float(special.stdtr(df, t))
    if tail != "two-sided":
        assert_never(tail)
    return float(2 * special.stdtr(df, -abs(t)))


def _none(reason: str, n: int, tail: Tail, clusters: int, value: float | None = None) -> Test:
    estimate = Estimate.undefined(reason, n=n) if value is None else replace(Estimate(value, n), reason=reason)
    return Test(estimate, None, None, tail, clusters)
