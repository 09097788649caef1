"""Tables on stdout, in files, as HTML, and as stored values. A CSV file holds the rows of one table alone, so that any
program reads it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from numbers import Real
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judge.base.choices import form_of
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.files import write_whole
from judge.base.printing import shortened, text_layout
from judge.base.printing.tables import (
    Column,
    Table,
    cell_text,
    is_numeric,
    notes_of,
    printable,
    reasons,
    render,
    worded,
)
from judge.base.wording import Wording

# Characters of a cell from which on its column needs the width of a paragraph.
_LONG = 90

# Characters that fit side by side on a phone: a table that needs more stands there row under row.
_PHONE = 46

# More notes than this are folded.
_NOTES = 2

COPIES = (("latex", "LaTeX"), ("csv", "CSV"))


def html_table(table: Table, *, copies: bool = True, notes: Sequence[str] | None = None, signed: bool = True) -> Markup:
    """The table as HTML, in a `div`, below its line above.

    `copies` adds the table as LaTeX and CSV in inert `template` elements, with buttons that a script makes visible.
    `notes` replace the table's own on the page, but not in the copies. Advice on options is left out. Without `signed`
    the page shows no signature; the copies keep it."""
    table = worded(table, None)
    cells = [[cell_text(row, column) for column in table.columns] for row in table.rows]
    stacks = _stacks(table, cells)
    parts = (
        table.title,
        Markup(' class="stacks"') if stacks else "",
        Markup("<caption>{}</caption>").format(table.title),
        _head(table),
        _body(table, cells, stacks=stacks),
    )
    return Markup('<div class="table">{}{}{}{}{}</div>').format(
        Markup("<p>{}</p>").format(table.above) if table.above else "",
        Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}"><table{}>{}{}{}</table></div>').format(
            *parts
        ),
        Markup('<p class="signature">{}</p>').format(table.signature) if signed and table.signature else "",
        _html_table_notes(table, notes),
        _copies(table) if copies else "",
    )


def _head(table: Table) -> Markup:
    cells = [
        Markup('<th scope="col"{}>{}</th>').format(
            Markup(' class="number"') if is_numeric(table, column) else "", column.title
        )
        for column in table.columns
    ]
    return Markup("<thead><tr>{}</tr></thead>").format(Markup("").join(cells))


def _stacks(table: Table, cells: Sequence[Sequence[str]]) -> bool:
    # Too wide for a phone; titles may wrap between words.
    titles = [max(map(len, column.title.split()), default=0) for column in table.columns]
    widths = [max(title, *(len(row[i]) for row in cells), 0) for i, title in enumerate(titles)]
    return sum(widths) + 2 * len(widths) > _PHONE


def _body(table: Table, shown: Sequence[Sequence[str]], *, stacks: bool) -> Markup:
    # Narrow screens do not show the head, so stacked cells carry their column's title.
    numbers = [is_numeric(table, column) for column in table.columns]
    long = [max(map(len, cells), default=0) > _LONG for cells in zip(*shown, strict=True)]
    kinds = [
        Markup(' class="number"') if number else _class_of_text(column, wide)
        for column, number, wide in zip(table.columns, numbers, long or [False] * len(numbers), strict=True)
    ]
    rows = [
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                _html_table_cell(row.get(column.key), cell, kind, column.title if stacks else "")
                for column, cell, kind in zip(table.columns, cells, kinds, strict=True)
            )
        )
        for row, cells in zip(table.rows, shown, strict=True)
    ]
    if not rows:
        empty = Markup('<tr><td colspan="{}" class="faint">no rows</td></tr>').format(max(1, len(table.columns)))
        rows = [empty]
    return Markup("<tbody>{}</tbody>").format(Markup("\n").join(rows))


def _html_table_cell(value: object, shown: str, kind: Markup, column: str) -> Markup:
    data = Markup(' data-of="{}"').format(column) if column else ""
    if isinstance(value, Estimate) and value.value is None:
        why = value.reason or ""
        return Markup('<td class="number faint" title="{}"{}>{}</td>').format(why, data, shown)
    return Markup("<td{}{}>{}</td>").format(kind, data, shown)


def _class_of_text(column: Column, long: bool) -> Markup:
    # With `long`, the column stays wide on a phone.
    if not (column.text or column.wrap):
        return Markup("")
    return Markup(' class="wide long" dir="auto"') if long else Markup(' class="wide" dir="auto"')


def _html_table_notes(table: Table, instead: Sequence[str] | None) -> Markup:
    notes = [*(table.notes if instead is None else instead), *reasons(table)]
    if not notes:
        return Markup("")
    items = [Markup("<li>{}</li>").format(note) for note in notes]
    listed = Markup('<ul class="notes">{}</ul>').format(Markup("").join(items))
    if len(notes) <= _NOTES:
        return listed
    return Markup('<details class="rest"><summary>{} notes</summary>{}</details>').format(len(notes), listed)


def _copies(table: Table) -> Markup:
    parts = [
        Markup('<button type="button" hidden data-copy="{}">Copy as {}</button><template>{}</template>').format(
            form, name, render(table, form)
        )
        for form, name in COPIES
    ]
    return Markup('<p class="copies">{}</p>').format(Markup("").join(parts))


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
    rows = [
        {key: Estimate(**cell[_ESTIMATE]) if isinstance(cell, dict) else cell for key, cell in row.items()}
        for row in value["rows"]
    ]
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
            width = text_layout.columns() or shortened.WIDTH
            _write(shortened.shortened(group, rest, color=sys.stdout.isatty(), width=width), output)
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
