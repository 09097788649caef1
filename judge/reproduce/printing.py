"""Tables of a reproduced study: summary, cells, and the effect of each difference from its recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge.base.fingerprint import fingerprint_file
from judge.base.printing.tables import Column, Table, cell_text, plain
from judge.base.wording import Advice, joined
from judge.reproduce.cell import DIFFERENCES, STATES, VERDICTS, Cell, Place, State
from judge.reproduce.study import Change, Options, Study
from judge.version import __version__

# Counts printed numbers that match. A number that several tables hold counts once.


def numbers_in(cells: Sequence[Cell], *states: State) -> set[Place]:
    """Places of printed numbers in these states; one that several cells hold occurs where it is counted."""
    return {cell.counted_at for cell in cells if cell.in_print and cell.state in states}


def sentence(cells: Sequence[Cell]) -> str:
    """How many cells match print, and how numbers in several tables are counted."""
    off = numbers_in(cells, "off")
    matching = numbers_in(cells, "match", "repeat") - off
    differing, missing = numbers_in(cells, "differ"), numbers_in(cells, "not computable")
    parts = [f"{len(matching)} distinct printed {_verb(matching, 'cell matches', 'cells match')} print"]
    parts += [f"{len(off)} {_verb(off, 'is', 'are')} off print"]
    parts += [f"{len(differing)} {_verb(differing, 'is', 'are')} known to differ"] if differing else []
    parts += [f"the files that this command reads cannot give {len(missing)}"] if missing else []
    text = f"{', '.join(parts[:-1])}, and {parts[-1]}"
    shared = sum(cell.state == "repeat" for cell in cells)
    if shared:
        text += f"; a number that several tables hold counts once ({shared} cells repeat a number of another table)"
    return text


def _verb(places: set[Place], singular: str, several: str) -> str:
    return singular if len(places) == 1 else several


# The table of differences, one at a time.
CHOICES = "choices"

# From so many cells on, a reason that they share stands under the table and not in each row.
_OFTEN = 4

_KEYS = ("table", "row", "column", "published", "as_published", "corrected", "note", "state", "source")

# States whose columns have shorter titles, so that the summary fits a terminal of 80 columns.
_TITLES: Mapping[State, str] = {"not computable": "n/a", "not in print": "own"}

_WIDTH = 80
# Columns of a terminal that tables are made for, and of a note at least.
_NARROWEST = 24


def study_tables(
    make: Callable[[Options], Study], options: Options, table: str | None, *, differences: bool, machine: bool
) -> tuple[list[Table], bool]:
    """What `judge reproduce` prints for a study, and whether some cell unexpectedly differs from print. That is a
    summary, the cells (of one table, or those that differ), or the effects of differences; for machines always cells or
    effects. Intervals are computed only where cells are shown."""
    if table is None and not differences and not machine:
        options = replace(options, resamples=0)
        study = make(options)
        cells = study.cells(options)
        printed_tables = [summary(study, cells, options)]
        if any(cell.verdict for cell in cells):
            printed_tables.append(verdicts(study, cells, options))
        if study.switches and options.choice is None:
            printed_tables.append(overview(study, study.changes(), options))
        return printed_tables, _off(cells)
    study = make(options)
    if table == CHOICES and study.switches:
        changes = study.changes()
        records = choice_records(study, changes)
        if machine:
            return [_records(records, "one change alone", signature(study, options), [])], False
        return [choices_table(study, changes, options)], False
    cells = study.cells(options, table)
    wanted = [cell for cell in cells if not differences or cell.state in ("differ", "off") or cell.corrected_differs]
    title = f"{study.title}: {table or 'all tables'}{', what differs' if differences else ''}"
    if not machine:
        return [cell_table(study, wanted, options, title, sentence(cells))], _off(cells)
    records = [cell.record() for cell in wanted]
    if table is None and not differences and study.switches:
        records += choice_records(study, study.changes())
    notes = [sentence(cells), *study.notes(wanted), *_explained(wanted, options)]
    return [_records(records, title, signature(study, options, wanted), notes)], _off(cells)


def _off(cells: Iterable[Cell]) -> bool:
    return any(cell.state == "off" for cell in cells)


def _records(records: Sequence[dict[str, Any]], title: str, line: str, notes: Sequence[str]) -> Table:
    keys = [*_KEYS, *(["verdict"] if any("verdict" in record for record in records) else [])]
    return Table(title, [Column(key, key, digits=4) for key in keys], records, line, notes)


def signature(study: Study, options: Options, cells: Sequence[Cell] = ()) -> str:
    """One line with the files' hashes, each choice that can change a number, and the method of intervals."""
    files = [f"{name}:{fingerprint_file(path)}" for name, path in study.files.items()]
    shown = f"choice:{options.choice}" if options.choice else None
    kinds = dict.fromkeys(_interval(cell, options) for cell in cells if cell.corrected.low is not None)
    intervals = f"ci:{'+'.join(kinds)}" if kinds else "ci:none" if cells and not options.resamples else None
    parts = [*files, *study.facts, shown, intervals, f"v{__version__}"]
    return "|".join(part for part in parts if part)


