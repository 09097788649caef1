"""Calibration error: distance between predicted ratings and mean human ratings, over all stories and in bins of similar
predictions.

The predictions should come from a model that was fitted on other stories; the functions of this module cannot check
this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import kendall
from judge.stats.regression.isotonic import fit_isotonic
from judge.stats.regression.ordinal import Ordinal, fit_ordinal

# Calibration: a mapping of a judge's score to the scale of human ratings by a line, an isotonic curve, or the
# proportional-odds model.

Floats = NDArray[np.float64]
Kind = Literal["linear", "isotonic", "ordinal"]
LEAST_STORIES = 10


class _Curve(Protocol):
    def predict(self, x: Floats, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Line:
    """A linear calibration: prediction = slope * score + intercept, in points of the human ratings."""

    slope: float
    intercept: float

    def predict(self, x: Floats) -> Floats:
        """Ratings predicted from scores by this linear calibration, in points of the human ratings; the shape is that
        of `x`.

        Parameters
        ----------
        x : array, any shape
            Scores; NaN gives NaN.
        """
        return np.asarray(self.slope * x + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _OrdinalCurve:
    model: Ordinal

    def predict(self, x: Floats) -> Floats:
        return self.model.predict(x[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A mapping from scores to mean human ratings, fitted on `n` stories; `kind` is its name (such as ``linear``).
    `curve` is None where the fit is not possible, and `reason` says why.
    """

    kind: Kind
    n: int
    curve: _Curve | None = None
    reason: str | None = None

    def predict(self, score: Floats) -> Floats:
        """Mean human rating of each story, predicted from its score.

        Parameters
        ----------
        score : array, shape (n,)
            Scores in the units of those on which the calibration was fitted; NaN = missing.

        Returns
        -------
        array, shape (n,)
            Predictions in points of the human ratings; NaN for a missing score, and everywhere if `curve` is None.
        """
        if self.curve is None:
            return np.full(score.shape, np.nan)
        return self.curve.predict(score)


def fit_calibration(score: Floats, people: Floats, kind: Kind) -> Calibration:
    """A calibration fitted on the given stories: it predicts the mean human rating of a story from its score.

    Parameters
    ----------
    score, people : array, shape (n,)
        Score of each story by a judge or a panel of judges, in any units, and its mean human rating. Pairs with
        NaN are left out.
    kind : str
        ``linear`` (least squares), ``isotonic`` (`isotonic.fit_isotonic`), ``ordinal`` (expected rating under
        the proportional-odds model, `ordinal.fit_ordinal`; its levels are the distinct mean human ratings).

    Returns
    -------
    Calibration
        Its curve is None, with the reason, for fewer than 10 pairs, for scores that are all equal, and where the
        ordinal model cannot be fitted.
    """
    present = ~(np.isnan(score) | np.isnan(people))
    x, y = score[present], people[present]
    n = int(x.size)
    if n < LEAST_STORIES:
        return Calibration(kind, n, reason=f"calibration needs {LEAST_STORIES} rated stories or more")
    if float(np.ptp(x)) < 1e-9:
        return Calibration(kind, n, reason="calibration undefined because the scores are all equal")
    if kind == "linear":
        slope, intercept = np.polynomial.polynomial.polyfit(x, y, 1)[::-1]
        return Calibration(kind, n, Line(float(slope), float(intercept)))
    if kind == "isotonic":
        return Calibration(kind, n, fit_isotonic(x, y))
    if kind != "ordinal":
        assert_never(kind)
    model = fit_ordinal(x[:, None], y)
    if isinstance(model, str):
        return Calibration(kind, n, reason=f"ordinal calibration undefined: {model}")
    return Calibration(kind, n, _OrdinalCurve(model))


BINS = 10
NO_PAIR = "undefined: no story has both a prediction and people's ratings"


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of stories with similar predictions.

    Attributes
    ----------
    low, high : float
        Lowest and highest prediction.
    n : int
        Number of stories.
    predicted : float
        Mean prediction.
    people, spread : float
        Mean and standard deviation of the human ratings.
    """

    low: float
    high: float
    n: int
    predicted: float
    people: float
    spread: float

    @property
    def gap(self) -> float:
        """Mean prediction of the bin minus its mean human rating; above 0, the predictions are too high."""
        return self.predicted - self.people


def rmse(predicted: Floats, people: Floats) -> Estimate:
    """Root mean squared error of predictions of the mean human rating, in points of the scale.

    Parameters
    ----------
    predicted, people : array, shape (n,)
        Prediction and mean human rating of each story, in points of the scale; a story with NaN in either is
        left out.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined without a pair.
    """
    error = _errors(predicted, people)
    if not error.size:
        return Estimate.undefined(NO_PAIR)
    return Estimate(float(np.sqrt(np.mean(error**2))), n=error.size)


def bias(predicted: Floats, people: Floats) -> Estimate:
    """Mean over stories of the prediction minus the mean human rating, in points of the scale; above 0, the predictions
    are too high.

    Parameters
    ----------
    predicted, people : array, shape (n,)
        Prediction and mean human rating of each story, in points of the scale; a story with NaN in either is
        left out.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined without a pair.
    """
    error = _errors(predicted, people)
    return Estimate(float(error.mean()), n=error.size) if error.size else Estimate.undefined(NO_PAIR)


def reliability_bins(predicted: Floats, people: Floats, bins: int = BINS) -> list[Bin]:
    """Bins of stories with similar predictions, with about equal numbers of stories, in ascending order of prediction;
    stories with equal predictions (to 1e-9) are in the same bin.

    Parameters
    ----------
    predicted, people : array, shape (n,)
        Prediction and mean human rating of each story; a story with NaN in either is left out.
    bins : int
        Maximum number of bins; there are fewer where many predictions are equal.
    """
    present = ~(np.isnan(predicted) | np.isnan(people))
    x, y = predicted[present], people[present]
    if not x.size:
        return []
    level = kendall.codes(x)
    counts = np.bincount(level)
    # A value belongs to the bin in which the middle of its stories lies.
    middle = np.cumsum(counts) - counts / 2
    of_value = np.minimum((middle * bins / x.size).astype(np.int64), bins - 1)
    of_story = of_value[level]
    filled = []
    for number in np.unique(of_value):
        inside = of_story == number
        part, people_part = x[inside], y[inside]
        numbers = (float(part.mean()), float(people_part.mean()), float(people_part.std()))
        filled.append(Bin(float(part.min()), float(part.max()), part.size, *numbers))
    return filled


def calibration_error(bins: Sequence[Bin]) -> Estimate:
    """Mean over bins of the distance between mean prediction and mean human rating, weighted by number of stories; in
    points of the scale.

    This is the expected calibration error (Naeini, Cooper & Hauskrecht 2015, section 3) with the mean human rating in
    place of the share of correct answers. It is above 0 in finite samples even for perfect calibration, because the
    mean of a bin of n stories varies by about sd / sqrt(n).

    Parameters
    ----------
    bins : sequence of Bin
        Bins from `reliability_bins`.

    Returns
    -------
    Estimate
        Without an interval; `n` counts stories. Undefined without a bin.
    """
    n = sum(each.n for each in bins)
    if not n:
        return Estimate.undefined(NO_PAIR)
    return Estimate(sum(each.n * abs(each.gap) for each in bins) / n, n=n)


def _errors(predicted: Floats, people: Floats) -> Floats:
    error = predicted - people
    return np.asarray(error[~np.isnan(error)], dtype=np.float64)
