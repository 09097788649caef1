"""Columns of a table that `judge parse` wrote, which a ratings table does not have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from judge.answers.parsing.answers_file import RESULT_KEYS
from judge.inputs.datasets.files.column_guess import fits, named_column
from judge.inputs.datasets.files.table_file import cell, table_rows

# The column of the line in the file of answers.
LINE = "line"

# Rows: enough to tell texts from ids.
_LOOKED_AT = 200


def is_parsed(present: Sequence[str]) -> bool:
    """Whether a table with these columns is one of parsed answers."""
    return set(RESULT_KEYS) <= set(present)


def story_columns(path: Path, present: Sequence[str]) -> dict[str, str]:
    """The columns of the stories' ids and texts. In a file of answers, `story` is the judged text or its id."""
    own_id = named_column("id", present)
    if own_id is None:
        return {}
    if "story" not in present:
        return {"story": own_id}
    stories = [cell(cells, "story") for _, cells in islice(table_rows(path), _LOOKED_AT)]
    return {"story": own_id, "text": "story"} if fits("text", stories) else {}
