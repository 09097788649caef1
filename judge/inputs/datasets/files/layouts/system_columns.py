"""Rows that hold the stories of several systems, with ratings in columns that name the system, as a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from judge.base.late_pattern import late
from judge.base.wording import few
from judge.inputs.datasets.files.column_names import bare, is_count, named, named_column
from judge.inputs.datasets.files.column_words import NAMES, RANKS

Rows = Iterator[tuple[int, dict[str, Any]]]

SYSTEM, RATED = "system", "rating"
# Rows that tell the form of all, characters of a story at the least on average, and of a system's name.
_LOOKED_AT, _LONG, _LEAST_NAME = 20, 40, 2
_BETWEEN, _SEPARATED = " _-.:(", late(r"[ _.:(-]+")
_SIDES = frozenset(("left", "right", "first", "second"))


@dataclass(frozen=True, slots=True)
class _Systems:
    """System -> what its columns hold -> column."""

    columns: Mapping[str, Mapping[str, str]]

    def rows(self, number: int, cells: Mapping[str, Any]) -> Rows:
        used = {column for mine in self.columns.values() for column in mine.values()}
        base = {name: value for name, value in cells.items() if name not in used}
        for system, mine in self.columns.items():
            yield number, base | {SYSTEM: system} | {what: cells.get(column) for what, column in mine.items()}


def stories_in_rows(rows: Rows, told: list[str] | None = None) -> Rows:
    """The rows; those with stories of several systems as one for each. `told` is given a sentence on it."""
    first = [*islice(rows, _LOOKED_AT)]
    records = [cells for _, cells in first]
    whole = records and all(isinstance(cells, dict) for cells in records)
    systems = _systems(records) if whole else None
    if systems is None and whole and (rated := _rated_systems(records)) is not None:
        first, (who, columns) = [*first, *rows], rated
        sides = {named(str(cells.get(who))).side == "judge" for _, cells in first}
        # A judge among the raters rates as they do: the columns named for models hold ratings of what these wrote.
        systems = _Systems({name: {RATED: name} for name in columns}) if sides == {True, False} else None
    if systems is None:
        yield from chain(first, rows)
        return
    if told is not None:
        names = [*systems.columns]
        what = [*systems.columns[names[0]]]
        told.append(f"a row holds stories of {few(names, 4)}: it is read as one for each, with {few(what, 6)}")
    for number, cells in chain(first, rows):
        yield from systems.rows(number, cells)


def _rated_systems(records: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]] | None:
    """The column of raters and those of numbers that have the names of systems, models among them, and nothing more."""
    columns = [*records[0]]
    numbers = [column for column in columns if _rated(records, [column]) and not _names_rows(column)]
    who = named_column("rater", [column for column in columns if column not in numbers])
    parts = [named(column) for column in numbers]
    models = sum(part.side == "judge" for part in parts)
    plain = len(numbers) > 1 and not any(part.criterion for part in parts if part.side)
    if who is None or SYSTEM in map(str.lower, columns) or not plain or models < _LEAST_NAME:
        return None
    return (who, numbers) if all(part.side for part in parts) else None


def _systems(records: Sequence[Mapping[str, Any]]) -> _Systems | None:
    columns = [*records[0]]
    if SYSTEM in map(str.lower, columns):
        return None
    texts = [column for column in columns if _long([cells.get(column) for cells in records])]
    for what, names in _named_alike(texts):
        by_system = {name: _of(name, columns) for name in names}
        shared = [of for of in by_system[names[0]] if all(of in mine for mine in by_system.values())]
        rated = [of for of in shared if of != what and _rated(records, [mine[of] for mine in by_system.values()])]
        used = {mine[of] for mine in by_system.values() for of in shared}
        if any(_rated(records, [c]) and not _names_rows(c) for c in columns if c not in used):
            return None  # beside other ratings, these may be judges, with what each answered
        if what in shared and rated and not any(RANKS.search(of) for of in rated):
            return _Systems({name: {of: mine[of] for of in shared} for name, mine in by_system.items()})
    return None


def _named_alike(texts: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """What columns of texts hold that share their first word, or their last, and the systems that they are named for;
    not where these are letters, numbers or people's."""
    for start in (True, False):
        alike: dict[str, list[str]] = {}
        for text in texts:
            alike.setdefault(_SEPARATED.split(text)[0 if start else -1].lower(), []).append(text)
        for what, columns in alike.items():
            if what and len(columns) > 1 and bare(what) not in NAMES["explanation"]:
                kept = list(dict.fromkeys(filter(None, (_rest(text, what, start=start) for text in columns))))
                if _are_systems(kept):
                    yield _SEPARATED.split(columns[0])[0 if start else -1], kept


def _are_systems(names: Sequence[str]) -> bool:
    differ = len({name.rstrip("0123456789") for name in names}) > 1
    if not differ or any(len(name) < _LEAST_NAME for name in names) or {*map(str.lower, names)} <= _SIDES:
        return False
    # Else what persons, or judges, said of a story.
    return all(named(name).side != "human" for name in names)


def _rest(column: str, what: str, *, start: bool) -> str | None:
    low = column.lower()
    if start and low.startswith(what.lower()) and column[len(what) : len(what) + 1] in tuple(_BETWEEN):
        return column[len(what) :].strip(_BETWEEN + ")")
    if not start and low.endswith(what.lower()) and column[-len(what) - 1 : -len(what)] in tuple(_BETWEEN):
        return column[: -len(what)].strip(_BETWEEN + ")")
    return None


def _of(system: str, columns: Sequence[str]) -> dict[str, str]:
    """What the columns named for a system hold -> column: their names without the system's."""
    held: dict[str, str] = {}
    for column in columns:
        for start in (True, False):
            rest = _rest(column, system, start=start)
            if rest:
                held.setdefault(rest, column)
    return held


def _long(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    return len(texts) > 1 and sum(map(len, texts)) >= _LONG * len(texts)


def _names_rows(column: str) -> bool:
    return is_count(column) or named_column("id", [column]) is not None or named_column("rater", [column]) is not None


def _rated(records: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bool:
    return all(all(_number(cells.get(column)) for cells in records) for column in columns)


def _number(value: Any) -> bool:
    if value in (None, "") or (isinstance(value, int | float) and not isinstance(value, bool)):
        return True
    try:
        float(str(value).replace(",", "."))
    except ValueError:
        return False
    return True
