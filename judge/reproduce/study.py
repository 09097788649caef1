"""A reproduced study: its cells, and the effect of each difference from the study's recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError, unknown_value
from judge.base.estimate import Estimate
from judge.base.fingerprint import sha256_file
from judge.inputs.datasets.sources import SOURCES
from judge.reproduce.cell import (
    OURS,
    PUBLISHED,
    STUDIES,
    Cell,
    Numbers,
    Place,
    Printed,
    Recipe,
    Verdict,
    as_printed,
    published,
)
from judge.reproduce.judged import Judged

# Cells of tables that belong together: by the study's recipe, corrected, and with one difference at a time.

AVERAGE = "Avg"

# Number by the study's method, and corrected estimate.
Values = Mapping[Place, tuple[float | None, Estimate | None]]


@dataclass(frozen=True, slots=True)
class Family:
    """Tables of a study whose cells are computed in the same way. `numbers` are at full precision. `digits` are
    decimals in print by table, `decimals` those of a (table, column) that differs. `estimates` None: no intervals.
    `counted_at` is the cell under which a number that two tables hold is counted. `judged`: it is said of each cell
    in print whether it holds once the recipe is corrected (`held`)."""

    numbers: Callable[[Recipe], Numbers]
    digits: Mapping[str, int]
    switches: tuple[str, ...] = ()
    estimates: Callable[[], Mapping[Place, Estimate]] | None = None
    notes: tuple[str, ...] = ()
    missing: Callable[[Place], str | None] = field(default=lambda _: None)
    known_cause: Callable[[Place], str | None] = field(default=lambda _: None)
    remarks: Callable[[Place], tuple[str, ...]] = field(default=lambda _: ())
    counted_at: Callable[[Place], Place] = field(default=lambda place: place)
    decimals: Mapping[tuple[str, str], int] = field(default_factory=dict)
    judged: bool = False

    @classmethod
    def of(cls, values: Callable[[], Values], digits: Mapping[str, int], **facts: Any) -> Family:
        """Tables for which no difference from the study's recipe can be shown alone. `values`, called once, gives each
        cell's number by the study's method and its corrected estimate; `facts` are further fields."""
        once = cache(values)
        return cls(
            numbers=lambda _: {place: number for place, (number, _) in once().items()},
            digits=digits,
            estimates=lambda: {place: ours for place, (_, ours) in once().items() if ours is not None},
            **facts,
        )

    @classmethod
    def by_recipe(
        cls, values: Callable[[Recipe], Mapping[Place, Estimate | None]], digits: Mapping[str, int], **facts: Any
    ) -> Family:
        """Tables whose cells `values` gives by any recipe, the corrected ones with their intervals; `facts` are further
        fields."""
        once = cache(values)
        return cls(
            numbers=lambda recipe: {
                place: None if cell is None else cell.value for place, cell in once(recipe).items()
            },
            digits=digits,
            estimates=lambda: {place: cell for place, cell in once(OURS).items() if cell is not None},
            **facts,
        )


def cells(family: Family, printed: Mapping[Place, Printed], *, switch: str | None = None) -> list[Cell]:
    """All cells; with `switch`, the corrected numbers are the study's with this one difference."""
    plain = family.numbers(PUBLISHED)
    wanted = tuple(name for name in family.switches if getattr(OURS, name.replace("-", "_")))
    if switch is not None:
        wanted = (switch,) if switch in family.switches else ()
    alone = {name: family.numbers(PUBLISHED.with_(name)) for name in wanted}
    estimates = _ours(family, switch, plain, alone)
    return [_cell(family, place, value, printed, alone, estimates) for place, value in plain.items()]


def _ours(
    family: Family, switch: str | None, plain: Numbers, alone: Mapping[str, Numbers]
) -> Mapping[Place, Estimate | None]:
    if switch is not None:
        return {place: _bare(value) for place, value in alone.get(switch, plain).items()}
    if family.estimates is not None:
        return dict(family.estimates())
    return {place: _bare(value) for place, value in family.numbers(OURS).items()}


def _bare(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value, n=0)


