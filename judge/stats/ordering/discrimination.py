"""How well ratings separate two classes of stories: AUC, and point-biserial correlation with its largest value.

Sign convention: labels are true for the class that should be rated *higher*; a positive r and an AUC above one half
then mean that the judge rates this class higher.

The point-biserial correlation is Pearson's r with labels coded 1 and 0. It depends on the balance of the classes and
cannot reach 1 unless the judge uses only two values. Its largest value is reached when the stories with the highest
ratings have the label. The AUC does not depend on the balance. It is the probability that a story of the labelled class
is rated above a story of the other class, with ties counted one half (Mann & Whitney 1947)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, Masks, ratio, renumbered
from judge.base.estimate import Estimate
from judge.stats.correlation import kendall
from judge.stats.correlation.coefficients import midranks, pearson
from judge.stats.estimation import means

# The ROC curve of a score, rules for choosing a threshold, and the true-positive rate at a given false-positive rate.


ONE_CLASS = "undefined with one class only"


@dataclass(frozen=True, slots=True)
class Curve:
    """Rates at each threshold, descending from inf (no story is called positive) to the lowest score (all are)."""

    threshold: Floats
    false_positive: Floats
    true_positive: Floats


def curve(score: Floats, label: Masks) -> Curve:
    """The empirical ROC curve (Fawcett 2006, Pattern Recognition Letters 27, algorithm 1).

    `score` (n,) has NaN where missing, left out; `label` (n,) is true for the class that should have the higher score.
    ValueError if one of the classes is empty."""
    keep = ~np.isnan(score)
    score, label = score[keep], label[keep]
    if not label.any() or label.all():
        raise ValueError(ONE_CLASS)
    values, level = np.unique(-score, return_inverse=True)
    high = np.bincount(level, weights=label, minlength=values.size).cumsum()
    low = np.bincount(level, weights=~label, minlength=values.size).cumsum()
    return Curve(
        np.concatenate([[np.inf], -values]),
        np.concatenate([[0.0], low / low[-1]]),
        np.concatenate([[0.0], high / high[-1]]),
    )


def tpr_at_fpr(score: Floats, label: Masks, most: float = 0.05) -> Estimate:
    """Largest true-positive rate with a false-positive rate of at most `most` (Carlini et al. 2022, section III).

    `score` and `label` are as in `curve`. Undefined with only one class, and with fewer than 1 / `most` negative
    stories, since then a single false positive would exceed `most`, and only thresholds without a false positive would
    count."""
    keep = ~np.isnan(score)
    reason = _too_few(label[keep], most)
    if reason:
        return Estimate.undefined(reason, n=int(keep.sum()))
    roc = curve(score, label)
    return Estimate(float(roc.true_positive[roc.false_positive <= most].max()), n=int(keep.sum()))


def resampled_tpr_at_fpr(score: Floats, label: Masks, most: float = 0.05) -> Callable[[Codes], Floats]:
    """A function from weights (b, n) to the `tpr_at_fpr` of `score`, `label` and `most` in b resamples, (b,).

    NaN where a resample has no story of one of the classes."""
    keep = ~np.isnan(score)
    order = np.argsort(-score[keep], kind="stable")
    label = label[keep][order]
    ordered = score[keep][order]
    last = np.append(ordered[1:] != ordered[:-1], [True] if ordered.size else [])  # ends of runs of equal scores

    def rates(weights: Codes) -> Floats:
        w = weights[:, keep][:, order]
        high, low = (w * label).cumsum(axis=1), (w * ~label).cumsum(axis=1)
        total = low[:, -1:]
        allowed = (low <= most * total) & last.astype(np.bool_)
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = np.where(allowed, high, 0).max(axis=1) / high[:, -1]
        return np.asarray(np.where(total[:, 0] > 0, reached, np.nan), dtype=np.float64)

    return rates if ordered.size else lambda weights: np.full(weights.shape[0], np.nan)


def youden(score: Floats, label: Masks) -> float:
    """Threshold with the largest true-positive minus false-positive rate (Youden 1950); the highest of several.

    `score` and `label` are as in `curve`, which raises."""
    roc = curve(score, label)
    gain = roc.true_positive - roc.false_positive
    gain[0] = -np.inf  # calling nothing positive is no threshold
    return float(roc.threshold[int(np.argmax(np.round(gain, 12)))])


def threshold_at_fpr(score: Floats, label: Masks, most: float) -> float | None:
    """Lowest threshold whose false-positive rate is at most `most`; None if it is larger even with the highest score.

    `score` and `label` are as in `curve`, which raises."""
    roc = curve(score, label)
    allowed = np.flatnonzero(roc.false_positive <= most)
    return float(roc.threshold[allowed[-1]]) if allowed[-1] > 0 else None


def best_accuracy(score: Floats, label: Masks) -> float:
    """Largest balanced accuracy, 1 - (fpr + 1 - tpr) / 2, of all thresholds; `score` and `label` as in `curve`."""
    roc = curve(score, label)
    return float((1 - (roc.false_positive + 1 - roc.true_positive) / 2).max())


def _too_few(label: Masks, most: float) -> str | None:
    negatives = int((~label).sum())
    if not label.any() or negatives == 0:
        return ONE_CLASS
    if negatives * most < 1:
        return f"undefined: {negatives} of the other class are too few for a false-positive rate of {100 * most:g} %"
    return None


@dataclass(frozen=True, slots=True)
class PointBiserial:
    """Point-biserial correlation of ratings with two classes of stories, and its largest possible value.

    `r` has no interval, because Fisher's assumes that both variables are normal (for a bootstrap interval see
    `coefficients.resampled`). `positives` and `negatives` count rated stories with and without the label. `bound` is
    the largest |r| that any labels with these class sizes could have with these ratings, in the direction of `r`.
    `normal_bound` is the largest |r| for normal ratings: phi(z) / sqrt(p q), where p is the share of stories with the
    label, q = 1 - p, and z the p-th normal quantile (Tate 1954); at most .798."""

    r: Estimate
    positives: int
    negatives: int
    bound: float | None = None
    normal_bound: float | None = None


def point_biserial(rating: Floats, label: Masks) -> PointBiserial:
    """Point-biserial correlation: Pearson's r of `rating` (n,) with `label` (n,) coded 1 and 0, and its largest value.

    Stories without a rating (NaN) are left out. Undefined with one class, fewer than three stories, or equal ratings.
    """
    from scipy import stats

    rating, label, reason = _known(rating, label)
    m, k = int(label.sum()), int((~label).sum())
    if reason is None and m + k < 3:
        reason = "undefined with fewer than 3 stories"
    if reason:
        return PointBiserial(Estimate.undefined(reason, n=m + k), m, k)
    r = pearson(rating, label.astype(np.float64))
    ordered = np.sort(rating)
    top = np.arange(m + k) >= (k if r >= 0 else m)  # for a negative r the m lowest ratings get the label
    p = m / (m + k)
    normal = float(stats.norm.pdf(stats.norm.ppf(p)) / np.sqrt(p * (1 - p)))
    return PointBiserial(Estimate(r, n=m + k), m, k, abs(pearson(ordered, top.astype(np.float64))), normal)


def auc(rating: Floats, label: Masks) -> Estimate:
    """Area under the ROC curve = U / (positives x negatives), where ties count one half, with DeLong's interval.

    `rating` (n,) has NaN where missing, left out; `label` (n,) is true for the class that should be rated higher. The
    variance is that of DeLong, DeLong & Clarke-Pearson (1988), computed by mid-ranks as in Sun & Xu (2014). The
    interval uses normal quantiles, is clipped to 0..1, and assumes independent stories. n counts stories. Undefined
    with only one class. No interval, but a reason, where a class has only one story, and where all comparisons between
    the classes have the same result, so that the variance is 0."""
    rating, label, reason = _known(rating, label, constant=True)
    n = rating.size
    if reason:
        return Estimate.undefined(reason, n=n)
    v, w = placements(rating, label)
    m, k = v.size, w.size
    estimate = Estimate(float(v.mean()), n=n)
    if m < 2 or k < 2:
        return replace(estimate, reason="no interval: DeLong's needs 2 stories of each class")
    half = means.Z95 * float(np.sqrt(v.var(ddof=1) / m + w.var(ddof=1) / k))
    if half == 0.0:
        return replace(estimate, reason="no interval: DeLong's variance is 0 where every comparison ends alike")
    area = float(v.mean())
    return replace(estimate, low=max(0.0, area - half), high=min(1.0, area + half), method="DeLong, 95 %")


def placements(rating: Floats, label: Masks) -> tuple[Floats, Floats]:
    """Share of the other class rated below each labelled story, and of the labelled class above each other story.

    Ties count one half; the mean of either is the AUC. `rating` (n,) has none missing, and `label` (n,) both classes.
    """
    rank = midranks(rating)
    high, low = rank[label], rank[~label]
    above = (high - midranks(rating[label])) / low.size
    below = 1 - (low - midranks(rating[~label])) / high.size
    return np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)


def resampled_auc(rating: Floats, label: Masks) -> Callable[[Codes], Floats]:
    """A function from weights of stories, (b, n), to AUCs, (b,); NaN where a resample lacks one of the classes.

    `rating` (n,) has NaN where missing, left out; `label` (n,) is true for the class that should be rated higher."""
    keep = ~np.isnan(rating)
    level, label = kendall.codes(rating[keep]), label[keep]
    if not level.size:
        return lambda weights: np.full(weights.shape[0], np.nan)
    levels = int(level.max()) + 1

    def areas(weights: Codes) -> Floats:
        w = weights[:, keep]
        high = kendall.level_sums(w * label, level, levels).astype(np.float64)
        low = kendall.level_sums(w * ~label, level, levels).astype(np.float64)
        below = np.cumsum(low, axis=1) - low / 2
        return ratio((high * below).sum(axis=1), high.sum(axis=1) * low.sum(axis=1))

    return areas


def _known(rating: Floats, label: Masks, *, constant: bool = False) -> tuple[Floats, Masks, str | None]:
    """Ratings and labels of the rated stories, and the reason why a statistic of them is undefined."""
    keep = ~np.isnan(rating)
    rating, label = rating[keep], label[keep]
    reason = None
    if not rating.size:
        reason = "undefined without a rated story"
    elif label.all() or not label.any():
        reason = f"undefined with one class only: all {label.size} rated stories {'have' if label.all() else 'lack'} it"
    elif not constant and float(np.ptp(rating)) < 10.0**-kendall.DECIMALS:
        reason = "undefined because the ratings are all equal"
    return rating, label, reason


# Score interval of an area under the ROC curve (AUC) for few stories, or few clusters of stories (such as books).


# Few clusters may be as alike as no random ones are; the variance is not taken to be less than this share of that of
# independent stories.
_LEAST_DESIGN_EFFECT = 0.25
_MOST_RATIO = 10.0
_HALVINGS = 60


def score_interval(rating: Floats, label: Masks, cluster: Codes | None = None) -> Estimate:
    """AUC with a score interval that keeps its width where the classes are told apart perfectly; its ends lie in 0..1.

    `rating` and `label` are as in `auc`. `cluster` (n,) holds the cluster of each story (such as the book of a text);
    None = stories are independent. A cluster with stories of both classes counts as one of each class. n counts
    stories. Undefined with only one class; no interval, but a reason, where a class has stories of one cluster only."""
    keep = ~np.isnan(rating)
    estimate = replace(auc(rating, label), low=None, high=None, method=None, reason=None)
    if estimate.value is None:
        return auc(rating, label)
    rating, label = rating[keep], label[keep]
    code = np.arange(rating.size) if cluster is None else renumbered(cluster[keep])
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
    reach = means.Z95 if single else float(special.stdtrit(sum(side.clusters for side in sides) - 2, 0.975))
    low, high = (_end(area, bound, lambda a: reach**2 * factor * variance(a)) for bound in (0.0, 1.0))
    return replace(estimate, low=low, high=high, method="score, 95 %" if single else "score, clustered, 95 %")


@dataclass(frozen=True, slots=True)
class _Side:
    """One class: `alike` ordered pairs of one cluster; sums of squares of normal scores `between` and `within`."""

    n: int
    clusters: int
    alike: int
    between: float
    within: float

    @classmethod
    def of(cls, rating: Floats, code: Codes) -> _Side:
        own = renumbered(code)
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
    """The model's variance of an estimated area, as a function of the true area."""
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
    """Intraclass correlation of the normal scores, of one-way ANOVA; 0 where every cluster is one story."""
    n, clusters = sum(side.n for side in sides), sum(side.clusters for side in sides)
    if n == clusters:
        return 0.0
    groups = clusters - len(sides)
    # A cluster's mean size, corrected for sizes that differ.
    size = sum(side.n - (side.alike + side.n) / side.n for side in sides) / groups
    between = sum(side.between for side in sides) / groups
    within = sum(side.within for side in sides) / (n - clusters)
    spread = between + (size - 1) * within
    # The scores of each class are all equal and say nothing of it.
    if spread <= 0:
        return 1.0
    return float(np.clip((between - within) / spread, -(1 - _LEAST_DESIGN_EFFECT) / (size - 1), 1.0))


def _estimated_variance(rating: Floats, label: Masks, code: Codes) -> float:
    """Variance of the area from placements (Obuchowski 1997; DeLong's if every story is a cluster)."""
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
    """The area furthest towards `bound` whose squared distance from `area` is allowed, by bisection."""
    inside, outside = area, bound
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if (middle - area) ** 2 <= allowed(middle):
            inside = middle
        else:
            outside = middle
    return float((inside + outside) / 2) if abs(inside - bound) > 1e-12 else bound
