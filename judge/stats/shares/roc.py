"""The ROC curve of a score, rules for choosing a threshold, and the true-positive rate at a given false-positive rate.

Labels are true for the class that should have the *higher* score. With a threshold t, a story is called positive if its
score is t or more. Every threshold is therefore one of the observed scores, or above all scores (nothing is called
positive). There is no interpolation. NaN scores are left out. For the area under the curve see `auc.auc`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ONE_CLASS = "undefined with one class only"


@dataclass(frozen=True, slots=True)
class Curve:
    """Rates at each threshold, descending from inf (no story is called positive) to the lowest score (all are)."""

    threshold: Floats
    false_positive: Floats
    true_positive: Floats


def curve(score: Floats, label: Flags) -> Curve:
    """The empirical ROC curve (Fawcett 2006, Pattern Recognition Letters 27, algorithm 1).

    `score` (n,) has NaN where missing, left out; `label` (n,) is true for the class that should have the higher score.
    ValueError if one of the classes is empty.
    """
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


def tpr_at_fpr(score: Floats, label: Flags, most: float = 0.05) -> Estimate:
    """Largest true-positive rate with a false-positive rate of at most `most` (Carlini et al. 2022, section III).

    `score` and `label` are as in `curve`. Undefined with only one class, and with fewer than 1 / `most` negative
    stories, since then a single false positive would exceed `most`, and only thresholds without a false positive would
    count.
    """
    keep = ~np.isnan(score)
    reason = _too_few(label[keep], most)
    if reason:
        return Estimate.undefined(reason, n=int(keep.sum()))
    roc = curve(score, label)
    return Estimate(float(roc.true_positive[roc.false_positive <= most].max()), n=int(keep.sum()))


def resampled_tpr_at_fpr(score: Floats, label: Flags, most: float = 0.05) -> Callable[[NDArray[np.int64]], Floats]:
    """A function from weights (b, n) to the `tpr_at_fpr` of `score`, `label` and `most` in b resamples, (b,).

    NaN where a resample has no story of one of the classes.
    """
    keep = ~np.isnan(score)
    order = np.argsort(-score[keep], kind="stable")
    label = label[keep][order]
    ordered = score[keep][order]
    last = np.append(ordered[1:] != ordered[:-1], [True] if ordered.size else [])  # ends of runs of equal scores

    def rates(weights: NDArray[np.int64]) -> Floats:
        w = weights[:, keep][:, order]
        high, low = (w * label).cumsum(axis=1), (w * ~label).cumsum(axis=1)
        total = low[:, -1:]
        allowed = (low <= most * total) & last.astype(np.bool_)
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = np.where(allowed, high, 0).max(axis=1) / high[:, -1]
        return np.asarray(np.where(total[:, 0] > 0, reached, np.nan), dtype=np.float64)

    return rates if ordered.size else lambda weights: np.full(weights.shape[0], np.nan)


def youden(score: Floats, label: Flags) -> float:
    """Threshold with the largest true-positive minus false-positive rate (Youden 1950); the highest of several.

    `score` and `label` are as in `curve`, which raises.
    """
    roc = curve(score, label)
    gain = roc.true_positive - roc.false_positive
    gain[0] = -np.inf  # calling nothing positive is no threshold
    return float(roc.threshold[int(np.argmax(np.round(gain, 12)))])


def threshold_at_fpr(score: Floats, label: Flags, most: float) -> float | None:
    """Lowest threshold whose false-positive rate is at most `most`; None if it is larger even with the highest score.

    `score` and `label` are as in `curve`, which raises.
    """
    roc = curve(score, label)
    allowed = np.flatnonzero(roc.false_positive <= most)
    return float(roc.threshold[allowed[-1]]) if allowed[-1] > 0 else None


def best_accuracy(score: Floats, label: Flags) -> float:
    """Largest balanced accuracy, 1 - (fpr + 1 - tpr) / 2, of all thresholds; `score` and `label` as in `curve`."""
    roc = curve(score, label)
    return float((1 - (roc.false_positive + 1 - roc.true_positive) / 2).max())


def _too_few(label: Flags, most: float) -> str | None:
    negatives = int((~label).sum())
    if not label.any() or negatives == 0:
        return ONE_CLASS
    if negatives * most < 1:
        return f"undefined: {negatives} of the other class are too few for a false-positive rate of {100 * most:g} %"
    return None
