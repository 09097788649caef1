"""The confusion matrix of a judge's labels and human labels, and the statistics computed from it.

Every statistic is a function of the confusion matrix, whose rows are human labels and whose columns are the judge's. A
resample of stories is therefore a weighted sum of small matrices. Let N_rc be the number of stories with human label r
and judge's label c, N_r. and N_.c the row and column sums, and N the total:

==================  =================================================================================================
statistic           formula
==================  =================================================================================================
accuracy            sum_c N_cc / N
balanced accuracy   mean recall over human labels (Brodersen et al. 2010, ICPR, equation 5); chance: .5 for two labels
precision           N_cc / N_.c, share of human label c among stories that the judge labels c
recall              N_cc / N_c., share of judge's label c among stories that people label c
F1                  2 N_cc / (N_c. + N_.c), harmonic mean of precision and recall (van Rijsbergen 1979)
phi                 Pearson's correlation of two labels coded 0, 1 (Matthews 1975); for more labels Gorodkin's (2004)
kappa               (accuracy - e) / (1 - e), e = sum_c N_c. N_.c / N² (Cohen 1960)
AC1                 as kappa, with e = sum_c p_c (1 - p_c) / (q - 1), p_c = (N_c. + N_.c) / 2N (Gwet 2008)
alpha               1 - (2N - 1) D / (4N² - sum_c n_c²), nominal (Krippendorff 2011), with D twice the number of stories
                    with unequal labels, and n_c = N_c. + N_.c
prevalence          N_c. / N for people, N_.c / N for the judge
==================  =================================================================================================

For two labels, precision, recall and F1 are those of the positive label; for more labels they are means over labels
(macro averages). If a judge always gives the same label, the other label has recall 0 and an undefined precision, which
is not replaced by 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Floats, Masks, ratio
from judge.base.estimate import Estimate
from judge.stats.resampling.bootstrap import Resamples

# Distances between two distributions of ratings: Wasserstein distance and total variation.


def counted(ratings: Floats, points: Floats) -> Floats:
    """Counts of `ratings` (n stories, k; NaN = none) at each of the `points` of a scale, ascending, (n, points).

    A rating between two points is split between them in proportion to its nearness, which keeps the mean. A rating
    outside the scale counts for the nearest end."""
    counts = np.zeros((len(ratings), points.size))
    story, column = np.nonzero(~np.isnan(ratings))
    value = np.clip(ratings[story, column], points[0], points[-1])
    above = np.clip(np.searchsorted(points, value, side="left"), 1, max(1, points.size - 1))
    if points.size == 1:
        np.add.at(counts, (story, np.zeros_like(story)), 1.0)
        return counts
    share = (value - points[above - 1]) / (points[above] - points[above - 1])
    np.add.at(counts, (story, above - 1), 1 - share)
    np.add.at(counts, (story, above), share)
    return counts


def shares(counts: Floats) -> Floats:
    """Shares of ratings at each point, from `counts` (..., points); NaN where all are 0."""
    return ratio(counts, counts.sum(axis=-1, keepdims=True))


def wasserstein(first: Floats, second: Floats, points: Floats) -> Floats:
    """Wasserstein distance of shares `first` and `second` (..., points) on the same `points` (Vallender 1974).

    The points ascend, and the distance is in their unit; NaN where a distribution is NaN."""
    apart = np.abs(np.cumsum(first - second, axis=-1))[..., :-1]
    return np.asarray((apart * np.diff(points)).sum(axis=-1), dtype=np.float64)


def total_variation(first: Floats, second: Floats) -> Floats:
    """Total variation distance of shares `first` and `second` (..., points): half the sum of absolute differences."""
    return np.asarray(np.abs(first - second).sum(axis=-1) / 2, dtype=np.float64)


# The majority label of several raters or repeats.

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """The majority label of each story; NaN where there are no votes or votes are `tied`."""

    label: Floats
    tied: Masks


def _of_votes(counts: Counts) -> Majority:
    most = counts.max(axis=-1, keepdims=True)
    ahead = (counts == most) & (most > 0)
    single = ahead.sum(axis=-1) == 1
    label = np.where(single, counts.argmax(axis=-1).astype(np.float64), np.nan)
    return Majority(np.asarray(label, dtype=np.float64), np.asarray(ahead.sum(axis=-1) > 1, dtype=np.bool_))


def majority(ratings: Floats, labels: int) -> Majority:
    """Majority label of each story's raters (or repeats).

    `ratings` (n stories, k) hold codes 0..`labels`-1; NaN and values that are no codes do not count as votes."""
    return _of_votes(np.stack([(ratings == code).sum(axis=1) for code in range(labels)], axis=1).astype(np.int64))


def of_the_others(ratings: Floats, labels: int) -> Majority:
    """For each rater, the majority label of the others, (n, r), also on stories that this rater did not rate.

    `ratings` (n stories, r raters) and `labels` are as in `majority`. No label where no other rater rated."""
    own = np.stack([ratings == code for code in range(labels)], axis=-1).astype(np.int64)
    return _of_votes(own.sum(axis=1, keepdims=True) - own)


Weights = NDArray[np.int64]

# From confusion matrices (..., q, q) to one number each (...,); NaN where it is undefined.
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Confusion matrix of stories by human label and judge's label.

    `counts` (q, q) has human labels in rows, the judge's in columns. `cells` (n, q, q) is each story's contribution: 1
    in one cell, or all 0 if a label is missing; fractions where a story has several readings (such as repeats).
    `positive` is the code of the positive label of two; None for more: precision, recall and F1 are then means over
    labels."""

    counts: Floats
    cells: Floats
    positive: int | None

    @property
    def n(self) -> int:
        """Number of stories with both labels."""
        return int((self.cells.sum(axis=(1, 2)) > 0).sum())

    def values(self, resamples: Resamples) -> dict[str, Floats]:
        """All statistics by name in each of the `resamples` of this matrix's stories; NaN where undefined."""
        drawn = resamples.values(self._matrices)
        return {name: statistic(drawn) for name, (statistic, _) in _statistics(self.positive).items()}

    def statistics(self, resamples: Resamples | None = None) -> dict[str, Estimate]:
        """All statistics by name, with intervals if `resamples` of this matrix's stories are given; n counts stories.

        The reason of an undefined one: no story with both labels, only one label used, or a label that never occurs."""
        drawn = None if resamples is None else self.values(resamples)
        by_name = {}
        for name, (statistic, lacks) in _statistics(self.positive).items():
            value = float(statistic(self.counts)) if self.n else np.nan
            estimate = Estimate(value, self.n) if np.isfinite(value) else Estimate.undefined(self._why(lacks), self.n)
            if resamples is not None and drawn is not None and estimate.defined:
                estimate = resamples.interval(estimate, drawn[name])
            by_name[name] = estimate
        return by_name

    def _matrices(self, weights: Weights) -> Floats:
        q = self.cells.shape[-1]
        present = self.cells.any(axis=(1, 2))
        flat = self.cells[present].reshape(-1, q * q)
        return np.asarray((weights[:, present].astype(np.float64) @ flat).reshape(-1, q, q), dtype=np.float64)

    def _why(self, lacks: str) -> str:
        return f"undefined: {lacks}" if self.n else "undefined: no story has a label of both"


