"""Functions for data frames of results: attach signature and notes, and convert to a printed table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from judge.base.printing.tables import Column, Table


def signed(frame: pd.DataFrame, signature: str, notes: Sequence[str] = ()) -> pd.DataFrame:
    """The same frame, with its signature line and its notes stored in `attrs`."""
    frame.attrs.update(signature=signature, notes=list(notes))
    return frame


def long_table(title: str, frame: pd.DataFrame, signature: str = "") -> Table:
    """Printed table with the rows of a frame. Its column titles are those of the frame; missing values become None."""
    plain = frame.astype(object).where(frame.notna(), None)
    rows: list[dict[str, Any]] = [{str(k): value for k, value in row.items()} for row in plain.to_dict("records")]
    return Table(title, [Column(str(name), str(name)) for name in frame.columns], rows, signature)
