"""Which criteria are labelled, and with what: the scales of labels that result folders know. Never guesses a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge.rating_matrix import Cell, RatingMatrix
from judge.records import Scale

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_PAIR = 2


@dataclass(frozen=True, slots=True)
class LabelScales:
    """Scales by run and criterion, and those of labels by criterion, letter case aside; of several runs the first's."""

    of_runs: Mapping[tuple[str, str], Scale]
    by_name: Mapping[str, Scale]

    @classmethod
    def of(cls, table: RatingsTable) -> LabelScales:
        """Those of a ratings table."""
        known = [(fact.run, one.name.casefold(), one.scale) for fact in table.facts for one in fact.criteria]
        by_name: dict[str, Scale] = {}
        for _, name, scale in known:
            if scale.labels:
                by_name.setdefault(name, scale)
        return cls({(run, name): scale for run, name, scale in known}, by_name)

    def of_cell(self, cell: Cell) -> Scale | None:
        """The scale of what one judge was asked; None for numbers. A folder may hold unnamed runs."""
        name = cell.criterion.casefold()
        scale = self.of_runs.get((cell.run, name)) or self.by_name.get(name)
        return scale if scale is not None and scale.labels else None

    def named(self, criterion: str) -> Scale | None:
        """The scale of a criterion, people's too; None for numbers."""
        return self.by_name.get(criterion.casefold())

    def notes(self, matrix: RatingMatrix, *, correlated: bool = True) -> list[str]:
        """What tables that take codes for numbers, and may correlate them, say of a dataset's labelled criteria."""
        found = {cell.criterion: scale for cell in matrix.cells if (scale := self.of_cell(cell)) is not None}
        said = []
        if correlated and any(is_binary(scale) for scale in found.values()):
            said.append("of two labels, codes 0 and 1: tau-b of one label with another is phi")
        codes = [name for name, scale in found.items() if scale.ordered and not is_binary(scale)]
        if codes:
            said.append(f"{', '.join(codes)}: ordered labels by their codes, 0 upwards")
        loose = [name for name, scale in found.items() if not scale.ordered and not is_binary(scale)]
        if loose:
            said.append(f"{', '.join(loose)}: labels without an order; numbers over their codes say nothing")
        return said

    def __bool__(self) -> bool:
        """Whether anything is labelled."""
        return bool(self.by_name)


def is_binary(scale: Scale | None) -> bool:
    """Whether there are two labels, one of which is the positive one."""
    return scale is not None and len(scale.labels) == _PAIR and scale.positive is not None


def positive_code(scale: Scale) -> int | None:
    """The code of the positive label of two; None of more."""
    return scale.code_of(scale.positive) if is_binary(scale) and scale.positive is not None else None
