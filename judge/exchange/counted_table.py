"""Tables that hold no judge's ratings of single stories: people's ratings alone, comparisons of two stories, rankings,
labels without an order. `judge check` counts them, says how they were read, and how far raters agree."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.arrays import Floats
from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, few
from judge.exchange.checked_table import Checked, fault_notes, missing_notes, read_side
from judge.exchange.column_roles import ComparedTableError, PeopleAloneError, guess_side
from judge.exchange.compared_table import ComparedMap, compared_map, read_compared
from judge.exchange.imported_folder import Import, write_folder
from judge.exchange.logs.tools import PreferencesImport, write_preferences
from judge.exchange.table_roles import GivenColumns, Guessed, options_of
from judge.exchange.two_tables import check_files
from judge.inputs.datasets.files.column_names import named
from judge.inputs.datasets.files.column_reader import RankedTableError, UnorderedLabelsError, read_columns
from judge.inputs.datasets.files.column_words import GOLD
from judge.inputs.datasets.files.reading import TwoReadingsError
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells
from judge.stats.agreement import krippendorff
from judge.stats.correlation.kendall import codes, tau_b

_LEAST_STORIES = 3
_NAMED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What a table holds that has no judge's ratings of single stories: `about` it in a sentence, how it was `reading`
    read, numbers, notes, the options that repeat the reading, and what can be done next. `imported` is its content."""

    path: Path
    about: str
    reading: tuple[str, ...]
    table: Table
    notes: tuple[str, ...]
    options: str | None
    following: str
    imported: Import | PreferencesImport | None = None
    beside: tuple[Path, ...] = ()


def looked_at(paths: Sequence[Path], given: GivenColumns) -> Checked | Counted:
    """A table of ratings by a judge and by people, or two; else what a table without these holds. Raises what
    `check_files` raises for a table that is none of these."""
    if paths[1:] and (alone := _one_a_rater(paths, given)) is not None:
        return alone
    try:
        return check_files(paths, given)
    except PeopleAloneError as alone:
        return _people(paths[0], alone.guessed)
    except ComparedTableError:
        return _compared(paths[0], given)
    except UnorderedLabelsError as error:
        return _labelled(error, given) if not paths[1:] else _again(error)
    except RankedTableError as error:
        return _ranked(error, given) if not paths[1:] else _again(error)


def _again(error: DataError) -> Counted:
    raise error


def _people(path: Path, guessed: Guessed) -> Counted:
    left_out = [name for name in guessed.reading.table.columns if name not in guessed.used] if guessed.reading else []
    imported = read_side(path, guessed, left_out)
    notes = [*fault_notes(imported), *missing_notes(guessed)]
    return _of_people((path,), imported, guessed.lines, notes, guessed)


def _of_people(
    paths: Sequence[Path], imported: Import, lines: Sequence[str], notes: Sequence[str], guessed: Guessed
) -> Counted:
    frame = imported.frame[imported.frame["rating"].notna()]
    labels = (guessed.given.labels or "").split(",") if guessed.given.labels else []
    table = Table("People's ratings", _PEOPLE, [*_by_criterion(frame, len(labels) > 0)], "")
    systems = frame["system"][frame["system"] != "-"].nunique()
    raters = frame["rater"].nunique()
    about = (
        f"{paths[0].stem}: people's ratings, and no judge's: {len(frame):,} ratings of {frame['story'].nunique():,} "
        f"stories by {raters:,} raters, {frame['criterion'].nunique()} criteria"
    )
    about += f", {systems} systems." if systems else "."
    more = [f"labels count from 1, {labels[0]}, to {len(labels)}, {labels[-1]}"] if labels else []
    words = "with a judge's ratings of these stories, judge check {} JUDGE.csv says how far it agrees with people"
    return Counted(
        paths[0],
        about,
        tuple(lines),
        table,
        (*more, *notes),
        guessed.options if len(paths) == 1 else None,
        words.format(" ".join(map(str, paths))),
        imported,
        tuple(paths[1:]),
    )


