"""The result of an analysis for notebooks: a frame to compute with, and the tables that the command prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from judge.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

    from judge.printing.forms import Format
    from judge.printing.tables import Table


class Result:
    """Result of one analysis of a run.

    Attributes
    ----------
    frame : DataFrame
        All numbers; the documentation of the analysis says what a row is. Undefined values are null, and some
        frames have a column with the reason. `frame.attrs` holds `signature` and `notes`.
    tables : tuple of Table
        The same numbers as the command prints them; a notebook displays them.
    value : object
        Object with typed rows from which frame and tables are built, if the analysis has one: for example
        `analysis.correlation.Correlations` or `analysis.comparison.result.Comparison`.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        tables: Sequence[Table],
        picture: Callable[[], Any] | None = None,
        *,
        value: Any = None,
    ) -> None:
        self.frame = frame
        self.tables = tuple(tables)
        self.value = value
        self._picture = picture
        frame.attrs |= {"signature": self.signature, "notes": list(self.notes)}

    @property
    def signature(self) -> str:
        """All options on which the numbers depend, as printed under the first table."""
        return next((table.signature for table in self.tables if table.signature), "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks needed to read the numbers, as whole sentences without duplicates."""
        from judge.printing.tables import reasons

        every = [note for table in self.tables for note in (*table.notes, *reasons(table))]
        return tuple(dict.fromkeys(map(str, every)))

    def text(self, form: Format = "table") -> str:
        """The tables as text, in the format "table", "md", "latex", "csv" or "json"."""
        from judge.printing.tables import render

        return "\n".join(render(table, form) for table in self.tables)

    def plot(self) -> Any:
        """Matplotlib figure of the result, as `judge figure` draws it; requires the extra `report`.

        Raises SpecError for a result that has no figure.
        """
        if self._picture is None:
            raise SpecError("there is no picture of this result", hint="its frame can be plotted by pandas")
        return self._picture()

    def _repr_html_(self) -> str:
        from judge.pages.html_table import html_table

        return "".join(html_table(table, copies=False) for table in self.tables)

    def __repr__(self) -> str:
        return self.text()
