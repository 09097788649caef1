"""Frames as tables with one row for each number. Never computes a number."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge.printing.tables import Column, Table


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame, with None for pandas' missing marks."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]


def long_table(title: str, frame: pd.DataFrame, signature: str = "") -> Table:
    """The frame with its columns' names as titles."""
    return Table(title, [Column(str(name), str(name)) for name in frame.columns], rows_of(frame), signature)