_PEOPLE = [
    Column("criterion", "criterion", wrap=26),
    Column("ratings", "ratings"),
    Column("stories", "stories"),
    Column("raters", "raters"),
    Column("mean", "mean", digits=4),
    Column("person", "one person x100", digits=1, factor=100),
    Column("alpha", "alpha", digits=2),
]


def _by_criterion(frame: pd.DataFrame, labelled: bool) -> Iterator[dict[str, Any]]:
    for criterion, rows in frame.groupby("criterion", sort=False):
        named_rows = rows[rows["rater"].notna()]
        matrix = named_rows.pivot_table(index="story", columns="rater", values="rating", observed=True).to_numpy(float)
        yield {
            "criterion": criterion,
            "ratings": len(rows),
            "stories": rows["story"].nunique(),
            "raters": rows["rater"].nunique(),
            "mean": float(rows["rating"].mean()) + labelled,
            "person": _with_others(matrix),
            "alpha": _alpha(matrix, "interval"),
        }


def _with_others(matrix: Floats) -> Estimate:
    """Kendall's tau-b of a person with the mean of the others, averaged over persons."""
    taus = []
    for k in range(matrix.shape[1] if matrix.ndim == len(("story", "rater")) else 0):
        others = np.delete(matrix, k, axis=1)
        some = ~np.isnan(matrix[:, k]) & ~np.isnan(others).all(axis=1)
        if some.sum() >= _LEAST_STORIES:
            means = np.round(np.nanmean(others[some], axis=1), 9)
            tau = tau_b(codes(matrix[some, k]), codes(means))
            taus += [] if np.isnan(tau) else [float(tau)]
    return Estimate(float(np.mean(taus)), n=len(taus)) if taus else Estimate.undefined("no two persons", n=0)


def _alpha(matrix: Floats, level: krippendorff.Level) -> Estimate:
    if matrix.size == 0:
        return Estimate.undefined("no raters", n=0)
    return krippendorff.alpha(matrix, level, np.random.default_rng(1), resamples=0).estimate


# A file for each rater, whose name the file's name tells.


def _one_a_rater(paths: Sequence[Path], given: GivenColumns) -> Counted | None:
    """Files with the same columns, none of them a judge's or of raters' names, and the same stories; None for others."""
    tables = [TableCells.at(path, given.sheet, missing=given.missing) for path in paths]
    if len({table.columns for table in tables}) > 1 or given.judge or given.rater:
        return None
    readings = [read_columns(table) for table in tables]
    for reading in readings:
        sided = {column.side for column in reading.ratings()}
        if reading.column("rater") is not None or sided - {None} or reading.column("id") is None:
            return None
    names = _different_names(paths)
    if any(named(name).side == "judge" for name in names) or len({*names}) < len(paths):
        return None
    imports, lines, notes = [], [], []
    guessed = None
    for table, name in zip(tables, names, strict=True):
        guessed = guess_side(table, given, "human")
        guessed = replace(guessed, fields={**guessed.fields, "rater": f"={name}"})
        left_out = [column for column in table.columns if column not in guessed.used]
        imports.append(read_side(table.path, guessed, left_out, dataset=paths[0].stem))
    if guessed is None:
        return None
    stories = [{*imported.frame["story"]} for imported in imports]
    if not set.intersection(*stories):
        return None
    frame = pd.concat([imported.frame for imported in imports], ignore_index=True)
    lines = [f"a file is a rater's, by its name: {', '.join(names)}", *guessed.lines]
    notes = [f"joined by {guessed.fields['story']}: {len(set.intersection(*stories)):,} stories are in every file"]
    return _of_people(paths, replace(imports[0], frame=frame), lines, notes, guessed)


