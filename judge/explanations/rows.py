"""Codes of explanations for counting: story, query, rows of a table (judge x Eval-Prompt...). Never drops one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Codes = NDArray[np.int64]

STORY = ("dataset", "story")
QUERY = ("run", "judge", "dataset", "story", "criterion", "eval_prompt")


def codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """0, 1, 2... for each distinct combination of columns, in the order of their first rows."""
    if frame.empty:
        return np.empty(0, dtype=np.int64)
    return np.asarray(frame.groupby(list(columns), sort=False, dropna=False).ngroup(), dtype=np.int64)


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[dict[str, Any], NDArray[np.int64]]]:
    """Each combination of columns with the positions (not labels) of its rows, in the order of their first rows."""
    code = codes(frame, columns)
    for number in range(int(code.max()) + 1 if code.size else 0):
        rows = np.flatnonzero(code == number)
        first = frame.iloc[rows[0]]
        yield {column: first[column] or None for column in columns}, rows


def told(frame: pd.DataFrame, *columns: str) -> NDArray[np.bool_]:
    """Rows in which every one of these columns is known ("" = not known)."""
    return np.asarray((frame[list(columns)] != "").all(axis=1), dtype=np.bool_)
