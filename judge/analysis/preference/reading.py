"""Reads the preferences of runs and datasets into one table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from judge.base.errors import SpecError, unknown
from judge.inputs.datasets import known_datasets, open_dataset
from judge.ratings import preferences_table
from judge.ratings.preferences_table import of_dataset
from judge.ratings.preferences_table.journaled import PreferencesTable


def read(named: Sequence[Path | str]) -> PreferencesTable:
    """Preferences of runs of comparisons, runs of ratings, and (human ones only) datasets by name, as one table."""
    datasets_here = set(known_datasets())
    datasets = [str(name) for name in named if str(name) in datasets_here and not Path(name).exists()]
    runs = [name for name in named if str(name) not in datasets]
    tables = [preferences_table.read(runs)] if runs else []
    there = {str(name) for table in tables for name in table.frame["dataset"].unique()}
    tables += [of_dataset(open_dataset(name)) for name in dict.fromkeys(datasets) if name not in there]
    return tables[0] if len(tables) == 1 else _together(tables)


def _together(tables: Sequence[PreferencesTable]) -> PreferencesTable:
    frames = [table.frame for table in tables if len(table.frame)] or [tables[0].frame]
    stories = pd.concat([table.stories for table in tables])
    facts = tuple(fact for table in tables for fact in table.facts)
    return PreferencesTable(pd.concat(frames, ignore_index=True), stories[~stories.index.duplicated()], facts)


def of_names(
    table: PreferencesTable,
    criterion: Collection[str] | None,
    judge: Collection[str] | None,
    eval_prompt: Collection[str] | None,
) -> PreferencesTable:
    """All human preferences, and the rows of some criteria, judges and Eval-Prompts; None keeps all. Raises SpecError
    for a name that does not occur.
    """
    frame = table.frame
    for column, wanted in (("criterion", criterion), ("judge", judge), ("eval_prompt", eval_prompt)):
        if not wanted:
            continue
        there = {str(value) for value in frame[column].dropna().unique()}
        folded = {name.casefold() for name in there}
        for name in wanted:
            if name.casefold() not in folded:
                raise SpecError(unknown(column.replace("_", " "), name, sorted(there)))
        chosen = frame[column].astype(object).map(lambda v, w=wanted: str(v).casefold() in {n.casefold() for n in w})
        people = frame["judge"].isna() if column != "criterion" else frame["source"] == "rater"
        frame = frame[(chosen | people).to_numpy(dtype=bool)]
    asked = {name.casefold() for name in judge or ()}
    facts = tuple(fact for fact in table.facts if not asked or fact.judge.casefold() in asked)
    return PreferencesTable(frame, table.stories, facts)
