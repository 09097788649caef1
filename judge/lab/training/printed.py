"""Tables for printing the results of training."""

from __future__ import annotations

from judge.analysis.preference.printed import agreement_tables
from judge.base.printing.tables import Column, Table
from judge.lab.training.evaluation import Calibrations, RatingAgreement
from judge.lab.training.result import Trained


def training_tables(result: Trained) -> list[Table]:
    """Tables of a trained model's out-of-fold agreement with human preferences and ratings, followed by tables of
    calibration.
    """
    agreements = [] if result.preferences is None else agreement_tables(result.preferences)
    agreements += [] if result.ratings is None else [_ratings(result.ratings)]
    return [*agreements, _calibration(result.calibrations)]


def _ratings(result: RatingAgreement) -> Table:
    columns = [
        *([Column("dataset", "dataset")] if len({row.dataset for row in result.rows}) > 1 else []),
        Column("criterion", "criterion"),
        Column("predictor", "predictor"),
        Column("tau", "tau x 100", digits=1, factor=100),
        Column("lowest", "lowest folding", digits=1, factor=100),
        Column("highest", "highest folding", digits=1, factor=100),
        Column("rho", "rho x 100", digits=1, factor=100),
        Column("over_control", "tau minus control", digits=1, factor=100),
        Column("n", "stories"),
    ]
    keys = [column.key for column in columns]
    rows = [{key: row.record()[key] for key in keys} for row in result.rows]
    return Table("Agreement with people's ratings, out of fold", columns, rows, result.signature, result.notes)


def _calibration(result: Calibrations) -> Table:
    columns = [
        Column("criterion", "criterion"),
        Column("what", "quantity"),
        Column("bin", "fifth"),
        Column("predicted", "predicted"),
        Column("people", "people"),
        Column("n", "n"),
    ]
    rows = [{column.key: getattr(row, column.key) for column in columns} for row in result.rows]
    return Table("Calibration, out of fold", columns, rows, result.signature, result.notes)
