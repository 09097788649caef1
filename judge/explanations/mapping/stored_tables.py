"""Tables as plain values with their columns, and back: read again, they print what they printed but advice. No texts.

A column `text` holds whole texts; it keeps its place, and whoever reads the table gives the texts or goes without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from judge.printing.tables import Column, Table, worded
from judge.stats.estimate import Estimate

TEXT = "text"
_ESTIMATE = "estimate"
TextOf = Callable[[Mapping[str, Any]], str | None]
"""From a row to its text; None where that is not known."""


def plain(table: Table) -> dict[str, Any]:
    """The table as values that JSON has: `title, signature, notes, columns, rows`; rows without whole texts.

    Pages show it, which have no options: advice is left out.
    """
    table = worded(table, None)
    kept = [column.key for column in table.columns if column.key != TEXT]
    return {
        "title": table.title,
        "signature": table.signature,
        "notes": list(table.notes),
        "columns": [asdict(column) for column in table.columns],
        "rows": [{key: _plain(row.get(key)) for key in kept} for row in table.rows],
    }


def table(value: Mapping[str, Any], text_of: TextOf | None = None) -> Table:
    """The table that `plain` made values of. Without `text_of` it has no column of whole texts.

    Raises KeyError or TypeError where the values are not such a table's.
    """
    columns = [Column(**column) for column in value["columns"] if text_of is not None or column["key"] != TEXT]
    rows = [{key: _cell(cell) for key, cell in row.items()} for row in value["rows"]]
    if text_of is not None and any(column.key == TEXT for column in columns):
        rows = [row | {TEXT: text_of(row)} for row in rows]
    return Table(value["title"], columns, rows, value["signature"], tuple(value["notes"]))


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {_ESTIMATE: asdict(value)}
    return None if isinstance(value, float) and math.isnan(value) else value


def _cell(value: Any) -> Any:
    return Estimate(**value[_ESTIMATE]) if isinstance(value, dict) else value
