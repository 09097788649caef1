"""Codes of explanations for counting: story, query, rows of a table (judge x Eval-Prompt...). Never drops one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.printing.tables import Column

Codes = NDArray[np.int64]

_TITLES = {"eval_prompt": "eval prompt"}
STORY = ("dataset", "story")


def codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """0, 1, 2... for each distinct combination of columns, in the order of their first rows."""
    if frame.empty:
        return np.empty(0, dtype=np.int64)
    return np.asarray(frame.groupby(list(columns), sort=False, dropna=False).ngroup(), dtype=np.int64)


def story_prompts(frame: pd.DataFrame) -> Codes:
    """A code for the story-prompt of each row, by its name and not by the order of rows.

    A story whose story-prompt is not known stands for itself.
    """
    known = (frame["story_prompt"] != "").to_numpy()
    own = np.where(known, frame["story_prompt"].to_numpy(dtype=str), frame["story"].to_numpy(dtype=str))
    names = [f"{dataset}\n{has}\n{name}" for dataset, has, name in zip(frame["dataset"], known, own, strict=True)]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[dict[str, Any], NDArray[np.int64]]]:
    """Each combination of columns with the positions (not labels) of its rows, in the order of their first rows."""
    code = codes(frame, columns)
    for number in range(int(code.max()) + 1 if code.size else 0):
        rows = np.flatnonzero(code == number)
        first = frame.iloc[rows[0]]
        yield {column: first[column] or None for column in columns}, rows


def name_columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Column]:
    """The columns that name a table's rows; that of runs only where there are several."""
    kept = [name for name in names if name != "run" or len({row["run"] for row in rows}) > 1]
    return [Column(name, _TITLES.get(name, name)) for name in kept]


def told(frame: pd.DataFrame, *columns: str) -> NDArray[np.bool_]:
    """Rows in which every one of these columns is known ("" = not known)."""
    return np.asarray((frame[list(columns)] != "").all(axis=1), dtype=np.bool_)
