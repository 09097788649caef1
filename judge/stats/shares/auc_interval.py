"""Score interval of an area under the ROC curve (AUC) for few stories, or few clusters of stories (such as books).

DeLong's interval and percentiles of resamples have no width where the classes are told apart perfectly, and are too
narrow near there, because both estimate the variance at the estimate. A score interval holds every area A from which
the estimate lies no further than a quantile times the standard error at A, as Wilson's interval of a share does. It is
made in four steps:

1. The variance at A for single, independent stories is that under exponential ratings (Hanley & McNeil 1982, Radiology
   143, in the form of Newcombe 2006, Statistics in Medicine 25, method 5, with the mean of both class sizes).
2. For clusters it is the geometric mean of this variance and that under normal ratings of equal spread (binormal
   model; smaller for areas near 0 and 1), times the design effect of the binormal model. There the differences
   d = x - y of two ratings correlate by 1 / 2 if they share a story, and by icc / 2 if they share a cluster on one
   side; the covariance of two comparisons is P(d > 0, d' > 0) - A² (bivariate normal, by Owen's T). The intraclass
   correlation icc is that of ratings within classes, from ranks turned into normal scores, so that it exists where the
   classes are told apart perfectly.
3. Where many comparisons end either way, the data tell the variance: the model's is multiplied by (estimated variance /
   model's variance at the estimate) to the power w, with w = I / (I + 1) and I the number of clusters in the smaller
   class times 2 min(A, 1 - A). The estimated variance is that of DeLong, DeLong & Clarke-Pearson (1988), for clusters
   that of Obuchowski (1997), Biometrics 53.
4. The quantile is that of Student's t with (clusters of both classes - 2) degrees of freedom, as icc is estimated; of
   the normal distribution where every cluster is one story.

Among models of the variance, these had the coverage closest to 95 % in simulations (`docs/simulations.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.stats.correlation.coefficients import midranks
from judge.stats.shares.auc import auc, placements

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]

_Z95 = 1.959963984540054
_LEAST_DESIGN_EFFECT = 0.25
"""Few clusters may be as alike as no random ones are; the variance is not taken to be less than this share of that of
independent stories."""
_MOST_RATIO = 10.0
_HALVINGS = 60


def score_interval(rating: Floats, label: Flags, cluster: Codes | None = None) -> Estimate:
    """Area under the ROC curve with a score interval that keeps its width where the classes are told apart perfectly.

    Parameters
    ----------
    rating : array, shape (n,)
        Rating of each story; NaN = missing, left out.
    label : array of bool, shape (n,)
        True for the class that should be rated higher.
    cluster : array of int, shape (n,), optional
        Cluster of each story (such as the book of a text); None = stories are independent. A cluster with stories of
        both classes counts as one of each class.

    Returns
    -------
    Estimate
        `n` counts stories. Undefined with only one class; without an interval, but with a reason, where a class has
        stories of one cluster only. The ends lie between 0 and 1.
    """
    keep = ~np.isnan(rating)
    estimate = replace(auc(rating, label), low=None, high=None, method=None, reason=None)
    if estimate.value is None:
        return auc(rating, label)
    rating, label = rating[keep], label[keep]
    code = np.arange(rating.size) if cluster is None else np.unique(cluster[keep], return_inverse=True)[1].reshape(-1)
    sides = tuple(_Side.of(rating[own], code[own]) for own in (label, ~label))
    if min(side.clusters for side in sides) < 2:
        unit = "story" if cluster is None else "cluster"
        return estimate.without_interval(f"a class has one {unit} only")
    area, variance = estimate.value, _variance(sides)
    known = _estimated_variance(rating, label, code)
    information = 2 * min(area, 1 - area) * min(side.clusters for side in sides)
    # Ratings that are all equal have an estimated variance of 0, which says nothing.
    ratio = known / variance(area) if known > 0 and information > 0 else 1.0
    factor = float(np.clip(ratio, 1 / _MOST_RATIO, _MOST_RATIO)) ** (information / (information + 1))
    single = all(side.clusters == side.n for side in sides)
    reach = _Z95 if single else float(special.stdtrit(sum(side.clusters for side in sides) - 2, 0.975))
    low, high = (_end(area, bound, lambda a: reach**2 * factor * variance(a)) for bound in (0.0, 1.0))
    return replace(estimate, low=low, high=high, method="score, 95 %" if single else "score, clustered, 95 %")


@dataclass(frozen=True, slots=True)
class _Side:
    """Stories of one class: their number `n` and that of their `clusters`, `alike` pairs of two stories of one cluster
    (in order), and the sums of squares of their normal scores between and within clusters.
    """

    n: int
    clusters: int
    alike: int
    between: float
    within: float

    @classmethod
    def of(cls, rating: Floats, code: Codes) -> _Side:
        own = np.unique(code, return_inverse=True)[1].reshape(-1)
        sizes = np.bincount(own)
        score = special.ndtri((midranks(rating) - 0.5) / rating.size)
        mean = np.bincount(own, weights=score) / sizes
        between = float(sizes @ (mean - score.mean()) ** 2)
        within = float(((score - mean[own]) ** 2).sum())
        return cls(rating.size, sizes.size, int((sizes**2).sum()) - rating.size, between, within)

    def parts(self, icc: float) -> tuple[tuple[float, float], ...]:
        """For a story of this class, the other stories that have each correlation with it: (correlation, number)."""
        alike = self.alike / self.n
        return (1.0, 1.0), (icc, alike), (0.0, self.n - 1 - alike)


def _variance(sides: tuple[_Side, ...]) -> Callable[[float], float]:
    """The model's variance of an estimated area, as a function of the true area (steps 1 and 2 of the module)."""
    high, low = sides
    pairs = high.n * low.n
    icc = _intraclass(sides)

    def variance(area: float) -> float:
        if not 0 < area < 1:
            return 0.0
        size = (high.n + low.n) / 2 - 1
        exponential = area * (1 - area) * (1 + size * (1 - area) / (2 - area) + size * area / (1 + area)) / pairs
        if all(side.clusters == side.n for side in sides):
            return exponential
        normal, clustered = (_binormal(area, high.parts(r), low.parts(r)) / pairs for r in (0.0, icc))
        effect = max(clustered / normal, _LEAST_DESIGN_EFFECT) if normal > 0 else 1.0
        return float(np.sqrt(exponential * normal)) * effect

    return variance