def _cell(
    family: Family,
    place: Place,
    value: float | None,
    printed: Mapping[Place, Printed],
    alone: Mapping[str, Numbers],
    estimates: Mapping[Place, Estimate | None],
) -> Cell:
    digits = family.decimals.get((place[0], place[2]), family.digits[place[0]])
    shown = as_printed(value, digits)
    missing = family.missing(place)
    counted_at = family.counted_at(place)
    entry = printed.get(place) or printed.get(counted_at)
    changed = {} if missing else {name: as_printed(numbers.get(place), digits) for name, numbers in alone.items()}
    corrected = estimates.get(place) or Estimate(None, n=0)
    verdict = entry.verdict if entry else None
    if entry is not None and family.judged:
        verdict = "not at hand" if missing else held(entry, shown, corrected, digits)
    return Cell(
        *place,
        digits=digits,
        in_print=entry is not None,
        published=entry.value if entry else None,
        source=entry.source if entry else None,
        counted_at=counted_at,
        as_published=shown,
        corrected=corrected,
        moved={name: number for name, number in changed.items() if number != shown},
        missing=missing,
        known_cause=family.known_cause(place),
        remarks=family.remarks(place),
        verdict=verdict,
    )


def held(entry: Printed, shown: float | None, corrected: Estimate, digits: int) -> Verdict:
    """Whether a printed cell holds once its recipe is corrected; `shown` is the number by the study's recipe. A number
    without an interval holds where it is the same as printed."""
    if entry.value != shown:
        return "differs"
    if corrected.low is None or corrected.high is None:
        return "holds" if as_printed(corrected.value, digits) == shown else "moves"
    half = 0.5 * 10**-digits
    return "holds" if corrected.low - half <= float(entry.value or 0) <= corrected.high + half else "moves"


@dataclass(frozen=True, slots=True)
class Change:
    """Effect of one difference on one table; changes count if visible as printed, `largest` is absolute."""

    switch: str
    table: str
    cells: int
    changed: int
    averages: int
    averages_changed: int
    largest: float


def changes(family: Family, switches: Sequence[str]) -> list[Change]:
    """Effect of each difference alone, on each table of the family."""
    plain = family.numbers(PUBLISHED)
    rows = []
    for switch in switches:
        other = family.numbers(PUBLISHED.with_(switch))
        for table, digits in family.digits.items():
            places = [place for place in plain if place[0] == table and not family.missing(place)]
            pairs = {p: (as_printed(plain[p], digits), as_printed(other.get(p), digits)) for p in places}
            moved = [place for place, (before, after) in pairs.items() if before != after]
            single = [place for place in places if not _average(place)]
            sizes = [
                abs(before - after) for before, after in pairs.values() if before is not None and after is not None
            ]
            rows.append(
                Change(
                    switch,
                    table,
                    cells=len(single),
                    changed=sum(not _average(place) for place in moved),
                    averages=len(places) - len(single),
                    averages_changed=sum(_average(place) for place in moved),
                    largest=max(sizes, default=0.0),
                )
            )
    return rows


def _average(place: Place) -> bool:
    return AVERAGE in place[1:]


@dataclass(frozen=True, slots=True)
class Options:
    """Options; with `choice`, one difference's effect is shown in place of corrected numbers. `resamples` 0 = no
    bootstrap intervals."""

    choice: str | None = None
    resamples: int = RESAMPLES
    seed: int = 1

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise OptionError("resamples", self.resamples, "must be 0 or more")


@dataclass(frozen=True, slots=True)
class Study:
    """One published study with its files and the families of its tables. `switches` are differences that can be shown
    alone, `out_of_reach` those that the files do not allow, with the reason. `facts` are parts of the signature besides
    the files; `unchecked` names files without known checksums. `printed` are the printed cells of a study whose file
    holds them, in place of those that are shipped; `findings` says what the numbers come to, `judges` of each judge."""

    name: str
    files: Mapping[str, Path]
    families: Sequence[Family]
    switches: Sequence[str] = ()
    facts: Sequence[str] = ()
    out_of_reach: Mapping[str, str] = field(default_factory=dict)
    unchecked: frozenset[str] = frozenset()
    printed: Mapping[Place, Printed] | None = None
    findings: Callable[[], Sequence[str]] = tuple
    judges: Callable[[Sequence[Cell]], Sequence[Judged]] = lambda _: ()

    @property
    def title(self) -> str:
        return STUDIES[self.name].title

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
        printed = published(self.name) if self.printed is None else self.printed
        all_cells = [cell for family in wanted for cell in cells(family, printed, switch=options.choice)]
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
