"""What an analysis reads: result folders, how their answers are parsed, and what of them is kept. Reads once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.analysis.inputs.selection import Selection
    from judge.ratings_table import RatingsTable


class Source:
    """Result folders, their parser, and the selections that narrow whatever is read of them."""

    def __init__(self, folders: Sequence[Path], parser: str, kept: tuple[Selection, ...] = ()) -> None:
        self.folders = list(folders)
        self.parser = parser
        self.kept = kept

    @cached_property
    def table(self) -> RatingsTable:
        """The ratings table, without perturbed stories."""
        return self.read(self.parser)

    def read(self, parser: str, *, perturbed: bool = False) -> RatingsTable:
        """The ratings table as another parser reads it, or with perturbed stories."""
        from judge.analysis.inputs.selection import narrowed
        from judge.ratings_table import read

        table = read(self.folders, parser, perturbed=perturbed)
        for keep in self.kept:
            table = narrowed(table, keep)
        return table

    def only(self, keep: Selection) -> Source:
        """A copy of the source, narrowed further; tables that were already read are not read again."""
        from judge.analysis.inputs.selection import narrowed

        part = Source(self.folders, self.parser, (*self.kept, keep))
        part.table = narrowed(self.table, keep)
        return part
