"""Computes the cells of tables that belong together: by the study's recipe, corrected, and with one difference at a
time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge.base.estimate import Estimate
from judge.reproduce.cell import OURS, PUBLISHED, Cell, Numbers, Place, Printed, Recipe, as_printed

AVERAGE = "Avg"


@dataclass(frozen=True, slots=True)
class Family:
    """Tables of a study whose cells are computed in the same way.

    Attributes
    ----------
    numbers : callable
        Takes a recipe and returns every cell's number at full precision.
    digits : mapping
        Decimals in print of each table. Its keys are the family's tables.
    decimals : mapping
        Decimals in print of a (table, column), where these differ from the table's.
    switches : tuple of str
        Differences from the study's recipe that can change a cell of the family.
    estimates : callable or None
        Returns corrected numbers with intervals; None where there are no intervals.
    notes : tuple of str
        Notes under each of these tables.
    missing, known_cause, remarks : callables
        Take a cell and return why the files cannot give it, why it differs from print, and further remarks.
    counted_at : callable
        Takes a cell and returns the cell under which its number is counted; two tables may hold the same number.
    """

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


def cells(family: Family, printed: Mapping[Place, Printed], *, switch: str | None = None) -> list[Cell]:
    """All cells of a family of tables (those computed in the same way), with their printed, recomputed and corrected
    numbers.

    With `switch`, the corrected numbers are replaced by those of the study's recipe with this one difference.
    """
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
    return Cell(
        *place,
        digits=digits,
        in_print=entry is not None,
        published=entry.value if entry else None,
        source=entry.source if entry else None,
        counted_at=counted_at,
        as_published=shown,
        corrected=estimates.get(place) or Estimate(None, n=0),
        moved={name: number for name, number in changed.items() if number != shown},
        missing=missing,
        known_cause=family.known_cause(place),
        remarks=family.remarks(place),
        verdict=entry.verdict if entry else None,
    )


@dataclass(frozen=True, slots=True)
class Change:
    """Effect of one difference from the study's recipe on one table.

    Attributes
    ----------
    switch, table : str
        The difference and the table.
    cells, averages : int
        Number of single cells and of averages in the table.
    changed, averages_changed : int
        How many of these single cells, and of these averages, change when rounded as printed.
    largest : float
        Largest absolute change of a printed number; 0 if none changes.
    """

    switch: str
    table: str
    cells: int
    changed: int
    averages: int
    averages_changed: int
    largest: float


def changes(family: Family, switches: Sequence[str]) -> list[Change]:
    """Effect of each difference from the study's recipe, applied alone, on each table of the family."""
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
