"""Printed table of correlations over sliding sets of stories."""

from __future__ import annotations

from judge.analysis.agreement.sliding_sets import SlidingSetsTable, sliding_cells
from judge.analysis.inputs.candidates import first_columns
from judge.base.printing.tables import Column, Table


def tables(result: SlidingSetsTable) -> list[Table]:
    """List with one printed table: judges' correlations with people in the differences between sliding sets of stories.

    A sliding set is a fixed number of stories that are neighbours in the order of their human scores.
    """
    rows = [sliding_cells(row) for row in result.rows]
    columns = [
        *first_columns(rows),
        Column("published_r2", "r² as published"),
        Column("published_pairs", "pairs"),
        Column("unordered_r2", "r² unordered"),
        Column("unordered_pairs", "pairs"),
        Column("apart_r2", "r² not overlapping"),
        Column("apart_pairs", "pairs"),
        Column("stories_r2", "r² of stories"),
        Column("stories_pairs", "stories"),
        Column("sign", "sign of r"),
    ]
    notes = tuple(dict.fromkeys([*result.notes, *_explained(result)]))
    return [Table("Sliding sets: differences between sets of stories", columns, rows, result.signature, notes)]


def _explained(result: SlidingSetsTable) -> list[str]:
    options = result.options
    notes = [
        f"sets: {options.window} stories each, {options.stride} apart, in order of people's scores, ties by story id"
    ]
    for row in result.rows:
        if row.ways["published"].r2.defined:
            notes.append(
                f"{row.subject.dataset}: as published {row.sets} sets and every ordered pair of them, also of a set "
                f"with itself, which equals the r² of the {row.sets} means; counting both ends {row.inclusive} sets "
                f"(unordered pairs), of which {row.disjoint} share no story"
            )
    notes.append(
        "sets are sorted by people's scores and share stories, so their r² is high for almost any judge and has "
        "no p value: use r² of stories"
    )
    return list(dict.fromkeys(notes))
