"""Reads imported preferences, which have no journal. Every row is checked, and none is changed.

A folder holds `imported_preferences.csv` (the columns of the preferences table), `imported_stories.csv` (`dataset,
story, story_prompt, system, words, text`) and `manifest.json` (`judge, criteria, notes, orders`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import DataError
from judge.base.records import PREFERRED, VERDICT_STATUSES, Criterion
from judge.ratings.preferences_table.journaled import Known, typed
from judge.ratings.preferences_table.table import COLUMNS, ComparisonFacts
from judge.ratings.ratings_table.table import StoryRow

STORIES = "imported_stories.csv"
_SOURCES = ("judge", "rater")
_NUMBERS = ("repeat", "p_first", "p_second", "p_tie")


def read_imported(folder: ResultFolder, datasets: dict[str, Known]) -> tuple[list[dict[str, Any]], ComparisonFacts]:
    """Rows of the preferences table from one folder with imported preferences, and facts about the folder. Its stories
    and pairs are added to `datasets`.

    Raises DataError for missing columns, invalid values, and a story that is not in the folder's table of stories.
    """
    frame = _checked(_table(folder.preferences, COLUMNS), folder.preferences)
    stories = _table(folder.path / STORIES, StoryRow._fields)
    manifest = read_manifest(folder.manifest)
    run = str(frame["run"].dropna().iloc[0]) if frame["run"].notna().any() else folder.path.name
    for row in stories.to_dict("records"):
        known_stories = datasets.setdefault(str(row["dataset"]), Known("", run, {})).stories
        story = _story(row)
        # Another folder of the same dataset may know the text.
        if not known_stories.get(story.story, story).text or story.story not in known_stories:
            known_stories[story.story] = story
    shown = frame[["dataset", "pair", "first", "second"]].drop_duplicates()
    for dataset, pair, first, second in shown.astype(str).itertuples(index=False, name=None):
        own = datasets.get(dataset)
        missing = [story_id for story_id in (first, second) if own is None or story_id not in own.stories]
        if own is None or missing:
            raise DataError(f"story {missing[0]!r} is not in {STORIES}", file=folder.preferences)
        own.pairs.setdefault(frozenset((first, second)), (pair, first, second))
    repeats = frame.loc[frame["source"] == "judge", "repeat"]
    fact = ComparisonFacts(
        run=run,
        judge=str(manifest.get("judge", folder.path.name)),
        dataset=str(frame["dataset"].iloc[0]) if len(frame) else "",
        revision=None,
        repeats=0 if repeats.isna().any() else int(repeats.nunique()),
        criteria=tuple(Criterion.of(record) for record in manifest.get("criteria", ())),
        eval_prompts=tuple(sorted(str(name) for name in frame["eval_prompt"].dropna().unique())),
        orders=str(manifest.get("orders", "not told")),
        ties=True,
        parser="imported",
        notes=("preferences were imported, not parsed here", *manifest.get("notes", ())),
        path=folder.path,
    )
    rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
    return rows, fact


def _table(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    texts = dict.fromkeys((name for name in columns if name not in (*_NUMBERS, "words")), str)
    try:
        frame = pd.read_csv(file, dtype=texts, keep_default_na=False, na_values=[""])
    except (ValueError, OSError) as error:
        raise DataError(f"is not a table: {error}", file=file) from error
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=file, found=missing, allowed=", ".join(columns))
    return frame[list(columns)]


def _checked(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    for column, allowed, empty in (
        ("source", _SOURCES, False),
        ("status", VERDICT_STATUSES, False),
        ("preference", PREFERRED, True),
    ):
        wrong = ~frame[column].isin(allowed) & ~(frame[column].isna() & empty)
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise DataError(
                f"unknown {column}", file=file, row=row + 2, found=frame[column].iloc[row], allowed=", ".join(allowed)
            )
    contradictory = frame["status"].isin(("ok", "imported")) != frame["preference"].notna()
    if contradictory.any():
        row = int(contradictory.to_numpy().argmax())
        message = "a preference and a status that says there is none, or the other way round"
        raise DataError(message, file=file, row=row + 2, found=frame["status"].iloc[row])
    return typed(frame)


def _story(row: Mapping[Any, Any]) -> StoryRow:
    words = 0 if pd.isna(row["words"]) else int(row["words"])
    prompt, system, text = _or(row["story_prompt"], ""), _or(row["system"], "-"), _or(row["text"], "")
    return StoryRow(str(row["dataset"]), str(row["story"]), prompt, system, words, text)


def _or(value: Any, otherwise: str) -> str:
    return otherwise if pd.isna(value) else str(value)
