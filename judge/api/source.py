"""Input of an analysis: result folders, the parser of their answers, and the selections applied. Tables are read once
and cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.analysis.inputs.selection import Selection
    from judge.ratings_table import RatingsTable


class Source:
    """Result folders, the parser of their answers, and the selections that restrict the tables read from them."""

    def __init__(self, folders: Sequence[Path], parser: str, kept: tuple[Selection, ...] = ()) -> None:
        self.folders = list(folders)
        self.parser = parser
        self.kept = kept

    @cached_property
    def table(self) -> RatingsTable:
        """The ratings table, without perturbed stories. It is read once."""
        return self.read(self.parser)

    def read(self, parser: str, *, perturbed: bool = False) -> RatingsTable:
        """The ratings table, read with the given parser of answers; `perturbed` includes perturbed stories."""
        from judge.analysis.inputs.selection import narrowed
        from judge.ratings_table import read

        table = read(self.folders, parser, perturbed=perturbed)
        for keep in self.kept:
            table = narrowed(table, keep)
        return table

    def only(self, keep: Selection) -> Source:
        """A copy of the source, restricted further. Tables that were already read are filtered instead of read
        again.
        """
        from judge.analysis.inputs.selection import narrowed

        part = Source(self.folders, self.parser, (*self.kept, keep))
        part.table = narrowed(self.table, keep)
        return part
