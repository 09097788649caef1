"""Delete-a-cluster jackknife: standard error and t test of any smooth statistic of weighted stories.

One cluster (a story-prompt with all its stories) is left out at a time; the variance estimate is (G - 1) / G * sum_g
(theta_(g) - mean)^2 (Efron & Tibshirani 1993, equation 11.5, with clusters in place of observations; for means it
equals the cluster-robust variance CR3 up to a factor (G - 1) / G). Tests compare theta / se with Student's t with G - 1
degrees of freedom. It is not suitable for non-smooth statistics, such as medians or ranks of a few systems."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, assert_never

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, Masks
from judge.base.estimate import CONFIDENCE, Estimate

# Jackknife intervals of coefficients for few clusters, some of which contribute most of the variance.


def with_jackknife(
    estimate: Estimate, left_out: Floats, *, bounds: tuple[float, float] = (-1.0, 1.0)
) -> tuple[Estimate, float | None]:
    """A coefficient with a jackknife 95 % interval, and its standard error.

    `estimate` is over all clusters; `left_out` (clusters,) holds the coefficient without each cluster in turn, NaN =
    undefined. The interval is clipped to `bounds`. With fewer than 2 clusters, with a NaN, and where `left_out` does
    not vary, there is a reason instead of an interval, and the error is None."""
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
    half = float(special.stdtrit(effective, 0.5 + CONFIDENCE / 2)) * error
    low, high = min(value, max(bounds[0], value - half)), max(value, min(bounds[1], value + half))
    method = f"jackknife, t({effective:.1f}) over {clusters} stories, 95 %"
    return replace(estimate, low=low, high=high, method=method), error


Tail = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Weights of n stories in b samples that each leave out one cluster: 1 for the stories used, 0 for the others.

    It stands for an array (b, n) in what statistics do with weights: products with an array over stories, sums over
    stories, and a choice of stories. All are the sum over the stories used minus that of the cluster left out, so that
    they take time by stories plus clusters, not by stories times clusters. `stories` (m,) are indices of those used,
    `left` (m,) the sample that leaves out each of them (below 0 or b and above: none), `shape` is (b, n)."""

    stories: Codes
    left: Codes
    shape: tuple[int, int]

    def __matmul__(self, values: Floats) -> Floats:
        """Weighted sums over stories of an array (n,) or (n, k): (b,) or (b, k)."""
        used = values[self.stories]
        if used.ndim == 1:
            return np.asarray(used.sum() - self._of_left(used), dtype=np.float64)
        parts = [self._of_left(column) for column in used.T]
        return np.asarray(used.sum(axis=0) - np.stack(parts, axis=1), dtype=np.float64)

    def __getitem__(self, chosen: tuple[slice, Masks]) -> LeftOut:
        """Weights of the stories in a mask, as `weights[:, mask]`."""
        mask = chosen[1]
        kept = mask[self.stories]
        place = np.cumsum(mask) - 1
        return LeftOut(place[self.stories[kept]], self.left[kept], (self.shape[0], int(mask.sum())))

    def sum(self, axis: int) -> Floats:
        """Sum of weights in each sample, (b,); `axis` must be 1, the stories, else ValueError."""
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

    `estimate` counts stories in n. `se` is the jackknife standard error. `p` is None where the statistic or `se` does
    not exist. `clusters` counts independent units, such as story-prompts. `df` are the degrees of freedom of `se`, 0
    without a test. `bias` is the largest systematic error of the value, which more stories would not reduce; interval
    and test allow for it."""

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
    used: Masks,
    *,
    tail: Tail = "two-sided",
    bias: float = 0.0,
    informative: int | None = None,
) -> Test:
    """Test that a statistic of weighted stories is zero, with its interval, by a jackknife over story-prompts.

    `statistic` takes weights of n stories in b samples, (b, n), and gives the statistic, (b,), NaN = undefined. The
    weights are 0 and 1, in an array or `LeftOut`, so that it may only multiply them with arrays over stories (``weights
    @ array``), sum them over stories, and choose stories (``weights[:, mask]``). `cluster` (n,) holds the
    story-prompts. `used` (n,) marks the stories that the statistic uses; only their story-prompts are left out in turn,
    and n counts these stories. `tail` and `bias` are as in `student`. `informative` story-prompts contribute to the
    standard error (None = all); the degrees of freedom are one less.

    Undefined where the statistic is undefined, with fewer than `MIN_CLUSTERS` story-prompts, and where the statistic is
    undefined without one of them. Where it does not vary between them there is no test: `p` is None, with a reason."""
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
    return student(estimate, se, df, clusters, tail=tail, bias=abs(bias))


def student(
    estimate: Estimate, se: float, df: int, clusters: int, *, tail: Tail = "two-sided", bias: float = 0.0
) -> Test:
    """The t test of the hypothesis that a value is zero, and the interval of the value, from its standard error.

    `estimate` has no interval, its `method` describes the standard error; `se` is that error, above 0, with `df`
    degrees of freedom; `clusters` is only passed on. `tail` is the alternative, and `bias` the largest systematic error
    of the value in either direction. The interval is extended by `bias` on both sides, and the test uses the value
    moved by `bias` towards zero: the interval then keeps its level (Armstrong & Kolesár 2021, Econometrica 89, section
    2)."""
    value = estimate.value or 0.0
    half = float(special.stdtrit(df, 0.5 + CONFIDENCE / 2)) * se + bias
    nearer = float(np.sign(value)) * max(0.0, abs(value) - bias)
    method = f"t({df}), {estimate.method}, 95 %"
    with_interval = replace(estimate, low=value - half, high=value + half, method=method)
    return Test(with_interval, se, _p(nearer / se, df, tail), tail, clusters, df, bias)


def undefined(reason: str, tail: Tail, used: Masks | None = None) -> Test:
    """A test that cannot be made, for a `reason`.

    `tail` is the alternative it would have had, and `used` marks the stories that have the data."""
    return _none(reason, 0 if used is None else int(used.sum()), tail, 0)


@functools.lru_cache(maxsize=8)
def _samples(cluster: bytes, used: bytes) -> tuple[int, tuple[Weights, ...]]:
    """Number of clusters of the stories used, and weights: of all of them, then without each cluster in turn."""
    # Tests of hundreds of criteria use the same stories; the arguments are the arrays' bytes, so that they can be
    # cached.
    mask = np.frombuffer(used, dtype=np.bool_)
    groups, code = np.unique(np.frombuffer(cluster, dtype=np.int64)[mask], return_inverse=True)
    return groups.size, tuple(_weights(np.flatnonzero(mask), code.reshape(-1), mask.size))


def _weights(stories: Codes, code: Codes, n: int) -> Iterator[Weights]:
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
