"""Columns that name the dataset and criterion of a row of a jury's tables."""

from __future__ import annotations

from judge.analysis.jury.result import Held, Juries, Verdict
from judge.base.printing.tables import Column


def cells_of(held: Held, verdict: Verdict) -> dict[str, object]:
    """Map from the columns that identify a criterion to their values: dataset and criterion."""
    return {"dataset": held.dataset, "criterion": verdict.criterion}


def criterion_columns(juries: Juries) -> list[Column]:
    """The columns that identify a criterion: its name, and with several datasets also the dataset."""
    several = [Column("dataset", "dataset")] if len(juries.held) > 1 else []
    return [*several, Column("criterion", "criterion")]
