"""Text and table of a contamination check's result, as `judge contamination check` prints them."""

from __future__ import annotations

import textwrap

from judge.base.printing.tables import Column, Table, printable
from judge.base.wording import Wording, written
from judge.contamination.check.result import Check

WIDTH = 80
"""Columns of the narrowest usual terminal; the sentences of a row side by side would take 200."""

_TITLE = "Have the judges seen the stories?"
_LABEL = 10


def table(checked: Check) -> Table:
    """Table of a contamination check, with a row for each model and dataset."""
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
    rows = [row.cells for row in checked.rows]
    return Table(_TITLE, columns, rows, checked.signature, _notes(checked))


def text(checked: Check, wording: Wording) -> str:
    """Text of a contamination check for a screen. For each model and dataset in turn it has the verdict, what was
    measured, and what the dates of publication say.
    """
    lines = [_TITLE, ""]
    for row in checked.rows:
        lines += _wrapped(f"{row.model} on the stories of {row.dataset}: {row.verdict.upper()}", "")
        lines += _wrapped(written(row.sentence, wording), "scores")
        lines += _wrapped(written(row.dated.sentence, wording), "dates")
        lines.append("")
    for note in filter(None, (checked.signature, *(f"· {written(note, wording)}" for note in _notes(checked)))):
        lines += _wrapped(note, "")
    return "\n".join(lines) + "\n"


def _notes(checked: Check) -> tuple[str, ...]:
    return (*checked.notes, *(f"scores: {row.file}" for row in checked.rows if row.file is not None))


def _wrapped(words: str, label: str) -> list[str]:
    indent = " " * _LABEL if label else ""
    first = f"  {label}".ljust(_LABEL) if label else ""
    lines = textwrap.wrap(
        printable(words), WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )
    return lines or [""]
