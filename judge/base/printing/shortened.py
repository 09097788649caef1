"""The first screen of tables in plain text: what carries the answer, and a line that says what is left out.

The answer's sentence comes first, then the rows that carry it, then at most five notes, in 40 lines of the screen's
width. For room, first the signature is left out, then notes, tables from the last one on, columns (empty ones, constant
ones, then from the right) and rows that do not carry the answer. A row in which nothing is defined is named once with
its cause instead, and nothing is cut within a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.base.estimate import Estimate
from judge.base.printing import text_layout
from judge.base.printing.tables import (
    Column,
    Table,
    body_lines,
    broken,
    cell_text,
    is_numeric,
    printable,
    signature_lines,
    tails_of,
    text_cells,
    title_lines,
    whys,
)
from judge.base.wording import Wording

# Lines of the first screen, its width in columns where there is no terminal, and its notes.
LINES, WIDTH, NOTES = 40, 100, 5

# Rows with a p value below it carry the answer, where a table does not say which rows do.
ALPHA = 0.05

# Lines that tables leave to notes.
_FOR_NOTES = 10

# Characters to which a column of text may shrink before a column is left out.
_LEAST_TEXT = 24

# Undefined rows that are named one by one; more are counted.
_NAMED = 3

# Lines of the sentence on what is left out.
_TAIL = 2


@dataclass(slots=True)
class _LeftOut:
    rows: int = 0
    tables: int = 0
    columns: int = 0
    notes: int = 0
    signatures: int = 0

    def sentence(self, wording: Wording) -> str:
        counts = (
            (self.tables, "table"),
            (self.rows, "row"),
            (self.columns, "column"),
            (self.notes, "note"),
            (self.signatures, "signature"),
        )
        parts = [f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count]
        return f"Left out: {', '.join(parts)}. {wording.option('full')} shows everything." if parts else ""


def shortened(tables: Sequence[Table], wording: Wording, *, color: bool = False, width: int = WIDTH) -> str:
    """The tables as plain text of at most 40 lines of `width` columns, with a final newline. `wording` names the
    option that prints everything. A table with few columns and long texts keeps its first row, even if that takes more
    lines."""
    left = _LeftOut()
    parts = [_said(table) for table in tables]
    own = _notes(tables[:1], parts[:1])
    room = LINES - _TAIL - min(_FOR_NOTES, sum(map(len, _wrapped(own[:NOTES], width))))
    shown: list[str] = []
    number = 0  # of tables that are printed, or that a note speaks of
    for table, (said, _) in zip(tables, parts, strict=True):
        if isinstance(said, Table) or not number:
            block, count = _block(table, said, room - len(shown), color=color, width=width, first=not number)
            if not block:
                break
            shown += block
            left.rows += count.rows
            left.columns += count.columns
        left.rows += len(table.rows) - (0 if isinstance(said, str) else len(said.rows))
        number += 1
    left.tables = len(tables) - number
    left.rows += sum(len(table.rows) for table in tables[number:])
    notes = _notes(tables[:number], parts[:number])
    left.notes = len({*_notes(tables, parts)} - {*notes}) + len(notes[NOTES:])
    for note in _wrapped(notes[:NOTES], width):
        fits = len(shown) + len(note) <= LINES - _TAIL
        shown += note if fits else []
        left.notes += not fits
    spare = LINES - len(shown) - (_TAIL if left.sentence(wording) else 0)
    shown += _signature(left, tables, spare, color=color, width=width)
    return "\n".join([*shown, *broken(left.sentence(wording), width)]) + "\n"


def _signature(left: _LeftOut, tables: Sequence[Table], spare: int, *, color: bool, width: int) -> list[str]:
    printed = dict.fromkeys(tuple(signature_lines(table, color=color, width=width)) for table in tables)
    signatures = [signature for signature in printed if signature]
    fits = bool(signatures) and len(signatures[0]) <= spare
    left.signatures = len(signatures) - fits
    return list(signatures[0]) if fits else []


def _block(
    table: Table, said: Table | str, room: int, *, color: bool, width: int, first: bool
) -> tuple[list[str], _LeftOut]:
    # The first table is printed in any case, with the rows that have room.
    left = _LeftOut()
    head = [*broken(printable(table.above), width), ""] if table.above else []
    if isinstance(said, str):
        return [*head, *broken(said, width)], left
    head = [*([] if first else [""]), *head, *title_lines(table, color=color, width=width)]
    for rows in _choices(said, room - len(head), fewer=first):
        narrowed = _narrowed(replace(said, rows=[said.rows[i] for i in rows]), width)
        body = body_lines(narrowed, width)
        if len(head) + len(body) <= room or (first and len(rows) == 1):
            left.rows, left.columns = len(said.rows) - len(rows), len(said.columns) - len(narrowed.columns)
            return [*head, *body], left
    return [], left


def _choices(table: Table, room: int, *, fewer: bool) -> Iterator[list[int]]:
    # All rows, then those that carry the answer, and with `fewer` ever fewer of these.
    if len(table.rows) <= room:
        yield list(range(len(table.rows)))
    carry = _carrying(table)
    if len(carry) < min(len(table.rows), room):
        yield carry
    for count in range(min(room, len(carry)), 0, -1) if fewer else ():
        yield carry[:count]
    if fewer:
        yield [0]


def _carrying(table: Table) -> list[int]:
    # Those that the table names, else the significant ones, else all.
    every = range(len(table.rows))
    if table.first:
        return [i for i in every if i in table.first]
    tested = [column.key for column in table.columns if column.p]
    small = [i for i in every if tested and _below(table.rows[i].get(tested[-1]))]
    return small or list(every)


def _below(p: object) -> bool:
    return isinstance(p, float) and p < ALPHA


def _said(table: Table) -> tuple[Table | str, list[str]]:
    title = printable(table.title)
    if not table.rows:
        return f"{title}: {'; '.join(map(printable, table.notes)) or 'no rows'}.", []
    undefined: dict[str, list[int]] = {}
    main = next((column.key for column in table.columns if column.main), None)
    for number, row in enumerate(table.rows):
        why = _nothing(row.values() if main is None else [row.get(main)])
        if why is not None:
            undefined.setdefault(why, []).append(number)
    gone = {number for numbers in undefined.values() for number in numbers}
    if len(gone) == len(table.rows):
        # One cause is enough to say why there is no table.
        return f"{title}: {'; '.join(undefined)}.", []
    kept = [number for number in range(len(table.rows)) if number not in gone]
    first = None if table.first is None else frozenset(i for i, number in enumerate(kept) if number in table.first)
    sentences = [f"{_names(table, numbers)}: {why}" for why, numbers in undefined.items()]
    return replace(table, rows=[table.rows[number] for number in kept], first=first), sentences


def _nothing(values: Iterable[object]) -> str | None:
    # None also where there is no estimate.
    estimates = [value for value in values if isinstance(value, Estimate)]
    if not estimates or any(estimate.value is not None for estimate in estimates):
        return None
    return next((estimate.reason for estimate in estimates if estimate.reason), "undefined")


def _names(table: Table, numbers: Sequence[int]) -> str:
    if len(numbers) > _NAMED:
        return f"{len(numbers)} of {len(table.rows)} rows"
    texts = [
        column
        for column in table.columns
        if any(isinstance(row.get(column.key), str) for row in table.rows) and not _same(table, column)
    ]
    named = (
        " ".join(cell_text(row, column) for column in texts[:3] if row.get(column.key) is not None)
        for row in map(table.rows.__getitem__, numbers)
    )
    return "; ".join(named) or "all rows"


def _narrowed(table: Table, width: int) -> Table:
    columns = list(table.columns)
    if text_layout.total_width(text_cells(table, columns)) <= width or width < text_layout.NARROW:
        return table
    while len(columns) > 2 and _total(least := [_least(table, column) for column in columns]) > width:
        columns.remove(_last(table, columns))
    least = [_least(table, column) for column in columns]
    spare = width - _total(least)
    for i, column in enumerate(columns):
        more = min(max(0, spare), _natural(table, column) - least[i])
        spare -= more
        if not is_numeric(table, column):
            columns[i] = replace(column, wrap=least[i] + more)
    return replace(table, columns=columns)


def _last(table: Table, columns: Sequence[Column]) -> Column:
    # The last empty column, else the last that is the same in all rows, else the last. The main number, and the p value
    # by which rows are chosen, stay.
    tested = [column.key for column in columns if column.p][-1:]
    free = [column for column in columns[1:] if not column.main and column.key not in tested] or [columns[-1]]
    for useless in (_empty, _same):
        for column in reversed(free):
            if useless(table, column):
                return column
    return free[-1]


def _empty(table: Table, column: Column) -> bool:
    return all(cell_text(row, column) == "—" for row in table.rows)


def _same(table: Table, column: Column) -> bool:
    return len(table.rows) > 1 and len({cell_text(row, column) for row in table.rows}) == 1


def _natural(table: Table, column: Column) -> int:
    return text_layout.total_width(text_cells(table, [column]))


def _least(table: Table, column: Column) -> int:
    # Numbers are whole, texts may be wrapped.
    words = max((len(word) for word in printable(column.title).split()), default=0)
    cells = [cell_text(row, column) for row in table.rows]
    if is_numeric(table, column):
        return max([words, *map(len, cells)])
    longest = max((len(word) for cell in cells for word in cell.split()), default=0)
    return max(words, min(_natural(table, column), max(_LEAST_TEXT, longest)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + text_layout.GAP * (len(widths) - 1)


def _notes(tables: Sequence[Table], parts: Sequence[tuple[Table | str, list[str]]]) -> list[str]:
    kept = [said for said, _ in parts if isinstance(said, Table)]
    undefined = [said for said, _ in parts[1:] if isinstance(said, str)]
    undefined += [sentence for _, sentences in parts for sentence in sentences]
    own = [note for table in tables if table.rows for note in table.notes]
    every = [*undefined, *(why for table in kept for why in whys(table)), *own, *(t for k in kept for t in tails_of(k))]
    return [printable(note) for note in dict.fromkeys(every)]


def _wrapped(notes: Sequence[str], width: int) -> list[list[str]]:
    return [text_layout.note_lines([note], width) for note in notes]
