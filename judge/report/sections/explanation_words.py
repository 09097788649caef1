"""Sentences about explanations, from the results that `judge explain` stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.explanations.mapping.stored import StoredMap
from judge.printing import stored_tables
from judge.report.inputs import ReportInputs
from judge.stats.estimate import Estimate


def looks(inputs: ReportInputs) -> list[StoredMap]:
    """One stored map for each look; a look at several result folders is stored in each, and counts once."""
    found = [one for one in inputs.explanation_maps if one is not None]
    return list({one.signature: one for one in found}.values())


def headline(inputs: ReportInputs) -> list[str]:
    """A sentence a look: how many explanations, and how well their wording tells the criterion."""
    folders = [one for one in inputs.explanation_maps if one is not None]
    made = []
    for look in looks(inputs):
        texts = sum(len(one.points) for one in folders if one.signature == look.signature)
        made.append(f"{texts:,} explanation{' was' if texts == 1 else 's were'} analysed{_told(look.tables)}.")
    return made


def _told(tables: Sequence[dict[str, Any]]) -> str:
    rows = [row for table in map(stored_tables.table, tables) for row in table.rows]
    pairs = [(_number(row.get("accuracy")), _number(row.get("accuracy_chance"))) for row in rows]
    known = [(told, by_chance) for told, by_chance in pairs if told is not None and by_chance is not None]
    if not known:
        return ""
    cells = f", over {len(known)} rows (judge × Eval-Prompt)" if len(known) > 1 else ""
    return (
        f": from the wording alone a classifier predicts the criterion of {_span([100 * told for told, _ in known])} % "
        f"of them, and of {_span([100 * by_chance for _, by_chance in known])} % where it learned from permuted "
        f"criteria{cells}; this shows how far explanations differ by criterion, not whether they are correct"
    )


def _number(cell: Any) -> float | None:
    """A cell's value, None where it is undefined or not there."""
    return cell.value if isinstance(cell, Estimate) else cell


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"
