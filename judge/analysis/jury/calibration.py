"""Does a jury's rating mean what it says? Errors and reliability before and after calibration. Only out of fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.jury.jury import Held, Verdict
from judge.analysis.jury.scores import Scorer
from judge.analysis.jury.weights import place_columns
from judge.analysis.options.table_options import JuryOptions
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate
from judge.stats.regression import calibration_error

Floats = NDArray[np.float64]


def tables(juries: Sequence[Held], options: JuryOptions, line: str, bare: str) -> list[Table]:
    """Errors by criterion, and people's means by bins of ratings (signed `bare`); each before and after calibration."""
    return [_errors(juries, options, line), _bins(juries, options, bare)]


def _stages(verdict: Verdict) -> Iterator[tuple[str, list[Floats]]]:
    yield "before", [folding.uncalibrated for folding in verdict.foldings]
    yield "after", [folding.jury for folding in verdict.foldings]


def _errors(juries: Sequence[Held], options: JuryOptions, line: str) -> Table:
    rows = [
        {"dataset": held.matrix.dataset, "criterion": verdict.panel.criterion, "stage": stage}
        | _error_row(predictions, verdict.panel.people, held.scorer)
        for held in juries
        for verdict in held.verdicts
        for stage, predictions in _stages(verdict)
    ]
    columns = [
        *place_columns(juries),
        Column("stage", "calibration"),
        Column("rmse", "RMSE", digits=3),
        Column("bias", "rating - people", digits=3),
        Column("gap", "calibration error", digits=3),
        Column("spread", "sd of ratings", digits=3),
        Column("n", "stories"),
    ]
    notes = [
        f"calibration: {options.calibrate}, fitted on training stories out of inner fold, for held-out stories",
        "all figures in points of people's scale, over all foldings",
        "calibration error: mean distance of mean rating and people's mean over 10 bins, weighted by stories",
    ]
    return Table("Calibration of the jury, out of fold", columns, rows, line, notes)


def _error_row(predictions: Sequence[Floats], people: Floats, scorer: Scorer) -> dict[str, Any]:
    rated = np.concatenate(predictions)
    truth = np.tile(people, len(predictions))
    error = calibration_error.rmse(rated, truth)
    squares = np.mean([(each - people) ** 2 for each in predictions], axis=0)
    known = ~np.isnan(squares)
    n = int(known.sum())
    drawn = None
    if scorer.resamples is not None and n:
        drawn = scorer.resamples.values(
            lambda w: np.sqrt((w[:, known] @ squares[known]) / np.maximum(w[:, known].sum(axis=1), 1))
        )
    if error.value is not None:
        error = scorer.with_interval(Estimate(error.value, n=n), drawn)
    both = ~np.isnan(rated - truth)
    return {
        "rmse": error,
        "bias": calibration_error.bias(rated, truth),
        "gap": calibration_error.calibration_error(calibration_error.reliability_bins(rated, truth)),
        "spread": float(rated[both].std()) if both.any() else None,
        "n": n,
    }


def _bins(juries: Sequence[Held], options: JuryOptions, line: str) -> Table:
    rows: list[Mapping[str, Any]] = []
    for held in juries:
        for verdict in held.verdicts:
            for stage, predictions in _stages(verdict):
                people = np.tile(verdict.panel.people, len(predictions))
                for one in calibration_error.reliability_bins(np.concatenate(predictions), people):
                    place = {"dataset": held.matrix.dataset, "criterion": verdict.panel.criterion, "stage": stage}
                    numbers = {"low": one.low, "high": one.high, "predicted": one.predicted, "people": one.people}
                    rows.append({**place, **numbers, "n": one.n / len(predictions), "gap": one.gap})
    columns = [
        *place_columns(juries),
        Column("stage", "calibration"),
        Column("low", "ratings from"),
        Column("high", "to"),
        Column("n", "stories", digits=1),
        Column("predicted", "mean rating"),
        Column("people", "people's mean"),
        Column("gap", "rating - people"),
    ]
    notes = [f"bins of about equally many stories; stories: mean over {options.foldings} foldings"]
    return Table(
        "Reliability: what people say of stories with similar ratings, out of fold", columns, rows, line, notes
    )
