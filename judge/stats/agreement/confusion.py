"""The confusion matrix of a judge's labels and people's labels, and the statistics computed from it.

Every statistic here is a function of the confusion matrix, rows people's label, columns the judge's, so that a resample
of stories is a weighted sum of small matrices. With N_rc stories of label r that the judge calls c, N all of them:

==================  =================================================================================================
statistic           formula
==================  =================================================================================================
accuracy            sum_c N_cc / N
balanced accuracy   mean over people's labels of recall (Brodersen et al. 2010, ICPR, equation 5): .5 is chance for two
precision           N_cc / N_.c, of what the judge calls c the share that people call c
recall              N_cc / N_c., of what people call c the share that the judge calls c
F1                  2 N_cc / (N_c. + N_.c), harmonic mean of both (van Rijsbergen 1979)
phi                 Pearson's correlation of two labels coded 0 and 1 (Matthews 1975); of more labels Gorodkin's (2004)
kappa               (accuracy - e) / (1 - e), e = sum_c N_c. N_.c / N² (Cohen 1960)
AC1                 the same with e = sum_c p_c (1 - p_c) / (q - 1), p_c = (N_c. + N_.c) / 2N (Gwet 2008)
alpha               1 - (2N - 1) D / (4N² - sum_c n_c²), D disagreeing pairs counted twice, n_c = N_c. + N_.c, nominal
                    (Krippendorff 2011)
prevalence          N_c. / N by people, N_.c / N by the judge
==================  =================================================================================================

Of two labels precision, recall and F1 are those of the positive one; of more they are means over the labels (macro).
A judge that always says one label has recall 0 of the other and no precision of it: undefined, never 0 by convention.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate
from judge.stats.resampling.bootstrap import Resamples

Floats = NDArray[np.float64]
Weights = NDArray[np.int64]

Statistic = Callable[[Floats], Floats]
"""From confusion matrices (..., q, q) to one number each (...,); NaN where it is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Confusion matrix: counts of stories by people's label and the judge's label.

    Attributes
    ----------
    counts : array, shape (q, q)
        Stories by people's label (row) and the judge's (column).
    cells : array, shape (n, q, q)
        Of each story how much of it stands in which cell: 1 in one, nothing where either side gave no label; shares
        where it stands for several readings.
    positive : int or None
        Code of the positive label of two; None of more: precision, recall and F1 are then means over labels.
    """

    counts: Floats
    cells: Floats
    positive: int | None

    @property
    def n(self) -> int:
        """Number of stories that both sides labelled."""
        return int((self.cells.sum(axis=(1, 2)) > 0).sum())

    def values(self, resamples: Resamples) -> dict[str, Floats]:
        """Every statistic in each resample of stories.

        Parameters
        ----------
        resamples : Resamples
            Of the same n stories.

        Returns
        -------
        dict
            Name of the statistic -> array, shape (b,); NaN where it is undefined.
        """
        drawn = resamples.values(self._matrices)
        return {name: statistic(drawn) for name, (statistic, _) in _statistics(self.positive).items()}

    def statistics(self, resamples: Resamples | None = None) -> dict[str, Estimate]:
        """Every statistic of the confusion matrix, with an interval where resamples are given.

        Parameters
        ----------
        resamples : Resamples, optional
            Of the same n stories.

        Returns
        -------
        dict
            Name of the statistic -> Estimate; `n` counts stories. Undefined ones say what is missing: no story that
            both labelled, one label only, or a label nobody gave. Formulas: see the module.
        """
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
        """Confusion matrices (b, q, q) of weights (b, n)."""
        q = self.cells.shape[-1]
        present = self.cells.any(axis=(1, 2))
        flat = self.cells[present].reshape(-1, q * q)
        return np.asarray((weights[:, present].astype(np.float64) @ flat).reshape(-1, q, q), dtype=np.float64)

    def _why(self, lacks: str) -> str:
        return f"undefined: {lacks}" if self.n else "undefined: no story has a label of both"


def confusion(judge: Floats, people: Floats, labels: int, *, positive: int | None = None) -> Confusion:
    """The confusion matrix of a judge's labels and people's labels.

    Parameters
    ----------
    judge, people : array, shape (n,)
        Codes 0..labels-1 of each story; NaN = no label, and the story has no cell. A code of the judge between two
        labels (a mean of repeats) has no cell either: the caller rounds it first.
    labels : int
        Number of labels (q).
    positive : int, optional
        Code of the positive label of two.

    Returns
    -------
    Confusion
        Counts (q, q), rows people's label, columns the judge's.

    Raises
    ------
    ValueError
        For a code that is none of the labels.
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
    """The confusion matrix from the cells of each story.

    Parameters
    ----------
    cells : array, shape (n, q, q)
        As in `Confusion.cells`.
    positive : int, optional
        Code of the positive label of two; of no effect with more.

    Returns
    -------
    Confusion
        Its counts are the sums of the cells.
    """
    counts = np.asarray(cells.sum(axis=0), dtype=np.float64)
    return Confusion(counts, cells, positive if cells.shape[-1] == _PAIR else None)


