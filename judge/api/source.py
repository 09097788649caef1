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
    """Input of an analysis: result folders, the parser that reads their answers, and the selections (`kept`) that
    restrict the ratings table.
    """

    def __init__(self, folders: Sequence[Path], parser: str, kept: tuple[Selection, ...] = ()) -> None:
        self.folders = list(folders)
        self.parser = parser
        self.kept = kept

    @cached_property
    def table(self) -> RatingsTable:
        """Ratings table of the result folders, read with the source's parser and without perturbed stories. It is read
        only once.
        """
        return self.read(self.parser)

    def read(self, parser: str, *, perturbed: bool = False) -> RatingsTable:
        """Ratings table of the result folders, read again with the given parser of answers; `perturbed` includes
        perturbed stories.
        """
        from judge.analysis.inputs.selection import narrowed
        from judge.ratings_table import read

        table = read(self.folders, parser, perturbed=perturbed)
        for keep in self.kept:
            table = narrowed(table, keep)
        return table

    def only(self, keep: Selection) -> Source:
        """A copy of the source that is also restricted to the selection `keep`. Its table is made by filtering this
        source's table, so the result folders are not read again.
        """
        from judge.analysis.inputs.selection import narrowed

        part = Source(self.folders, self.parser, (*self.kept, keep))
        part.table = narrowed(self.table, keep)
        return part
