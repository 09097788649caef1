"""Columns that name the dataset and criterion of a row of a jury's tables."""

from __future__ import annotations

from judge.analysis.jury.result import Held, Juries, Verdict
from judge.printing.tables import Column


def cells_of(held: Held, verdict: Verdict) -> dict[str, object]:
    """The values of the columns that identify a criterion."""
    return {"dataset": held.dataset, "criterion": verdict.criterion}


def criterion_columns(juries: Juries) -> list[Column]:
    """The columns that identify a criterion; with several datasets, the dataset's column too."""
    several = [Column("dataset", "dataset")] if len(juries.held) > 1 else []
    return [*several, Column("criterion", "criterion")]
