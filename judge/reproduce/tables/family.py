"""Cells of tables that belong together: by the study's recipe, corrected, and with one difference at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge.base.estimate import Estimate
from judge.reproduce.cell import OURS, PUBLISHED, Cell, Numbers, Place, Printed, Recipe, as_printed

AVERAGE = "Avg"


@dataclass(frozen=True, slots=True)
class Family:
    """Tables of a study whose cells are computed in the same way. `numbers` are at full precision. `digits` are
    decimals in print by table, `decimals` those of a (table, column) that differs. `estimates` None: no intervals.
    `counted_at` is the cell under which a number that two tables hold is counted."""

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
