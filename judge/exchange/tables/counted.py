"""What a table without a judge's ratings of single stories holds: people's ratings, and how far people agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.arrays import Floats
from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, typed
from judge.exchange.imported_folder import Import, write_folder
from judge.exchange.logs.tools import PreferencesImport, write_preferences
from judge.exchange.tables.checked_table import fault_notes, label_notes, missing_notes, read_side
from judge.exchange.tables.table_roles import Guessed
from judge.stats.agreement import krippendorff
from judge.stats.correlation.kendall import codes, tau_b

_LEAST_STORIES = 3


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


def counted_words(number: int, word: str) -> str:
    """A number with its word, such as `1 rater` and `2 criteria`."""
    several = "criteria" if word == "criterion" else f"{word}s"
    return f"{number:,} {word if number == 1 else several}"


def keep_content(counted: Counted, folder: Path) -> None:
    """Write what was read to a result folder, for other commands. Raises DataError for labels and ranks."""
    if isinstance(counted.imported, Import):
        write_folder(folder, counted.imported)
    elif counted.imported is not None:
        write_preferences(folder, counted.imported)
    else:
        raise DataError("labels without an order, and ranks, are counted and not kept", file=counted.path)


def people_alone(path: Path, guessed: Guessed) -> Counted:
    left_out = [name for name in guessed.reading.table.columns if name not in guessed.used] if guessed.reading else []
    imported = read_side(path, guessed, left_out)
    notes = [*fault_notes(imported), *label_notes(guessed), *missing_notes(guessed)]
    return of_people((path,), imported, guessed.lines, notes, guessed, _with_those_left_out(path, guessed, left_out))


def _with_those_left_out(path: Path, guessed: Guessed, left_out: Sequence[str]) -> int | None:
    """Number of ratings with those in rows that are no answers; None where no rows were left out."""
    table = guessed.reading.table if guessed.reading is not None else None
    if table is None or not table.no_answers or guessed.given.missing:
        return None
    words = tuple(word for word in guessed.missing if word not in table.no_answers)
    try:
        every = read_side(path, replace(guessed, missing=(*words, "none")), left_out)
    except DataError:
        return None
    return int(every.frame["rating"].notna().sum())


def of_people(
    paths: Sequence[Path],
    imported: Import,
    lines: Sequence[str],
    notes: Sequence[str],
    guessed: Guessed,
    every: int | None = None,
) -> Counted:
    frame = imported.frame[imported.frame["rating"].notna()]
    labels = (guessed.given.labels or "").split(",") if guessed.given.labels else []
    table = Table("People's ratings", _PEOPLE, [*_by_criterion(frame, len(labels) > 0)], "")
    systems = frame["system"][frame["system"] != "-"].nunique()
    raters = frame["rater"].nunique()
    more_ratings = f" ({every:,} with rows left out)" if every is not None and every > len(frame) else ""
    about = (
        f"{paths[0].stem}: people's ratings, and no judge's: {len(frame):,} ratings{more_ratings} of "
        f"{frame['story'].nunique():,} stories by {counted_words(raters, 'rater')}, "
        f"{counted_words(frame['criterion'].nunique(), 'criterion')}"
    )
    about += f", {counted_words(systems, 'system')}." if systems else "."
    more = [f"labels count from 1, {labels[0]}, to {len(labels)}, {labels[-1]}"] if labels else []
    own = typed(paths[0])
    following: str = f"judge check {own} JUDGE.csv, with a judge's ratings of these stories, sets it beside people"
    if len(paths) > 1:
        files = " ".join(map(typed, paths))
        following = Advice("judge check {} {keep} writes them for other commands", files, keep=f"runs/{paths[0].stem}")
    return Counted(
        paths[0],
        about,
        tuple(lines),
        table,
        (*more, *notes),
        guessed.options if len(paths) == 1 else None,
        following,
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
            means = np.asarray(np.round(np.nanmean(others[some], axis=1), 9), dtype=np.float64)
            tau = tau_b(codes(matrix[some, k].astype(np.float64)), codes(means))
            taus += [] if np.isnan(tau) else [float(tau)]
    return Estimate(float(np.mean(taus)), n=len(taus)) if taus else Estimate.undefined("no two persons", n=0)


def _alpha(matrix: Floats, level: krippendorff.Level) -> Estimate:
    if matrix.size == 0:
        return Estimate.undefined("no raters", n=0)
    return krippendorff.alpha(matrix, level, np.random.default_rng(1), resamples=0).estimate
