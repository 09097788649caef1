"""Calibration: a mapping of a judge's score to the scale of human ratings by a line, an isotonic curve, or the
proportional-odds model.

A calibration should be fitted on one set of stories and applied to other stories, because it fits its own stories too
well. Each kind predicts the mean human rating of a story from one score. If a calibration cannot be fitted, it gives
the reason, and its predictions are NaN; no other kind takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

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
