"""The screen of `judge check` on a table without a judge's ratings of single stories: what it holds, how it was read,
and how far its raters agree, in 40 lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.base.printing.tables import body_lines
from judge.base.wording import Wording, written
from judge.exchange.tables.counted import Counted
from judge.questions.summary import screen

WIDTH, HEIGHT = 80, 39
# Rows of the table that stay, and lines of one sentence on the columns.
_ROWS, _LONG = 12, 5


def counted_lines(counted: Counted, command: Sequence[str], wording: Wording, *, full: bool) -> list[str]:
    """At most 39 lines, in which notes give way first; with `full` all of them."""
    lines = screen.plain(counted.about, WIDTH)
    for i, words in enumerate(written(line, wording) for line in counted.reading):
        told = screen.labelled("" if i else "columns", words, WIDTH)
        lines += told if full or len(told) <= _LONG else [*told[:_LONG], f"{'':10}..."]
    rows = counted.table.rows
    most = len(rows) if full else _ROWS
    lines += ["", *body_lines(replace(counted.table, rows=rows[:most]), WIDTH)]
    lines += [f"and {len(rows) - most} more rows ({wording.option('full')})"] if len(rows) > most else []
    end = ["", *screen.labelled("next", written(counted.following, wording), WIDTH), *command]
    for note in counted.notes:
        told = screen.labelled("note", f"{written(note, wording)}.", WIDTH)
        if full or len(lines) + len(told) + len(end) <= HEIGHT:
            lines += told
    return [*lines, *end]