def _interval(cell: Cell, options: Options) -> str:
    method = cell.corrected.method or ""
    if "resampled" in method:
        return f"boot-inputs/{options.resamples}/seed{options.seed}"
    return "f" if method.startswith("F,") else "t"


def summary(study: Study, cells: Sequence[Cell], options: Options) -> Table:
    """One row per table: numbers of cells by state, and of those that corrections change."""
    rows: list[dict[str, Any]] = []
    for table in dict.fromkeys(cell.table for cell in cells):
        rows.append(_counts(table, [cell for cell in cells if cell.table == table]))
    rows.append(_counts("all", cells))
    states = [state for state in STATES if state in ("match", "off") or any(row[state] for row in rows)]
    if not _off(cells):
        states.remove("off")
    columns = [Column("table", "table"), Column("cells", "cells")]
    columns += [Column(state, _title(state)) for state in states]
    columns.append(Column("moved", "moved"))
    notes = [sentence(cells), *(f"{_title(state)}: {STATES[state]}" for state in states), f"moved: {_moved(options)}"]
    notes += [*_reasons(cells), *study.notes(cells), *study.findings()]
    advice = "judge reproduce {} {table} prints a table's cells, {differences} what differs"
    notes.append(Advice(advice, study.name, table="NAME", differences=True))
    notes.append(f"judge reproduce {study.name} --list prints every table of the publication and why some are missing")
    return Table(f"{study.title}, reproduced", columns, rows, signature(study, options), notes)


def verdicts(study: Study, cells: Sequence[Cell], options: Options) -> Table:
    """Number of cells by table and verdict."""
    judged = [cell for cell in cells if cell.verdict]
    names = [verdict for verdict in VERDICTS if any(cell.verdict == verdict for cell in judged)]
    rows: list[dict[str, Any]] = []
    for table in [*dict.fromkeys(cell.table for cell in judged), None]:
        counted = Counter(cell.verdict for cell in judged if table in (None, cell.table))
        row: dict[str, Any] = {"table": table or "all", "cells": counted.total()}
        rows.append(row | {name: counted[name] or None for name in names})
    columns = [Column("table", "table"), Column("cells", "printed"), *(Column(name, name, wrap=9) for name in names)]
    notes = [f"{name}: {VERDICTS[name]}" for name in names]
    return Table("What can be done about each printed cell", columns, rows, signature(study, options), notes)


def _title(state: State) -> str:
    return _TITLES.get(state, state)


def _moved(options: Options) -> str:
    if options.choice:
        return f"cells that print another number with {options.choice} alone"
    return "cells that print another number when the program corrects the study's recipe"


