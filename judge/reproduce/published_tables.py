"""Lists all tables of the studies, each with its state: reproduced, computable from other data, or neither."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.base.errors import SpecError, unknown
from judge.base.folders import package_file
from judge.base.printing.tables import Column, Table
from judge.version import __version__

TableState = Literal["reproduced", "partly reproduced", "own data", "not computable", "not compared"]
STATES: Mapping[TableState, str] = {
    "reproduced": "the released files give every printed cell",
    "partly reproduced": "they give some of the cells, and a note says why not the rest",
    "own data": "the files that the program reads cannot give it; a command computes such numbers from other data",
    "not computable": "no command computes it from any data at hand, and a note says why",
    "not compared": "the program stores no printed number of it",
}

# Study -> its title.
TITLES: Mapping[str, str] = {
    "hanna": "HANNA (Chhun, Suchanek and Clavel 2024, TACL)",
    "openmeva": "OpenMEVA (Guan et al. 2021, ACL)",
    "storyer": "StoryER (Chen et al. 2022, EMNLP)",
    "ttcw": "Art or Artifice (Chakrabarty et al. 2024, CHI)",
}

_NOTES: Mapping[str, Sequence[str]] = {
    "hanna": ("the notebook also prints means and agreement of Mistral-7B, which are not listed",),
    "openmeva": ("cells: of the metrics' numbers the program stores those of UNION, and none of Tables 8 and 9",),
    "storyer": (
        "judge reproduce storyer says of each cell what can be done about it, and adds a baseline where one exists",
    ),
    "ttcw": ("the notebook also prints balanced accuracy test by test, which is not listed",),
}
_KEYS = ("study", "printed_in", "table", "names", "cells", "match", "state", "why", "command")


@dataclass(frozen=True, slots=True)
class Listed:
    """One table or figure of a publication; `names` are tables of `judge reproduce` with its cells. `cells` and `match`
    count printed cells, without those that an earlier table prints, None if none are stored. `state` "own data": a
    command computes such numbers. `why` is empty where files give all cells."""

    study: str
    printed_in: str
    table: str
    names: tuple[str, ...]
    cells: int | None
    match: int | None
    state: TableState
    why: str
    command: str


def listed(study: str) -> list[Listed]:
    """Tables and figures of one publication with their states. Raises SpecError for an unknown study."""
    if study not in TITLES:
        raise SpecError(unknown("study", study, list(TITLES)))
    with package_file("reproduce", "published_data", f"{study}_tables.csv").open(
        encoding="utf-8", newline=""
    ) as stream:
        return [_listed(study, row) for row in csv.DictReader(stream)]


def _listed(study: str, row: Mapping[str, str]) -> Listed:
    (state,) = (state for state in STATES if state == row["state"])
    return Listed(
        study=study,
        printed_in=row["printed_in"],
        table=row["table"],
        names=tuple(row["names"].split()),
        cells=int(row["cells"]) if row["cells"] else None,
        match=int(row["match"]) if row["match"] else None,
        state=state,
        why=row["why"],
        command=row["command"],
    )


def listing_tables(studies: Sequence[str], *, machine: bool) -> list[Table]:
    """A table for each study; machine-readable, one list with a key for each attribute."""
    if machine:
        rows = [_record(entry) for study in studies for entry in listed(study)]
        columns = [Column(key, key) for key in _KEYS]
        notes = [note for study in studies for note in _notes(study)]
        return [Table("Tables of the studies", columns, rows, _signature(), notes)]
    return [_table(study) for study in studies]


def _record(entry: Listed) -> dict[str, Any]:
    record: dict[str, Any] = {key: getattr(entry, key) or None for key in _KEYS}
    return record | {"names": " ".join(entry.names) or None, "cells": entry.cells, "match": entry.match}


def _table(study: str) -> Table:
    tables_listed = listed(study)
    rows = [
        {key: getattr(entry, key) for key in ("printed_in", "table", "cells", "match", "state")}
        for entry in tables_listed
    ]
    columns = [
        Column("printed_in", "printed in", wrap=12),
        Column("table", "table", wrap=31),
        Column("cells", "cells"),
        Column("match", "match"),
        Column("state", "state"),
    ]
    states = dict.fromkeys(entry.state for entry in tables_listed)
    notes = [*_notes(study), *(f"{state}: {STATES[state]}" for state in states), *_reasons(tables_listed)]
    return Table(f"{TITLES[study]}: tables", columns, rows, _signature(), notes)


def _reasons(listed: Sequence[Listed]) -> list[str]:
    """Distinct reasons with the command that helps, each after the tables to which it applies."""
    reasons: dict[str, list[str]] = {}
    for entry in listed:
        if entry.why:
            reason = "; ".join(part for part in (entry.why, entry.command) if part)
            numbered = entry.printed_in.startswith(("Table", "Fig", "Appendix"))
            reasons.setdefault(reason, []).append(entry.printed_in if numbered else entry.table)
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _notes(study: str) -> list[str]:
    entries = listed(study)
    cells = sum(entry.cells or 0 for entry in entries)
    compared = [entry.match for entry in entries if entry.match is not None]
    total = f"{sum(compared)} of {cells} printed cells match" if compared else f"{cells} printed cells, none compared"
    return [f"{study}: {total}; a number that two tables hold counts once", *_NOTES[study]]


def _signature() -> str:
    return f"v{__version__}"
