"""Errors and reliability of a jury's ratings before and after calibration, out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.analysis.jury.nested_folds import Folding
from judge.analysis.jury.panel import Panel
from judge.analysis.jury.scores import Scorer
from judge.base.estimate import Estimate
from judge.stats.regression import calibration_error

Floats = NDArray[np.float64]
Stage = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A jury's errors before or after calibration (see `stage`), in points of the human scale.

    Attributes
    ----------
    rmse, bias, gap : Estimate
        Root mean squared error, mean rating minus mean human rating, and calibration error.
    spread : float or None
        Standard deviation of the ratings.
    n, foldings : int
        Number of stories, and number of foldings (assignments of stories to folds), each of which rates every story.
    bins : tuple of calibration_error.Bin
        Mean human rating in bins of the jury's ratings.
    """

    stage: Stage
    rmse: Estimate
    bias: Estimate
    gap: Estimate
    spread: float | None
    n: int
    foldings: int
    bins: tuple[calibration_error.Bin, ...]


def calibrated(panel: Panel, foldings: Sequence[Folding], scorer: Scorer) -> tuple[Calibrated, ...]:
    """Errors of a jury's ratings on one criterion: before calibration, then after it.

    A folding is an assignment of stories to folds; errors are computed over all foldings.
    """
    before, after = [folding.uncalibrated for folding in foldings], [folding.jury for folding in foldings]
    return _calibrated("before", before, panel.people, scorer), _calibrated("after", after, panel.people, scorer)


def _calibrated(stage: Stage, predictions: Sequence[Floats], people: Floats, scorer: Scorer) -> Calibrated:
    rated = np.concatenate(predictions)
    truth = np.tile(people, len(predictions))
    error = calibration_error.rmse(rated, truth)
    squares = np.mean([(each - people) ** 2 for each in predictions], axis=0)
    both_rated = ~np.isnan(squares)
    n = int(both_rated.sum())
    drawn = None
    if scorer.resamples is not None and n:
        drawn = scorer.resamples.values(
            lambda w: np.sqrt((w[:, both_rated] @ squares[both_rated]) / np.maximum(w[:, both_rated].sum(axis=1), 1))
        )
    if error.value is not None:
        error = scorer.with_interval(Estimate(error.value, n=n), drawn)
    both = ~np.isnan(rated - truth)
    bins = calibration_error.reliability_bins(rated, truth)
    return Calibrated(
        stage,
        rmse=error,
        bias=calibration_error.bias(rated, truth),
        gap=calibration_error.calibration_error(bins),
        spread=float(rated[both].std()) if both.any() else None,
        n=n,
        foldings=len(predictions),
        bins=tuple(bins),
    )
