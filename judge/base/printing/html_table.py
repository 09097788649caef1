"""A table as HTML with its signature and notes, and with copies of the table as LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cell_text, is_numeric, reasons, render, worded

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
        _notes(table, notes),
        _copies(table) if copies else "",
    )


def _head(table: Table) -> Markup:
    cells = [
        Markup('<th scope="col"{}>{}</th>').format(_class(is_numeric(table, column)), column.title)
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
                _cell(row.get(column.key), cell, kind, column.title if stacks else "")
                for column, cell, kind in zip(table.columns, cells, kinds, strict=True)
            )
        )
        for row, cells in zip(table.rows, shown, strict=True)
    ]
    if not rows:
        empty = Markup('<tr><td colspan="{}" class="faint">no rows</td></tr>').format(max(1, len(table.columns)))
        rows = [empty]
    return Markup("<tbody>{}</tbody>").format(Markup("\n").join(rows))


def _cell(value: object, shown: str, kind: Markup, column: str) -> Markup:
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


def _class(number: bool) -> Markup:
    return Markup(' class="number"') if number else Markup("")


def _notes(table: Table, instead: Sequence[str] | None) -> Markup:
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
