"""How well a judge's ratings separate two classes of stories: AUC, and point-biserial correlation with its largest
possible value.

Sign convention: labels are true for the class that should be rated *higher*; a positive r and an AUC above one half
then mean that the judge rates this class higher.

The point-biserial correlation is Pearson's r with labels coded 1 and 0. It depends on the balance of the classes and,
unlike Pearson's r of two continuous variables, cannot reach 1 unless the judge uses only two values. Its largest value
is reached when the stories with the highest ratings have the label. The AUC does not depend on the balance. It is the
probability that a story of the labelled class is rated above a story of the other class, with ties counted one half
(Mann & Whitney 1947).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import kendall
from judge.stats.correlation.coefficients import midranks, pearson

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class PointBiserial:
    """Point-biserial correlation of ratings with two classes of stories, and its largest possible value.

    Attributes
    ----------
    r : Estimate
        The correlation, without an interval, because Fisher's interval assumes that both variables are normal
        (for a bootstrap interval see `coefficients.resampled`).
    positives, negatives : int
        Number of rated stories with and without the label.
    bound : float or None
        Largest |r| that any labels with these class sizes could have with these ratings, in the direction of
        `r`.
    normal_bound : float or None
        Largest |r| for normally distributed ratings: phi(z) / sqrt(p q), where p is the share of stories with
        the label, q = 1 - p, and z the p-th normal quantile (Tate 1954); at most .798.
    """

    r: Estimate
    positives: int
    negatives: int
    bound: float | None = None
    normal_bound: float | None = None


def point_biserial(rating: Floats, label: Flags) -> PointBiserial:
    """Point-biserial correlation: Pearson's r of ratings with labels (true = 1), with the largest value that r can
    take.

    Parameters
    ----------
    rating : array, shape (n,)
        Rating of each story; NaN = missing, left out.
    label : array of bool, shape (n,)
        True for the class that should be rated higher.

    Returns
    -------
    PointBiserial
        Its correlation is undefined with only one class, with fewer than three stories, and where the ratings
        are all equal.
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


def auc(rating: Floats, label: Flags) -> Estimate:
    """Area under the ROC curve = U / (positives x negatives), where ties count one half, with DeLong's interval.

    The variance is that of DeLong, DeLong & Clarke-Pearson (1988), computed by mid-ranks as in Sun & Xu (2014). The
    interval uses normal quantiles, is clipped to 0..1, and assumes independent stories.

    Parameters
    ----------
    rating : array, shape (n,)
        Rating of each story; NaN = missing, left out.
    label : array of bool, shape (n,)
        True for the class that should be rated higher.

    Returns
    -------
    Estimate
        `n` counts stories. Undefined with only one class. It has no interval, but a reason, where a class has
        only one story, and where all comparisons between stories of the two classes have the same result, so
        that the variance is 0.
    """
    rating, label, reason = _known(rating, label, constant=True)
    n = rating.size
    if reason:
        return Estimate.undefined(reason, n=n)
    v, w = placements(rating, label)
    m, k = v.size, w.size
    estimate = Estimate(float(v.mean()), n=n)
    if m < 2 or k < 2:
        return replace(estimate, reason="no interval: DeLong's needs 2 stories of each class")
    half = _Z95 * float(np.sqrt(v.var(ddof=1) / m + w.var(ddof=1) / k))
    if half == 0.0:
        return replace(estimate, reason="no interval: DeLong's variance is 0 where every comparison ends alike")
    area = float(v.mean())
    return replace(estimate, low=max(0.0, area - half), high=min(1.0, area + half), method="DeLong, 95 %")


def placements(rating: Floats, label: Flags) -> tuple[Floats, Floats]:
    """For each story of the labelled class the share of the other class that is rated below it, and for each other
    story the share of the labelled class that is rated above it; ties count one half. The mean of either is the AUC.

    Parameters
    ----------
    rating : array, shape (n,)
        Rating of each story, none missing.
    label : array of bool, shape (n,)
        True for the class that should be rated higher; both classes have stories.
    """
    rank = midranks(rating)
    high, low = rank[label], rank[~label]
    above = (high - midranks(rating[label])) / low.size
    below = 1 - (low - midranks(rating[~label])) / high.size
    return np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)


def resampled_auc(rating: Floats, label: Flags) -> Callable[[NDArray[np.int64]], Floats]:
    """A function that computes the area under the ROC curve (AUC) in each of b resamples. Its argument holds the
    weights of the n stories, shape (b, n); it returns the AUCs, shape (b,). An AUC is NaN where a resample has no story
    of one of the classes.

    Parameters
    ----------
    rating : array, shape (n,)
        Rating of each story; NaN = missing, left out.
    label : array of bool, shape (n,)
        True for the class that should be rated higher.
    """
    keep = ~np.isnan(rating)
    level, label = kendall.codes(rating[keep]), label[keep]
    if not level.size:
        return lambda weights: np.full(weights.shape[0], np.nan)
    levels = int(level.max()) + 1

    def areas(weights: NDArray[np.int64]) -> Floats:
        w = weights[:, keep]
        high = kendall.level_sums(w * label, level, levels).astype(np.float64)
        low = kendall.level_sums(w * ~label, level, levels).astype(np.float64)
        below = np.cumsum(low, axis=1) - low / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((high * below).sum(axis=1) / (high.sum(axis=1) * low.sum(axis=1)), dtype=np.float64)

    return areas


def _known(rating: Floats, label: Flags, *, constant: bool = False) -> tuple[Floats, Flags, str | None]:
    """Ratings and labels of the rated stories, and the reason why a statistic of them is undefined; None in place of a
    reason where it is defined. Ratings that are all equal are such a reason unless `constant` is true.
    """
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
