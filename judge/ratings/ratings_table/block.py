"""Compact storage of the judgments parsed from a block of answers: columns of numbers, and the explanations as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.base.records import Answer, Judgment

NAMES = ("story", "criterion", "eval_prompt", "status", "flags")
"""Columns that hold numbers of names."""

COLUMNS = np.dtype([*((name, "<i4") for name in NAMES), ("repeat", "<i4"), ("rating", "<f8")])


class Judged(NamedTuple):
    """One row of the ratings table: one repeat with the judgment parsed from it."""

    story: str
    criterion: str
    eval_prompt: str
    status: str
    flags: str
    repeat: int
    rating: float | None
    explanation: str | None


def judged(answer: Answer, judgment: Judgment) -> Judged:
    """One row of the ratings table, from a repeat's answer (story, criterion, Eval-Prompt and repeat) and the judgment
    parsed from it.
    """
    flags = ";".join(judgment.flags)
    names = (answer.story, answer.criterion, answer.eval_prompt)
    return Judged(*names, judgment.status, flags, answer.repeat, judgment.rating, judgment.explanation)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Judgments parsed from one block of answers, one row per judgment. Journals store their answers in blocks.

    Attributes
    ----------
    rows : structured array
        Columns of names hold indices into `names`; `repeat` and `rating` hold numbers (NaN = no rating).
    names : dict
        For each column of names (such as `story`), the list of names that its indices point into.
    explanations : list or None
        Explanation of each row; None where explanations were not read.
    """

    rows: NDArray[Any]
    names: dict[str, list[str]]
    explanations: list[str | None] | None

    @classmethod
    def of(cls, judgments: Iterable[Judged]) -> Block:
        """A block that holds these rows in the given order, with names stored as codes."""
        listed = list(judgments)
        rows = np.empty(len(listed), dtype=COLUMNS)
        names = {}
        for column, name in enumerate(NAMES):
            numbers: dict[str, int] = {}
            rows[name] = [numbers.setdefault(str(row[column]), len(numbers)) for row in listed]
            names[name] = list(numbers)
        rows["repeat"] = [row.repeat for row in listed]
        rows["rating"] = [np.nan if row.rating is None else row.rating for row in listed]
        return cls(rows, names, [row.explanation for row in listed])

    def judged(self) -> list[Judged]:
        """The block's rows with names as text instead of codes, in order."""
        columns = [[self.names[name][number] for number in self.rows[name].tolist()] for name in NAMES]
        ratings = [None if rating != rating else rating for rating in self.rows["rating"].tolist()]
        explanations: Sequence[str | None] = self.explanations or [None] * len(self.rows)
        return list(map(Judged, *columns, self.rows["repeat"].tolist(), ratings, explanations))
