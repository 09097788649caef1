"""Calibration of a score to people's scale: a line, an isotonic curve, or the proportional-odds model.

A calibration is fitted on one set of stories and applied to others; on its own stories any of them looks better than it
is. Each predicts the people's mean rating of a story from one score. Where it cannot be fitted it says why, and its
predictions are NaN: it never falls back to another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from judge.stats.regression.isotonic import fit_isotonic
from judge.stats.regression.ordinal import Ordinal, fit_ordinal

Floats = NDArray[np.float64]
Kind = Literal["linear", "isotonic", "ordinal"]
LEAST_STORIES = 10


class _Curve(Protocol):
    def predict(self, x: Floats, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Line:
    """A calibration line: slope * x + intercept, in the units of y."""

    slope: float
    intercept: float

    def predict(self, x: Floats) -> Floats:
        """Predictions in the units of y, in the shape of `x`.

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
    """A calibration fitted on `n` stories; `curve` is None where there is none, and then `reason` says why."""

    kind: Kind
    n: int
    curve: _Curve | None = None
    reason: str | None = None

    def predict(self, score: Floats) -> Floats:
        """People's mean rating, predicted from scores.

        Parameters
        ----------
        score : array, shape (n,)
            In the units of the scores that it was fitted on; NaN = missing.

        Returns
        -------
        array, shape (n,)
            In points of people's scale; NaN for a missing score, and everywhere without a curve.
        """
        if self.curve is None:
            return np.full(score.shape, np.nan)
        return self.curve.predict(score)


def fit_calibration(score: Floats, people: Floats, kind: Kind) -> Calibration:
    """Fit a calibration of scores to people's mean ratings.

    Parameters
    ----------
    score, people : array, shape (n,)
        A judge's or panel's scores, in any units, and people's mean ratings. Pairs with NaN are left out.
    kind : str
        ``linear`` (least squares), ``isotonic`` (`isotonic.fit_isotonic`), ``ordinal`` (expected value of
        `ordinal.fit_ordinal` with the people's distinct means as levels).

    Returns
    -------
    Calibration
        Without a curve, and with the reason, for fewer than 10 pairs, scores that are all equal, and where the
        ordinal model does not exist.
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
    model = fit_ordinal(x[:, None], y)
    if isinstance(model, str):
        return Calibration(kind, n, reason=f"ordinal calibration undefined: {model}")
    return Calibration(kind, n, _OrdinalCurve(model))
