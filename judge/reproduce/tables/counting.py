"""Counts printed numbers that match. A number that several tables hold counts once."""

from __future__ import annotations

from collections.abc import Sequence

from judge.reproduce.cell import Cell, Place, State


def numbers_in(cells: Sequence[Cell], *states: State) -> set[Place]:
    """(table, row, column) of each printed number whose cell is in one of these states.

    A number that several cells hold occurs once, under the cell where it is counted.
    """
    return {cell.counted_at for cell in cells if cell.in_print and cell.state in states}


def sentence(cells: Sequence[Cell]) -> str:
    """A sentence on how many cells match the printed numbers, and on how numbers in several tables are counted."""
    off = numbers_in(cells, "off")
    matching = numbers_in(cells, "match", "repeat") - off
    differing, missing = numbers_in(cells, "differ"), numbers_in(cells, "not computable")
    parts = [f"{_count(matching)} {_verb(matching, 'matches', 'match')} print"]
    parts += [f"{len(off)} {_verb(off, 'is', 'are')} off print"]
    parts += [f"{len(differing)} {_verb(differing, 'is', 'are')} known to differ"] if differing else []
    parts += [f"the files that this command reads cannot give {len(missing)}"] if missing else []
    text = f"{', '.join(parts[:-1])}, and {parts[-1]}"
    shared = sum(cell.state == "repeat" for cell in cells)
    if shared:
        text += f"; a number that several tables hold counts once ({shared} cells repeat a number of another table)"
    return text


def _count(places: set[Place]) -> str:
    return f"{len(places)} distinct printed {_verb(places, 'cell', 'cells')}"


def _verb(places: set[Place], singular: str, several: str) -> str:
    return singular if len(places) == 1 else several
