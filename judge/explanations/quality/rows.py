"""Table rows of measures by judge, Eval-Prompt and criterion, and integer codes of groups of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.stats.flat_frame import flat_frame

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Codes = NDArray[np.int64]

STORY = ("dataset", "story")
BY_PROMPT = ("run", "judge", "eval_prompt")
BY_CRITERION = (*BY_PROMPT, "criterion")

Found = TypeVar("Found", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Asked:
    """Judge, Eval-Prompt etc. of the group of texts to which one row of results belongs. A field is None where it is
    not known or differs between the texts.
    """

    run: str | None = None
    judge: str | None = None
    eval_prompt: str | None = None
    criterion: str | None = None


@dataclass(frozen=True, slots=True)
class Row(Generic[Found]):
    """Results for a group of texts: `asked` identifies the group, `result` is a dataclass of numbers."""

    asked: Asked
    result: Found

    @property
    def cells(self) -> dict[str, Any]:
        """The group's identification (`asked`) and its results as one row of a table: a map from column to value."""
        return {field.name: getattr(part, field.name) for part in (self.asked, self.result) for field in fields(part)}


@dataclass(frozen=True, slots=True, eq=False)
class Measured(Generic[Found]):
    """Results of one measure: its rows, the signature line under the table, and notes in full sentences."""

    rows: tuple[Row[Found], ...]
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """Data frame of the results with one row for each group of texts. Columns `..._low` and `..._high` hold the
        ends of intervals, and `..._reason` says why a value or its interval is missing.
        """
        return flat_frame((row.cells for row in self.rows), self.signature, self.notes)


def codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """Integer code of each row's combination of values in the columns, from 0, in the order of first occurrence."""
    if frame.empty:
        return np.empty(0, dtype=np.int64)
    return np.asarray(frame.groupby(list(columns), sort=False, dropna=False).ngroup(), dtype=np.int64)


def story_prompts(frame: pd.DataFrame) -> Codes:
    """Integer code of each row's story-prompt. It depends on the story-prompts' names and not on the order of rows.

    A story whose story-prompt is not known counts as a story-prompt of its own.
    """
    has_prompt = (frame["story_prompt"] != "").to_numpy()
    own = np.where(has_prompt, frame["story_prompt"].to_numpy(dtype=str), frame["story"].to_numpy(dtype=str))
    names = [f"{dataset}\n{has}\n{name}" for dataset, has, name in zip(frame["dataset"], has_prompt, own, strict=True)]
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


def groups(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[Asked, NDArray[np.int64]]]:
    """Yield each group of rows that have the same values in the columns: the values, and the positions (not index
    labels) of its rows.

    Groups are in the order of first occurrence.
    """
    code = codes(frame, columns)
    for number in range(int(code.max()) + 1 if code.size else 0):
        rows = np.flatnonzero(code == number)
        first = frame.iloc[rows[0]]
        yield Asked(**{column: first[column] or None for column in columns}), rows


def rows_with(frame: pd.DataFrame, *columns: str) -> NDArray[np.bool_]:
    """Mask of the rows in which all given columns are known ("" = not known)."""
    return np.asarray((frame[list(columns)] != "").all(axis=1), dtype=np.bool_)
