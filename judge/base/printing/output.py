"""Tables on stdout, in files, and as stored values. A CSV file holds the rows of one table alone, so that any program
reads it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from numbers import Real
from pathlib import Path
from typing import Any

from judge.base.choices import form_of
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing import shortened, text_layout
from judge.base.printing.tables import Column, Table, notes_of, printable, render, worded
from judge.base.whole_file import write_whole
from judge.base.wording import Wording

# Tables as plain values and back, which print the same, except for advice on options. The texts of a table of
# explanations (column `text`) may be left out of the values and supplied again when it is read.

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


def emit(
    tables: Table | Sequence[Table], form: str = "table", output: Path | None = None, *, rest: Wording | None = None
) -> None:
    """Print tables, or write them to a file. Several tables as JSON become a list.

    `rest` names the option for the rest: plain text on the screen or in a pipe is then the first screen alone
    (`judge.base.printing.shortened`). With `form` "table", the suffix of `output` (.csv, .json, .md or .tex) chooses
    the format. Several tables as CSV become a file each (X.csv, X-2.csv, ...), or on stdout have an empty line between
    them; signature and notes go to X.csv.notes.txt, or to stderr. Raises SpecError if a file cannot be written, or
    X-2.csv exists and is no table of X.csv."""
    group = [tables] if isinstance(tables, Table) else list(tables)
    asked, form = form, form_of(form, output)
    if form not in (asked, "md"):
        # What stands above a table on the screen is a note elsewhere.
        group = [replace(table, notes=[*filter(None, [table.above]), *table.notes]) for table in group]
    try:
        if form == "table" and output is None and rest is not None:
            _write(_first_screen(group, rest), output)
        elif form != "csv":
            _write(_text(group, form, output), output)
        elif output is None or (output.exists() and not output.is_file()):
            # A pipe or a device has no place beside it.
            _write("\n".join(render(table, form) for table in group), output)
            sys.stderr.write("\n".join(filter(None, map(_notes, group))))
        else:
            written = csv_files(group, output)
            sys.stderr.write("\n".join([*written, ""]) if len(written) > 1 else "")
    except OSError as error:
        if output is None:  # a reader that has gone, or a full disk behind stdout: the command line tells of it
            raise
        raise SpecError(f"{error.filename or output} cannot be written: {error.strerror}") from error


def notes_file(path: Path) -> Path:
    """The file that holds the signature and the notes of a CSV file."""
    return path.with_name(f"{path.name}.notes.txt")


def _text(group: Sequence[Table], form: str, output: Path | None) -> str:
    if form == "json" and len(group) > 1:
        return "[" + ",\n".join(render(table, form).rstrip("\n") for table in group) + "]\n"
    color = output is None and sys.stdout.isatty()
    screen = text_layout.columns() if output is None else None
    return "\n".join(render(table, form, color=color, width=screen) for table in group)


def _first_screen(group: Sequence[Table], rest: Wording) -> str:
    return shortened.shortened(group, rest, color=sys.stdout.isatty(), width=text_layout.columns() or shortened.WIDTH)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text)


def csv_files(group: Sequence[Table], output: Path) -> list[str]:
    """Write a CSV file for each table (X.csv, X-2.csv, ...), and all notes to X.csv.notes.txt.

    Returns a line for each, with its path and the table's title. Raises OSError, and SpecError if X-2.csv exists and is
    no table of X.csv."""
    paths = [output, *(output.with_name(f"{output.stem}-{i}{output.suffix}") for i in range(2, len(group) + 1))]
    beside = notes_file(output)
    before = beside.read_text(encoding="utf-8").splitlines() if beside.is_file() else []
    for path in paths[1:]:
        if path.exists() and not any(line.startswith(f"{path.name}: ") for line in before):
            raise SpecError(
                f"{path} exists, and is no table of an earlier {output.name}",
                hint="delete it, or name another file with -o",
            )
    for table, path in zip(group, paths, strict=True):
        write_whole(path, render(table, "csv"))
    named = [f"{path.name}: {printable(table.title)}" for table, path in zip(group, paths, strict=True)]
    blocks = (f"{name}\n{_notes(table)}" for name, table in zip(named, group, strict=True))
    write_whole(beside, "\n".join(blocks))
    return [str(output.with_name(name)) for name in named]


def _notes(table: Table) -> str:
    return "".join(f"{printable(note)}\n" for note in notes_of(table))