_PAIR = 2
_NOTHING = 1e-9
"""Below this a sum of counts, or of shares of them, is rounding noise of 0."""
_ONE = "all stories have one label"
_JUDGE = "the judge never gave a label that precision is of"
_PEOPLE = "people never gave a label that recall is of"


def _statistics(positive: int | None) -> dict[str, tuple[Statistic, str]]:
    """Name -> statistic, and what is missing where it is undefined."""
    return {
        "accuracy": (_accuracy, "no stories"),
        "balanced_accuracy": (_balanced_accuracy, _PEOPLE),
        "precision": (lambda m: _of(_precisions(m), positive), _JUDGE),
        "recall": (lambda m: _of(_recalls(m), positive), _PEOPLE),
        "f1": (lambda m: _of(_f1s(m), positive), "neither side gave a label that F1 is of"),
        "phi": (_phi, _ONE),
        "kappa": (_kappa, _ONE),
        "ac1": (_ac1, _ONE),
        "alpha": (_nominal_alpha, _ONE),
    }


def _of(by_label: Floats, positive: int | None) -> Floats:
    """The positive label's, or the mean over labels, which is undefined where one of them is."""
    return np.asarray(by_label.mean(axis=-1) if positive is None else by_label[..., positive], dtype=np.float64)


def _accuracy(m: Floats) -> Floats:
    """Share of stories with one label by both."""
    return _ratio(_agreeing(m), m.sum(axis=(-2, -1)))


def _recalls(m: Floats) -> Floats:
    """Recall of each label, shape (..., q)."""
    return _ratio(np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-1))


def _precisions(m: Floats) -> Floats:
    """Precision of each label, shape (..., q)."""
    return _ratio(np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-2))


def _f1s(m: Floats) -> Floats:
    """F1 of each label, shape (..., q); 0 where both sides gave it and never together."""
    return _ratio(2 * np.diagonal(m, axis1=-2, axis2=-1), m.sum(axis=-1) + m.sum(axis=-2))


def _balanced_accuracy(m: Floats) -> Floats:
    """Mean recall over labels; undefined where people never gave one of them."""
    return np.asarray(_recalls(m).mean(axis=-1), dtype=np.float64)


def _phi(m: Floats) -> Floats:
    """Correlation of the labels (Matthews; of more than two labels Gorodkin's R_K, 2004, equation 8)."""
    n, rows, columns = m.sum(axis=(-2, -1)), m.sum(axis=-1), m.sum(axis=-2)
    together = n * _agreeing(m) - (rows * columns).sum(axis=-1)
    spread = (n**2 - (rows**2).sum(axis=-1)) * (n**2 - (columns**2).sum(axis=-1))
    return _ratio(together, np.sqrt(spread))


def _kappa(m: Floats) -> Floats:
    """Cohen's kappa; undefined where both sides gave one label only, the same."""
    n = m.sum(axis=(-2, -1))
    expected = _ratio((m.sum(axis=-1) * m.sum(axis=-2)).sum(axis=-1), n**2)
    return _ratio(_accuracy(m) - expected, 1 - expected)


def _ac1(m: Floats) -> Floats:
    """Gwet's AC1 of two raters over the scale's labels: 1 where both gave one label only, the same."""
    n, q = m.sum(axis=(-2, -1)), m.shape[-1]
    share = _ratio(m.sum(axis=-1) + m.sum(axis=-2), 2 * n[..., None])
    expected = (share * (1 - share)).sum(axis=-1) / (q - 1)
    return _ratio(_accuracy(m) - expected, 1 - expected)


def _nominal_alpha(m: Floats) -> Floats:
    """Krippendorff's alpha of two raters without gaps, nominal."""
    n = m.sum(axis=(-2, -1))
    total = m.sum(axis=-1) + m.sum(axis=-2)
    differing = 2 * (n - _agreeing(m))
    return 1 - _ratio((2 * n - 1) * differing, (2 * n) ** 2 - (total**2).sum(axis=-1))


def _agreeing(m: Floats) -> Floats:
    return np.asarray(np.trace(m, axis1=-2, axis2=-1), dtype=np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(below > _NOTHING, above / below, np.nan), dtype=np.float64)
