"""Tables as plain values and back, which print the same, except for advice on options. The texts of a table of
explanations (column `text`) may be left out of the values and supplied again when it is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from numbers import Real
from typing import Any

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, worded

TEXT = "text"
_ESTIMATE = "estimate"
# From a row to its text; None where that is not known.
TextOf = Callable[[Mapping[str, Any]], str | None]


def plain(table: Table, *, texts: bool = True) -> dict[str, Any]:
    """The table as JSON values. Without `texts`, rows lack the column `text`. Advice on options is left out, because
    the values are shown on pages."""
    table = worded(table, None)
    kept = [column.key for column in table.columns if texts or column.key != TEXT]
    plain_table = {
        "title": table.title,
        "signature": table.signature,
        "notes": list(table.notes),
        "columns": [asdict(column) for column in table.columns],
        "rows": [{key: _plain(row.get(key)) for key in kept} for row in table.rows],
    }
    return plain_table | {"above": table.above} if table.above else plain_table


def table(value: Mapping[str, Any], text_of: TextOf | None = None) -> Table:
    """The table from the values of `plain`. `text_of` gives texts that were left out; without it, their column is
    omitted. Raises KeyError or TypeError for other values."""
    rows = [{key: _cell(cell) for key, cell in row.items()} for row in value["rows"]]
    has_texts = text_of is not None or any(TEXT in row for row in rows)
    columns = [Column(**column) for column in value["columns"] if has_texts or column["key"] != TEXT]
    if text_of is not None and any(column.key == TEXT for column in columns):
        rows = [row | {TEXT: text_of(row)} for row in rows]
    return Table(value["title"], columns, rows, value["signature"], tuple(value["notes"]), value.get("above", ""))


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {_ESTIMATE: asdict(value)}
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, str | Real) else str(value)


def _cell(value: Any) -> Any:
    return Estimate(**value[_ESTIMATE]) if isinstance(value, dict) else value
