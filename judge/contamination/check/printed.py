"""What `judge contamination check` prints. Computes nothing."""

from __future__ import annotations

from judge.contamination.check.result import Check
from judge.printing.tables import Column, Table


def table(found: Check) -> Table:
    """A row a model."""
    columns = [
        Column("dataset", "stories of"),
        Column("model", "model"),
        Column("verdict", "has it seen them?"),
        Column("recited", "recited"),
        Column("stories", "of stories"),
        Column("passages_recited", "recited of 8 passages"),
        Column("passages_above", "passages above all stories"),
        Column("corrected", "seen, corrected x100", digits=1, factor=100),
        Column("measured", "what was measured", wrap=50),
        Column("dates", "by their dates", wrap=40),
    ]
    rows = [row.cells for row in found.rows]
    files = [f"scores: {row.file}" for row in found.rows if row.file is not None]
    return Table("Have the judges seen the stories?", columns, rows, found.signature, (*found.notes, *files))
