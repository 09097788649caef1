"""Sentences about explanations, from the results that `judge explain` stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.base.estimate import Estimate
from judge.base.printing import stored_tables
from judge.explanations.mapping.stored import StoredMap
from judge.show.report.inputs import ReportInputs


def looks(inputs: ReportInputs) -> list[StoredMap]:
    """The stored map of each analysis of explanations.

    An analysis of several result folders is stored in each folder but returned once.
    """
    maps = [stored_map for stored_map in inputs.explanation_maps if stored_map is not None]
    return list({stored_map.signature: stored_map for stored_map in maps}.values())


def headline(inputs: ReportInputs) -> list[str]:
    """One sentence for each analysis: the number of explanations, and how well a classifier predicts the criterion from
    their wording.
    """
    folders = [stored_map for stored_map in inputs.explanation_maps if stored_map is not None]
    sentences = []
    for look in looks(inputs):
        texts = sum(len(stored_map.points) for stored_map in folders if stored_map.signature == look.signature)
        sentences.append(f"{texts:,} explanation{' was' if texts == 1 else 's were'} analysed{_told(look.tables)}.")
    return sentences


def _told(tables: Sequence[dict[str, Any]]) -> str:
    rows = [row for table in map(stored_tables.table, tables) for row in table.rows]
    pairs = [(_number(row.get("accuracy")), _number(row.get("accuracy_chance"))) for row in rows]
    shares = [(share, by_chance) for share, by_chance in pairs if share is not None and by_chance is not None]
    if not shares:
        return ""
    cells = f", over {len(shares)} rows (judge × Eval-Prompt)" if len(shares) > 1 else ""
    return (
        ": from the wording alone a classifier predicts the criterion of "
        f"{_span([100 * share for share, _ in shares])} % of them, "
        f"and of {_span([100 * by_chance for _, by_chance in shares])} % where it learned from permuted "
        f"criteria{cells}; this shows how far explanations differ by criterion, not whether they are correct"
    )


def _number(cell: Any) -> float | None:
    """Numeric value of a table cell; None where the cell is undefined or missing."""
    return cell.value if isinstance(cell, Estimate) else cell


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"