def confusion(judge: Floats, people: Floats, labels: int, *, positive: int | None = None) -> Confusion:
    """Confusion matrix of a judge's and human codes 0..`labels`-1; NaN = no label, and the story is not counted.

    `judge` and `people` have shape (n,). A value between two codes (a mean of repeats) or any other code that is none
    of the labels raises ValueError: the caller must round first. `positive` is the code of the positive label of two.
    """
    present = ~(np.isnan(judge) | np.isnan(people))
    codes = np.stack([people[present], judge[present]])
    if codes.size and (np.any(codes != np.round(codes)) or codes.min() < 0 or codes.max() >= labels):
        raise ValueError(f"a code is none of the {labels} labels")
    cells = np.zeros((judge.size, labels, labels))
    row, column = codes.astype(np.int64)
    cells[np.flatnonzero(present), row, column] = 1.0
    return of_cells(cells, positive=positive)


def of_cells(cells: Floats, *, positive: int | None = None) -> Confusion:
    """Confusion matrix of `cells` (n, q, q), as in `Confusion`; `positive` is ignored with more than two labels."""
    counts = np.asarray(cells.sum(axis=0), dtype=np.float64)
    return Confusion(counts, cells, positive if cells.shape[-1] == _PAIR else None)


_PAIR = 2
# Below this a sum of counts, or of shares of them, is rounding noise of 0.
_NOTHING = 1e-9
_ONE = "all stories have one label"
_JUDGE = "the judge never gave a label that precision is of"
_PEOPLE = "people never gave a label that recall is of"


