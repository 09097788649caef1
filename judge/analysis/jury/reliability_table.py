"""Printed table of reliability curves: people's mean rating in each bin of stories, before and after calibration."""

from __future__ import annotations

from judge.analysis.jury.reliability_curve import Curves
from judge.base.printing.tables import Column, Table

COLUMNS = (
    Column("criterion", "criterion"),
    Column("judge", "judge"),
    Column("eval_prompt", "eval prompt"),
    Column("calibrated", "calibrated"),
    Column("rating", "judge's rating"),
    Column("people", "people's mean"),
    Column("stories", "stories", digits=0),
    Column("error", "calibration error", digits=3),
)


def table(curves: Curves) -> Table:
    """Table of one dataset's curves, with one row per bin; the calibration error stands in each row of its curve."""
    rows = [
        {"criterion": curve.criterion, "judge": curve.judge, "eval_prompt": curve.eval_prompt, "calibrated": calibrated}
        | {"rating": point.rating, "people": point.people, "stories": float(point.stories), "error": error}
        for curve in curves.curves
        for calibrated, points, error in (
            (False, curve.before, curve.error_before),
            (True, curve.after, curve.error_after),
        )
        for point in points
    ]
    why = {f"{curve.criterion}, {curve.judge}: {curve.reason}": None for curve in curves.curves if curve.reason}
    return Table(f"Calibration, {curves.dataset}", COLUMNS, rows, curves.signature, (*curves.notes, *why))
