"""Printed tables of a jury's errors and reliability, before and after calibration."""

from __future__ import annotations

from judge.analysis.jury.criterion_columns import cells_of, criterion_columns
from judge.analysis.jury.result import Juries
from judge.base.printing.tables import Column, Table


def tables(juries: Juries) -> list[Table]:
    """Two tables: a jury's errors by criterion, and mean human ratings by bins of the jury's ratings.

    Both show values before and after calibration.
    """
    return [_errors(juries), _bins(juries)]


def _errors(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict)
        | {
            "stage": calibrated.stage,
            "rmse": calibrated.rmse,
            "bias": calibrated.bias,
            "gap": calibrated.gap,
            "spread": calibrated.spread,
            "n": calibrated.n,
        }
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
    ]
    columns = [
        *criterion_columns(juries),
        Column("stage", "calibration"),
        Column("rmse", "RMSE", digits=3),
        Column("bias", "rating - people", digits=3),
        Column("gap", "calibration error", digits=3),
        Column("spread", "sd of ratings", digits=3),
        Column("n", "stories"),
    ]
    notes = [
        f"calibration: {juries.options.calibrate}, fitted on training stories out of inner fold, for held-out stories",
        "all figures in points of people's scale, over all foldings",
        "calibration error: mean distance between mean rating and people's mean over 10 bins, weighted by stories",
    ]
    return Table("Calibration of the jury, out of fold", columns, rows, juries.signature, notes)


def _bins(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict)
        | {
            "stage": calibrated.stage,
            "low": each.low,
            "high": each.high,
            "n": each.n / calibrated.foldings,
            "predicted": each.predicted,
            "people": each.people,
            "gap": each.gap,
        }
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
        for each in calibrated.bins
    ]
    columns = [
        *criterion_columns(juries),
        Column("stage", "calibration"),
        Column("low", "ratings from"),
        Column("high", "to"),
        Column("n", "stories", digits=1),
        Column("predicted", "mean rating"),
        Column("people", "people's mean"),
        Column("gap", "rating - people"),
    ]
    notes = [f"bins of about equally many stories; stories: mean over {juries.options.foldings} foldings"]
    title = "Reliability: people's mean rating of stories with similar ratings, out of fold"
    return Table(title, columns, rows, juries.bare_signature, notes)
