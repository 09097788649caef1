"""Judgments of a block of answers as columns of numbers; of an answer's text only the explanation is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.records import Answer, Judgment

NAMES = ("story", "criterion", "eval_prompt", "status", "flags")
"""Columns that hold numbers of names."""

COLUMNS = np.dtype([*((name, "<i4") for name in NAMES), ("repeat", "<i4"), ("rating", "<f8")])


class Judged(NamedTuple):
    """One repeat with the judgment parsed from it."""

    story: str
    criterion: str
    eval_prompt: str
    status: str
    flags: str
    repeat: int
    rating: float | None
    explanation: str | None


def judged(answer: Answer, judgment: Judgment) -> Judged:
    """Make the row of a repeat."""
    flags = ";".join(judgment.flags)
    names = (answer.story, answer.criterion, answer.eval_prompt)
    return Judged(*names, judgment.status, flags, answer.repeat, judgment.rating, judgment.explanation)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows coded as indices into `names` (by column), with their explanations; None where those are not wanted."""

    rows: NDArray[Any]
    names: dict[str, list[str]]
    explanations: list[str | None] | None

    @classmethod
    def of(cls, judgments: Iterable[Judged]) -> Block:
        """A block of these rows, in their order."""
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
        """The rows of the block, decoded."""
        columns = [[self.names[name][number] for number in self.rows[name].tolist()] for name in NAMES]
        ratings = [None if rating != rating else rating for rating in self.rows["rating"].tolist()]
        explanations: Sequence[str | None] = self.explanations or [None] * len(self.rows)
        return list(map(Judged, *columns, self.rows["repeat"].tolist(), ratings, explanations))