def _different_names(paths: Sequence[Path]) -> list[str]:
    stems = [path.stem for path in paths]
    start = len(os.path.commonprefix(stems))
    end = len(os.path.commonprefix([stem[start:][::-1] for stem in stems]))
    names = [stem[start : len(stem) - end].strip(" _-.()") for stem in stems]
    return [name or stem for name, stem in zip(names, stems, strict=True)]


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


def _compared(path: Path, given: GivenColumns) -> Counted:
    columns: dict[str, Any] = {"labels": given.labels} if given.labels else {}
    columns |= {"missing": ",".join(given.missing)} if given.missing else {}
    columns |= {"sheet": given.sheet} if given.sheet else {}
    try:
        compared = compared_map(path, columns)
    except TwoReadingsError as doubt:
        said = [replace(given, labels=code) for code in doubt.choices]
        lines = [Advice("judge check {} {}", str(path), options_of(each)) for each in said]
        raise TwoReadingsError(path, doubt.question, (lines[0], said[0]), (lines[1], said[1])) from None
    if compared is None:
        raise DataError("compares two stories a row, and no column is known to hold verdicts", file=path)
    imported = read_compared(path, compared, path.stem)
    frame = imported.frame
    people, judged = frame[frame["source"] == "rater"], frame[frame["source"] == "judge"]
    rows = [_pair_row("people", people)] if len(people) else []
    rows += [_pair_row(str(name), mine) for name, mine in judged.groupby("judge", sort=False)]
    systems = {*imported.stories["system"]} - {"-"}
    about = (
        f"{path.stem}: comparisons of two stories in each row: {len(frame):,} verdicts on "
        f"{frame['pair'].nunique():,} pairs, {frame['story_prompt'].nunique():,} story-prompts"
    )
    about += f", {len(systems)} systems." if systems else "."
    run = f"runs/{path.stem}"
    return Counted(
        path,
        about,
        tuple(compared.lines),
        Table("Verdicts", _PAIRS, rows, ""),
        tuple([*_agreed(judged, people, compared), *imported.notes]),
        options_of(given) or None,
        f"judge import {path} -o {run}, then judge rank {run}, has strengths, orders and intervals",
        imported,
    )


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


def _labelled(error: UnorderedLabelsError, given: GivenColumns) -> Counted:
    table = error.table
    values = {column: [*map(_word, table.values(column), [table] * len(table.rows))] for column in error.columns}
    gold = [column for column in values if GOLD.search(_bare(column))]
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
    most = [_most(pd.Series([v for v in row if v is not None])) for row in zip(*(values[c] for c in people), strict=True)]
    for judge in judges:
        against = [("most people", most)] if people[1:] else []
        against += [(column, values[column]) for column in [*gold, *people]]
        said = [(name, *_same(values[judge], other)) for name, other in against]
        notes += [f"{judge} agrees with {name} in {s / n:.4f} ({s:,} of {n:,})" for name, s, n in said if n]
    words = sorted({value for column in people for value in values[column] if value is not None})
    about = (
        f"{table.path.stem}: labels without a known order: {len(people)} people and {len(judges)} judges label "
        f"{len(table.rows):,} rows, each an item, as {', '.join(words)}."
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
            str(table.path),
            labels=",".join(words),
        ),
    )


def _word(value: Any, table: TableCells) -> str | None:
    word = None if is_missing(value, table.missing) else str(value).strip()
    return None if word is None or table.nothing(word, "") else word


def _bare(column: str) -> str:
    return column.lower()


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


def _ranked(error: RankedTableError, given: GivenColumns) -> Counted:
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
        f"a judge that ranks or compares the same stories is set beside people by judge import {table.path} -o RUN",
    )


def keep_content(counted: Counted, folder: Path) -> None:
    """Write what was read to a result folder, for other commands. Raises DataError for labels and ranks."""
    if isinstance(counted.imported, Import):
        write_folder(folder, counted.imported)
    elif counted.imported is not None:
        write_preferences(folder, counted.imported)
    else:
        raise DataError("labels without an order, and ranks, are counted and not kept", file=counted.path)
