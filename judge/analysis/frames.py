"""Functions for data frames of results: attach signature and notes, and convert to a printed table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of


def signed(frame: pd.DataFrame, signature: str, notes: Sequence[str] = ()) -> pd.DataFrame:
    """The same frame, with its signature line and its notes stored in `attrs`."""
    frame.attrs.update(signature=signature, notes=list(notes))
    return frame


def flat_frame(rows: Iterable[Mapping[str, Any]], signature: str, notes: Sequence[str] = ()) -> pd.DataFrame:
    """A data frame from rows of a table, with one column per number; `signature` and `notes` are kept in its `attrs`.

    `rows` are mappings by column name. An `Estimate` named `x` gives the columns `x`, `x_low`, `x_high` and `x_reason`;
    a mapping gives one column for each of its keys."""
    return signed(pd.DataFrame([flat(row) for row in rows]), signature, notes)


def flat(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of one row by column, as `flat_frame` has them."""
    values: dict[str, Any] = {}
    for name, value in cells.items():
        if isinstance(value, Estimate):
            values |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            values[f"{name}_reason"] = value.reason
        elif isinstance(value, Mapping):
            values |= flat(value)
        else:
            values[name] = value
    return values


def parts_of(estimate: Estimate) -> dict[str, Any]:
    """Cells of an estimate that has a row of its own: `value`, its interval, `n`, `method` and `reason`."""
    return cells_of(estimate, "value", "low", "high", "n", "method", "reason")


def long_table(title: str, frame: pd.DataFrame, signature: str = "") -> Table:
    """Printed table with the rows of a frame. Its column titles are those of the frame; missing values become None."""
    plain = frame.astype(object).where(frame.notna(), None)
    rows: list[dict[str, Any]] = [{str(k): value for k, value in row.items()} for row in plain.to_dict("records")]
    return Table(title, [Column(str(name), str(name)) for name in frame.columns], rows, signature)
