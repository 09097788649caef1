"""A reproduced study: its cells, and the effect of each difference from the study's recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge.base.errors import OptionError, unknown_value
from judge.base.fingerprint import sha256_file
from judge.inputs.datasets.sources import SOURCES
from judge.reproduce.cell import Cell, Place, Printed
from judge.reproduce.tables.family import Change, Family, cells, changes


@dataclass(frozen=True, slots=True)
class Options:
    """Options; with `choice`, one difference's effect is shown in place of corrected numbers. `resamples` 0 = no
    bootstrap intervals."""

    choice: str | None = None
    resamples: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise OptionError("resamples", self.resamples, "must be 0 or more")


@dataclass(frozen=True, slots=True)
class Study:
    """One published study with its files, its printed cells and the families of its tables. `switches` are differences
    that can be shown alone, `out_of_reach` those that the files do not allow, with the reason. `facts` are parts of the
    signature besides the files; `unchecked` names files without known checksums."""

    name: str
    title: str
    files: Mapping[str, Path]
    printed: Mapping[Place, Printed]
    families: Sequence[Family]
    switches: Sequence[str] = ()
    facts: Sequence[str] = ()
    out_of_reach: Mapping[str, str] = field(default_factory=dict)
    unchecked: frozenset[str] = frozenset()

    @property
    def table_names(self) -> list[str]:
        return [table for family in self.families for table in family.digits]

    def notes(self, cells: Sequence[Cell]) -> list[str]:
        """Notes to print under a table with these cells."""
        shown = {cell.table for cell in cells}
        own = [note for family in self.families if shown & set(family.digits) for note in family.notes]
        return [*(f"{name} is not the released file: its SHA-256 differs" for name in self.altered()), *own]

    def altered(self) -> list[str]:
        """Files that are not identical to the released ones."""
        released = {source.sha256 for source in SOURCES.values()}
        checked = {name: path for name, path in self.files.items() if name not in self.unchecked}
        return [name for name, path in checked.items() if sha256_file(path) not in released]

    def cells(self, options: Options, table: str | None = None) -> list[Cell]:
        """All cells, or those of one table. Raises SpecError for an unknown table or choice."""
        if table is not None and table not in self.table_names:
            raise unknown_value("table", table, self.table_names)
        if options.choice is not None and options.choice not in self.switches:
            raise unknown_value("choice", options.choice, self.switches)
        wanted = [family for family in self.families if table is None or table in family.digits]
        all_cells = [cell for family in wanted for cell in cells(family, self.printed, switch=options.choice)]
        order = {name: i for i, name in enumerate(self.table_names)}
        return sorted((cell for cell in all_cells if table in (None, cell.table)), key=lambda cell: order[cell.table])

    def changes(self) -> list[Change]:
        """Effect of each difference alone, on each table that it can change."""
        return [
            change
            for switch in self.switches
            for family in self.families
            if switch in family.switches
            for change in changes(family, [switch])
        ]
