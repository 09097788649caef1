"""Calibration of scores to mean human ratings, and its error over all stories and in bins of similar predictions.

The predictions should come from a model that was fitted on other stories; this cannot be checked here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

import numpy as np

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.stats.correlation import kendall
from judge.stats.regression.ordinal import Ordinal, fit_ordinal

# Isotonic regression: the non-decreasing curve with the smallest squared error.


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A fitted isotonic curve: the distinct `scores`, ascending, and the prediction for each, never decreasing."""

    scores: Floats
    values: Floats

    def predict(self, x: Floats) -> Floats:
        """Predictions for scores `x` (any shape), linear between fitted scores and constant outside; NaN gives NaN."""
        return np.asarray(np.interp(x, self.scores, self.values), dtype=np.float64)


def fit_isotonic(x: Floats, y: Floats) -> Isotonic:
    """The isotonic regression of `y` on `x` (n,) by pooling adjacent violators (Ayer et al. 1955).

    Pairs with NaN are left out, ValueError without one; scores that are equal to 1e-9 share one prediction."""
    from scipy.optimize import isotonic_regression

    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size == 0:
        raise ValueError("isotonic regression needs a pair of score and response")
    level = kendall.codes(x)
    mass = np.bincount(level).astype(np.float64)
    scores, means = (np.bincount(level, weights=side) / mass for side in (x, y))
    return Isotonic(scores, np.asarray(isotonic_regression(means, weights=mass).x, dtype=np.float64))


# Split conformal prediction intervals for clustered stories, whose coverage is guaranteed for any model.


def reach(errors: Floats, cluster: Codes, level: float) -> float:
    """Half-width of the conformal interval of a prediction; infinite with fewer than level / (1 - level) story-prompts.

    `errors` (n,) are absolute, on the calibration set, NaN left out; `cluster` (n,) holds story-prompts; `level` is the
    wanted coverage, ValueError outside 0 to 1."""
    if not 0 < level < 1:
        raise ValueError(f"level {level:g} must lie between 0 and 1")
    present = ~np.isnan(errors)
    error = errors[present]
    if not error.size:
        return math.inf
    code = renumbered(cluster[present])
    size = np.bincount(code)
    weight = 1 / ((size.size + 1) * size[code])
    order = np.argsort(error, kind="stable")
    share = np.cumsum(weight[order])
    # Rounding noise in the cumulated weights must not move the quantile to the next error.
    index = int(np.searchsorted(share, level - 1e-12))
    return float(error[order][index]) if index < error.size else math.inf


# Calibration: a mapping of a judge's score to the scale of human ratings by a line, an isotonic curve, or the
# proportional-odds model.

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
        """Ratings predicted from scores `x` (any shape); NaN gives NaN."""
        return np.asarray(self.slope * x + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _OrdinalCurve:
    model: Ordinal

    def predict(self, x: Floats) -> Floats:
        return self.model.predict(x[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A mapping from scores to mean human ratings, fitted on `n` stories; without a curve there is a `reason`."""

    kind: Kind
    n: int
    curve: _Curve | None = None
    reason: str | None = None

    def predict(self, score: Floats) -> Floats:
        """Mean human rating of each story from its `score` (n,); NaN for a missing score, or without a curve."""
        if self.curve is None:
            return np.full(score.shape, np.nan)
        return self.curve.predict(score)


def fit_calibration(score: Floats, people: Floats, kind: Kind) -> Calibration:
    """A calibration fitted on stories: it predicts the mean human rating of a story from its score.

    `score` and `people` (n,) are a judge's or panel's scores, in any unit, and mean human ratings; pairs with NaN are
    left out. `kind` is ``linear`` (least squares), ``isotonic`` (`isotonic.fit_isotonic`) or ``ordinal`` (expected
    rating under the proportional-odds model, `ordinal.fit_ordinal`; its levels are the distinct mean human ratings). No
    curve for fewer than 10 pairs, scores that are all equal, and where the ordinal model cannot be fitted."""
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
    """Stories with predictions `low` to `high`; `people` and `spread` are the mean and SD of human ratings."""

    low: float
    high: float
    n: int
    predicted: float
    people: float
    spread: float

    @property
    def gap(self) -> float:
        """Mean prediction minus mean human rating; above 0, the predictions are too high."""
        return self.predicted - self.people


def rmse(predicted: Floats, people: Floats) -> Estimate:
    """Root mean squared error of `predicted` ratings against mean human ratings `people` (n,), in points.

    A story with NaN in either is left out; n counts stories. Undefined without a pair."""
    error = _errors(predicted, people)
    if not error.size:
        return Estimate.undefined(NO_PAIR)
    return Estimate(float(np.sqrt(np.mean(error**2))), n=error.size)


def bias(predicted: Floats, people: Floats) -> Estimate:
    """Mean of `predicted` minus `people` (n,), as in `rmse`; above 0, the predictions are too high."""
    error = _errors(predicted, people)
    return Estimate(float(error.mean()), n=error.size) if error.size else Estimate.undefined(NO_PAIR)


def reliability_bins(predicted: Floats, people: Floats, bins: int = BINS) -> list[Bin]:
    """Bins of about equally many stories with similar predictions, ascending; equal predictions (to 1e-9) share a bin.

    `predicted` and `people` are as in `rmse`. There are fewer than `bins` where many predictions are equal."""
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
    """Mean over `bins` of |mean prediction - mean human rating|, weighted by number of stories; n counts stories.

    This is the expected calibration error (Naeini, Cooper & Hauskrecht 2015, section 3) with the mean human rating in
    place of the share of correct answers. It is above 0 in finite samples even for perfect calibration, because the
    mean of a bin of n stories varies by about sd / sqrt(n)."""
    n = sum(each.n for each in bins)
    if not n:
        return Estimate.undefined(NO_PAIR)
    return Estimate(sum(each.n * abs(each.gap) for each in bins) / n, n=n)


def _errors(predicted: Floats, people: Floats) -> Floats:
    error = predicted - people
    return np.asarray(error[~np.isnan(error)], dtype=np.float64)