def cell_table(study: Study, cells: Sequence[Cell], options: Options, title: str, counted: str) -> Table:
    """One row per cell; `counted` is a note on how many cells match print."""
    several = len({cell.table for cell in cells}) > 1
    columns = [Column("table", "table")] if several else []
    columns += [Column("row", "row"), Column("column", "column"), Column("published", "printed", wrap=_NARROWEST)]
    columns += [Column("as_published", "recipe")]
    columns += [Column("corrected", f"with {options.choice}" if options.choice else "corrected")]
    often = _often(cells)
    rows = [_printed(cell, often) for cell in cells]
    columns += [Column("verdict", "verdict")] if any(cell.verdict for cell in cells) else []
    columns.append(Column("note", "note", wrap=max(_NARROWEST, _WIDTH - _wide(rows, columns))))
    notes = [counted, *study.notes(cells), *(f"{', '.join(where)}: {text}" for text, where in often.items())]
    notes += _sources(cells)
    return Table(title, columns, rows, signature(study, options, cells), [*notes, *_explained(cells, options)])


def _wide(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> int:
    """In characters, with two spaces after each."""
    lengths = ([len(column.title), *(len(cell_text(row, column)) for row in rows)] for column in columns)
    return sum(min(max(widths), c.wrap or max(widths)) + 2 for widths, c in zip(lengths, columns, strict=True))


def _sources(cells: Sequence[Cell]) -> list[str]:
    """A note on where these numbers are printed; [] where unknown."""
    sources = Counter(cell.source for cell in cells if cell.source)
    return [f"printed numbers: {', '.join(f'{source} ({n})' for source, n in sources.items())}"] if sources else []


def overview(study: Study, changes: Sequence[Change], options: Options) -> Table:
    """One row per difference from the study's recipe: how many cells it alone changes."""
    rows = []
    for name in study.switches:
        own = [change for change in changes if change.switch == name]
        rows.append(
            {
                "choice": name,
                "study": DIFFERENCES[name].published,
                "otherwise": DIFFERENCES[name].otherwise,
                "changed": sum(change.changed + change.averages_changed for change in own),
                "cells": sum(change.cells + change.averages for change in own),
            }
        )
    columns = plain(
        ("choice", "one change"),
        Column("study", "the study", wrap=22),
        Column("otherwise", "otherwise", wrap=22),
        "changed",
        ("cells", "of"),
    )
    choices = ", ".join(name for name in study.switches if not DIFFERENCES[name].correction)
    notes = [
        "changed: cells of the study's tables that print another number with this change alone",
        f"the corrected numbers make all of these changes together, except {choices}, which can be defended either way",
        Advice(
            "judge reproduce {} {table} counts them table by table, {choice} shows one",
            study.name,
            table="choices",
            choice="NAME",
        ),
    ]
    return Table("One change alone", columns, rows, signature(study, options), notes)


def choices_table(study: Study, changes: Iterable[Change], options: Options) -> Table:
    """How many cells each difference alone changes, by table of the study."""
    rows = [
        {
            "choice": change.switch,
            "table": change.table,
            "changed": change.changed,
            "cells": change.cells,
            "averages": f"{change.averages_changed} of {change.averages}" if change.averages else None,
            "largest": f"{change.largest:g}",
        }
        for change in changes
        if change.changed or change.averages_changed
    ]
    columns = plain(
        ("choice", "one change alone"),
        "table",
        ("changed", "cells that print another number"),
        ("cells", "of"),
        "averages",
        ("largest", "largest change"),
    )
    notes = [f"{name}: {_sentence(name)}" for name in study.switches]
    cells = "judge reproduce {} {choice} {differences} prints the cells"
    notes.append(Advice(cells, study.name, choice="NAME", differences=True))
    notes += [joined(f"{name}: ", why) for name, why in study.out_of_reach.items()]
    return Table(f"{study.title}: one change alone", columns, rows, signature(study, options), notes)


def choice_records(study: Study, changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Effects of differences with the keys of cells' records. `as_published` holds the number of cells compared, and
    `corrected` of those that change."""
    rows: list[tuple[str, str, int | None, int | None, str]] = [
        (
            change.switch,
            change.table,
            change.cells,
            change.changed,
            f"of as_published cells, corrected print another number; {_sentence(change.switch)}"
            + (f"; averages: {change.averages_changed} of {change.averages}" if change.averages else ""),
        )
        for change in changes
    ]
    rows += [(name, "all", None, None, why) for name, why in study.out_of_reach.items()]
    return [
        {
            "table": CHOICES,
            "row": row,
            "column": column,
            "published": None,
            "as_published": cells,
            "corrected": changed,
            "note": note,
            "state": None,
            "source": None,
        }
        for row, column, cells, changed, note in rows
    ]


def _sentence(name: str) -> str:
    difference = DIFFERENCES[name]
    kind = "a correction" if difference.correction else "a choice"
    return f"{difference.otherwise}; the study: {difference.published} ({kind}: {difference.why})"


def _counts(table: str, cells: Sequence[Cell]) -> dict[str, Any]:
    states = Counter(cell.state for cell in cells)
    moved = sum(cell.as_published is not None and cell.corrected_differs for cell in cells)
    return {"table": table, "cells": len(cells), "moved": moved} | {state: states[state] or None for state in STATES}


def _reasons(cells: Sequence[Cell]) -> list[str]:
    """Distinct reasons, each after the tables to which it applies."""
    tables_by_reason: dict[str, dict[str, None]] = {}
    for cell in cells:
        reason = cell.missing or (cell.known_cause if cell.state == "differ" else None)
        if reason:
            tables_by_reason.setdefault(reason, {})[cell.table] = None
    return [f"{', '.join(tables)}: {reason}" for reason, tables in tables_by_reason.items()]


def _often(cells: Sequence[Cell]) -> dict[str, list[str]]:
    # Reasons that at least four cells share are printed once, under the table.
    cells_by_reason: dict[str, list[Cell]] = {}
    for cell in cells:
        for reason in cell.reasons():
            cells_by_reason.setdefault(reason, []).append(cell)
    return {reason: _where(own, cells) for reason, own in cells_by_reason.items() if len(own) >= _OFTEN}


def _where(own: Sequence[Cell], cells: Sequence[Cell]) -> list[str]:
    """ "all", whole tables, columns or rows, or the number of own cells."""
    if len(own) == len(cells):
        return ["all"]
    whole = []
    for part in ("table", "column", "row"):
        names = list(dict.fromkeys(getattr(cell, part) for cell in own))
        if sum(getattr(cell, part) in names for cell in cells) == len(own):
            whole.append(names)
    return min(whole, key=len) if whole else [f"{len(own)} cells"]


def _printed(cell: Cell, often: Mapping[str, object]) -> dict[str, Any]:
    return {
        "table": cell.table,
        "row": cell.row,
        "column": cell.column,
        "published": _number(cell.published, cell.digits, blank=cell.in_print),
        "as_published": _number(cell.as_published, cell.digits, blank=cell.in_print and not cell.missing),
        "corrected": _estimate(cell),
        "verdict": cell.verdict,
        "note": "; ".join(part for part in (cell.movement(), *cell.reasons()) if part and part not in often) or None,
    }


def _number(value: float | str | None, digits: int, *, blank: bool) -> str | None:
    if value is None:
        return "blank" if blank else None
    if isinstance(value, str):
        return value
    return f"{value:.{digits}f}"


def _estimate(cell: Cell) -> str | None:
    estimate = cell.corrected
    if estimate.value is None:
        return "undefined" if estimate.reason else None
    digits = cell.digits + (estimate.low is not None or estimate.value != round(estimate.value, cell.digits))
    text = f"{estimate.value + 0.0:.{digits}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
    return text


def _explained(cells: Sequence[Cell], options: Options) -> list[str]:
    names = dict.fromkeys(name for cell in cells for name in cell.moved)
    methods = dict.fromkeys(cell.corrected.method for cell in cells if cell.corrected.low is not None)
    notes = [f"{name}: {_sentence(name)}" for name in names or ([options.choice] if options.choice else [])]
    return [*notes, *(f"intervals: {method}" for method in methods if method)]