def _statistics(positive: int | None) -> dict[str, tuple[Statistic, str]]:
    """Statistics by name, each with the reason to give where it is undefined."""
    return {
        "accuracy": (_accuracy, "no stories"),
        "balanced_accuracy": (_balanced_accuracy, _PEOPLE),
        "precision": (lambda m: _of(_ratio(np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-2)), positive), _JUDGE),
        "recall": (lambda m: _of(_recalls(m), positive), _PEOPLE),
        "f1": (lambda m: _of(_f1s(m), positive), "neither side gave a label that F1 is of"),
        "phi": (_phi, _ONE),
        "kappa": (_kappa, _ONE),
        "ac1": (_ac1, _ONE),
        "alpha": (_nominal_alpha, _ONE),
    }


def _of(by_label: Floats, positive: int | None) -> Floats:
    """Value for the positive label, or the mean over labels (NaN if one is)."""
    return np.asarray(by_label.mean(axis=-1) if positive is None else by_label[..., positive], dtype=np.float64)


def _accuracy(m: Floats) -> Floats:
    return _ratio(_agreeing(m), m.sum(axis=(-2, -1)))


def _recalls(m: Floats) -> Floats:
    return _ratio(np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-1))


def _f1s(m: Floats) -> Floats:
    """0 where a label was used, but never by both on one story; NaN where nobody used it."""
    return _ratio(2 * np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-1) + m.sum(axis=-2))


def _balanced_accuracy(m: Floats) -> Floats:
    """Undefined where people never gave one of the labels."""
    return np.asarray(_recalls(m).mean(axis=-1), dtype=np.float64)


def _phi(m: Floats) -> Floats:
    """Matthews; of more than two labels Gorodkin's R_K, 2004, equation 8."""
    n, rows, columns = m.sum(axis=(-2, -1)), m.sum(axis=-1), m.sum(axis=-2)
    together = n * _agreeing(m) - (rows * columns).sum(axis=-1)
    spread = (n**2 - (rows**2).sum(axis=-1)) * (n**2 - (columns**2).sum(axis=-1))
    return _ratio(together, np.sqrt(spread))


def _kappa(m: Floats) -> Floats:
    """Undefined where both gave one and the same label to every story."""
    n = m.sum(axis=(-2, -1))
    expected = _ratio((m.sum(axis=-1) * m.sum(axis=-2)).sum(axis=-1), n**2)
    return _ratio(_accuracy(m) - expected, 1 - expected)


def _ac1(m: Floats) -> Floats:
    """1 where both gave one and the same label to every story."""
    n, q = m.sum(axis=(-2, -1)), m.shape[-1]
    share = _ratio(m.sum(axis=-1) + m.sum(axis=-2), 2 * n[..., None])
    expected = (share * (1 - share)).sum(axis=-1) / (q - 1)
    return _ratio(_accuracy(m) - expected, 1 - expected)


def _nominal_alpha(m: Floats) -> Floats:
    """Krippendorff's alpha, nominal, of two raters without missing labels."""
    n = m.sum(axis=(-2, -1))
    total = m.sum(axis=-1) + m.sum(axis=-2)
    differing = 2 * (n - _agreeing(m))
    return 1 - _ratio((2 * n - 1) * differing, (2 * n) ** 2 - (total**2).sum(axis=-1))


def _agreeing(m: Floats) -> Floats:
    return np.asarray(np.trace(m, axis1=-2, axis2=-1), dtype=np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(below > _NOTHING, above / below, np.nan), dtype=np.float64)
