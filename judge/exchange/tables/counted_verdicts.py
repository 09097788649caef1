"""Counts of verdicts in a table: comparisons of two stories, labels without an order, ranks of several systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.errors import DataError
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, few, typed
from judge.exchange.tables.compared_table import ComparedMap, UnknownSidesError, compared_map, read_compared
from judge.exchange.tables.counted import Counted, counted_words
from judge.exchange.tables.table_roles import GivenColumns, options_of
from judge.inputs.datasets.files.column_labels import RankedTableError, UnorderedLabelsError
from judge.inputs.datasets.files.column_names import bare, named
from judge.inputs.datasets.files.column_words import GOLD
from judge.inputs.datasets.files.pair_table import CRITERION, SYSTEM
from judge.inputs.datasets.files.reading import TwoReadingsError
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells

# Comparisons of two stories.

_PAIRS = [
    Column("who", "verdicts by", wrap=34),
    Column("raters", "raters"),
    Column("all", "verdicts"),
    Column("first", "first"),
    Column("second", "second"),
    Column("tie", "ties"),
    Column("share", "first of all", digits=4),
    Column("decided", "of decided", digits=4),
]


def compared_counts(path: Path, given: GivenColumns) -> Counted:
    columns: dict[str, Any] = {"labels": given.labels} if given.labels else {}
    columns |= {"missing": ",".join(given.missing)} if given.missing else {}
    columns |= {"sheet": given.sheet} if given.sheet else {}
    stated = (("judges", given.judge), ("people", given.human))
    columns |= {f"{side}.{CRITERION}": ",".join(names) for side, names in stated if names}
    try:
        compared = compared_map(path, columns)
    except UnknownSidesError as doubt:
        said_sides = options_of(replace(given, judge=doubt.judges or ("COLUMN",), human=doubt.people))
        doubt.hint = Advice("say whose verdicts these are: judge check {} {}", typed(path), said_sides)
        raise
    except TwoReadingsError as doubt:
        said = [replace(given, labels=code) for code in doubt.choices]
        lines = [Advice("judge check {} {}", typed(path), options_of(each)) for each in said]
        raise TwoReadingsError(path, doubt.question, (lines[0], said[0]), (lines[1], said[1])) from None
    if compared is None:
        raise DataError("compares two stories a row, and no column is known to hold verdicts", file=path)
    imported = read_compared(path, compared, path.stem)
    frame = imported.frame
    people, judged = frame[frame["source"] == "rater"], frame[frame["source"] == "judge"]
    rows = [_pair_row("people", people)] if len(people) else []
    rows += [_pair_row(str(name), mine) for name, mine in judged.groupby("judge", sort=False)]
    systems = {*imported.stories["system"]} - {"-", SYSTEM}
    about = (
        f"{path.stem}: comparisons of two stories in each row: {len(frame):,} verdicts on "
        f"{_number_of_pairs(frame, compared):,} pairs, {frame['story_prompt'].nunique():,} story-prompts"
    )
    about += f", {counted_words(len(systems), 'system')}." if systems else "."
    run = f"runs/{path.stem}"
    whose = {f"{side}.{CRITERION}": ",".join(its) for side, its in compared.sides if its}
    other = Advice("other columns are named by judge import {} {columns}", typed(path), columns=whose)
    return Counted(
        path,
        about,
        tuple(compared.lines),
        Table("Verdicts", _PAIRS, rows, ""),
        (*_agreed(judged, people, compared), other, *imported.notes),
        options_of(given) or None,
        f"judge import {typed(path)} -o {run}, then judge rank {run}, has strengths, orders and intervals",
        imported,
    )


def _number_of_pairs(frame: pd.DataFrame, compared: ComparedMap) -> int:
    """The same two texts, compared for two prompts, are two pairs."""
    named_pairs = bool({"id", "story_prompt"} & {*compared.fields})
    return len(frame[["story_prompt", "pair"]].drop_duplicates()) if named_pairs else frame["pair"].nunique()


def _pair_row(who: str, rows: pd.DataFrame) -> dict[str, Any]:
    given = rows["preference"].value_counts()
    first, second, tie = (int(given.get(side, 0)) for side in ("first", "second", "tie"))
    every = first + second + tie
    return {
        "who": who,
        "raters": rows["rater"].nunique() or None,
        "all": every,
        "first": first,
        "second": second,
        "tie": tie,
        "share": first / every if every else None,
        "decided": first / (first + second) if first + second else None,
    }


def _agreed(judged: pd.DataFrame, people: pd.DataFrame, compared: ComparedMap) -> Iterator[str]:
    """How often two columns of a judge, such as two orders, agree, and a judge with most people."""
    columns = list(judged["judge"].unique()) if len(judged) else []
    for one, other in combinations(columns, 2):
        if one in compared.judges and other in compared.judges:
            keys = ["story_prompt", "first", "second", "repeat"]
            both = [judged[judged["judge"] == name].set_index(keys)["preference"] for name in (one, other)]
            joined = pd.concat(both, axis=1, keys=["a", "b"]).dropna()
            if len(joined):
                same = int((joined["a"] == joined["b"]).sum())
                yield f"{one} and {other} agree on {same:,} of {len(joined):,} pairs ({same / len(joined):.4f})"
    most = people.groupby("pair")["preference"].agg(_most) if len(people) else pd.Series(dtype=object)
    for name in columns if len({*compared.judges} & {*columns}) < 1 else ():
        mine = judged[judged["judge"] == name].groupby("pair")["preference"]
        both_orders = mine.agg(lambda given: len({*given}) == 1)[mine.size() == len(("one", "other"))]
        if len(both_orders):
            same = int(both_orders.sum())
            yield f"{name} gives both verdicts alike on {same:,} of {len(both_orders):,} pairs"
    for name in columns:
        mine = judged[judged["judge"] == name].groupby("pair")["preference"].agg(_most)
        both_sides = pd.concat([mine, most], axis=1, keys=["judge", "people"]).dropna() if len(most) else None
        if both_sides is not None and len(both_sides):
            same = int((both_sides["judge"] == both_sides["people"]).sum())
            yield f"{name} says what most people say on {same:,} of {len(both_sides):,} pairs"


def _most(values: pd.Series) -> Any:
    counts = values.value_counts()
    return counts.index[0] if len(counts) == 1 or (len(counts) and counts.iloc[0] > counts.iloc[1]) else None


# Labels without an order.

_LABELS = [
    Column("who", "labels by", wrap=34),
    Column("all", "labels"),
    Column("counts", "counts", wrap=36),
]


def label_counts(error: UnorderedLabelsError, given: GivenColumns) -> Counted:
    table = error.table
    values = {column: [*map(_word, table.values(column), [table] * len(table.rows))] for column in error.columns}
    gold = [column for column in values if GOLD.search(bare(column))]
    sides = {column: named(column).side for column in values if column not in gold}
    judges = [column for column, side in sides.items() if side == "judge"]
    people = [column for column in sides if column not in judges]
    if not people:
        raise error
    rows = [_label_row("people", [value for column in people for value in values[column]])]
    rows += [_label_row(column, values[column]) for column in [*judges, *gold]]
    notes = []
    if people[1:]:
        pairs = [_same(values[a], values[b]) for a, b in combinations(people, 2)]
        notes.append(f"two people give the same label in {np.mean([s / n for s, n in pairs if n]):.4f} (mean of pairs)")
    most = [
        _most(pd.Series([v for v in row if v is not None])) for row in zip(*(values[c] for c in people), strict=True)
    ]
    for judge in judges:
        against = [("most people", most)] if people[1:] else []
        against += [(column, values[column]) for column in [*gold, *people]]
        said = [(name, *_same(values[judge], other)) for name, other in against]
        notes += [f"{judge} agrees with {name} in {s / n:.4f} ({s:,} of {n:,})" for name, s, n in said if n]
    words = sorted({value for column in people for value in values[column] if value is not None})
    about = (
        f"{table.path.stem}: labels without a known order: {len(people)} people and "
        f"{counted_words(len(judges), 'judge')} label {len(table.rows):,} rows, each an item, as {', '.join(words)}."
    )
    reading = [f"people: {', '.join(people)}", *([f"judge: {', '.join(judges)}"] if judges else [])]
    reading += [f"not a rater's, but put together from others: {', '.join(gold)}"] if gold else []
    left = [name for name in table.columns if name not in values]
    reading += [f"not read: {', '.join(left)}"] if left else []
    return Counted(
        table.path,
        about,
        (*table.told, *reading),
        Table("Labels", _LABELS, rows, ""),
        tuple(notes),
        options_of(given) or None,
        Advice(
            "where the labels have an order, say it, the lowest first: judge check {} {labels}",
            typed(table.path),
            labels=",".join(words),
        ),
    )


def _word(value: Any, table: TableCells) -> str | None:
    word = None if is_missing(value, table.missing) else str(value).strip()
    return None if word is None or table.nothing(word, "") else word


def _label_row(who: str, values: Sequence[str | None]) -> dict[str, Any]:
    given = pd.Series([value for value in values if value is not None]).value_counts()
    return {"who": who, "all": int(given.sum()), "counts": ", ".join(f"{k} {v:,}" for k, v in given.items())}


def _same(mine: Sequence[str | None], other: Sequence[str | None]) -> tuple[int, int]:
    both = [(a, b) for a, b in zip(mine, other, strict=True) if a is not None and b is not None]
    return sum(a == b for a, b in both), len(both)


# Ranks of several systems' stories in each row.

_RANKS = [
    Column("pair", "first / second", wrap=40),
    Column("all", "comparisons"),
    Column("first", "first better"),
    Column("tie", "ties"),
    Column("second", "second better"),
]


def rank_counts(error: RankedTableError, given: GivenColumns) -> Counted:
    table, ranks = error.table, error.ranks
    numbers = {name: table.numbers(column, given.missing) or [] for name, column in ranks.items()}
    rows = []
    total = 0
    for a, b in combinations(ranks, 2):
        both = [(x, y) for x, y in zip(numbers[a], numbers[b], strict=True) if x is not None and y is not None]
        first, tie = sum(x < y for x, y in both), sum(x == y for x, y in both)
        rows.append(
            {"pair": f"{a} / {b}", "all": len(both), "first": first, "tie": tie, "second": len(both) - first - tie}
        )
        total += len(both)
    given_ranks = sum(n is not None for column in numbers.values() for n in column)
    means = ", ".join(f"{a} {np.mean([n for n in v if n is not None]):.4f}" for a, v in numbers.items())
    who = f" by {len({*map(str, table.values(error.rater))})} raters" if error.rater else ""
    items = f" on {len({*map(str, table.values(error.item))})} story-prompts" if error.item else ""
    about = (
        f"{table.path.stem}: ranks of {len(ranks)} systems in each row{items}{who}: {given_ranks:,} ranks, which are "
        f"{total:,} comparisons of two. The lowest rank is the best."
    )
    used = {*ranks.values(), error.rater, error.item}
    reading = [f"ranks: {', '.join(ranks.values())}"]
    reading += [f"rater {error.rater}"] * bool(error.rater) + [f"prompt {error.item}"] * bool(error.item)
    reading.append(f"not read: {few([c for c in table.columns if c not in used], 12)}")
    return Counted(
        table.path,
        about,
        (*table.told, *reading),
        Table("Comparisons of two systems", _RANKS, rows, ""),
        (f"mean rank: {means}", "ranks compare within a row alone: they are read as pairs, and ties stay ties"),
        options_of(given) or None,
        "a judge that ranks or compares the same stories is set beside people by judge import "
        f"{typed(table.path)} -o RUN",
    )