def _binormal(area: float, high: tuple[tuple[float, float], ...], low: tuple[tuple[float, float], ...]) -> float:
    """Sum of the covariances of one comparison with all comparisons, under normal ratings: P(d > 0, d' > 0) - area²."""
    distance = special.ndtri(area)
    total = 0.0
    for one, number in high:
        for other, times in low:
            r = (one + other) / 2
            if number * times > 0 and r != 0:
                both = area - 2 * special.owens_t(distance, np.sqrt((1 - r) / (1 + r)))
                total += number * times * float(both - area**2)
    return total


def _intraclass(sides: tuple[_Side, ...]) -> float:
    """Intraclass correlation of the normal scores of both classes, of one-way analysis of variance; 1 where the scores
    of each class are all equal and say nothing of it, 0 where every cluster is one story.
    """
    n, clusters = sum(side.n for side in sides), sum(side.clusters for side in sides)
    if n == clusters:
        return 0.0
    groups = clusters - len(sides)
    # A cluster's mean size, corrected for sizes that differ.
    size = sum(side.n - (side.alike + side.n) / side.n for side in sides) / groups
    between = sum(side.between for side in sides) / groups
    within = sum(side.within for side in sides) / (n - clusters)
    spread = between + (size - 1) * within
    if spread <= 0:
        return 1.0
    return float(np.clip((between - within) / spread, -(1 - _LEAST_DESIGN_EFFECT) / (size - 1), 1.0))


def _estimated_variance(rating: Floats, label: Flags, code: Codes) -> float:
    """Variance of the area, estimated from placements (Obuchowski 1997; DeLong's if every story is a cluster)."""
    of_high, of_low = placements(rating, label)
    area = of_high.mean()
    codes = int(code.max()) + 1
    parts, counts = [], []
    for values, own in ((of_high, label), (of_low, ~label)):
        parts.append(np.bincount(code[own], weights=values - area, minlength=codes) / values.size)
        counts.append(np.unique(code[own]).size)
    squares = sum(k / (k - 1) * float(part @ part) for k, part in zip(counts, parts, strict=True))
    shared = 2 * codes / (codes - 1) * float(parts[0] @ parts[1])
    return max(0.0, squares + shared)


def _end(area: float, bound: float, allowed: Callable[[float], float]) -> float:
    """The area furthest towards `bound` whose squared distance from the estimate is still allowed, by bisection."""
    inside, outside = area, bound
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if (middle - area) ** 2 <= allowed(middle):
            inside = middle
        else:
            outside = middle
    return float((inside + outside) / 2) if abs(inside - bound) > 1e-12 else bound
