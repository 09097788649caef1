"""Tables on stdout or in files. A CSV file holds the rows of one table alone, so that any program reads it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge.base.errors import SpecError
from judge.base.printing import shortened, text_layout
from judge.base.printing.forms import form_of
from judge.base.printing.tables import Table, notes_of, printable, render
from judge.base.whole_file import write_whole
from judge.base.wording import Wording


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
