"""Saves the ratings table to a file, or shows it on the screen."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Literal

import orjson
import pandas as pd
from pandas.api.types import is_numeric_dtype

from judge.analysis.options.signature import signature
from judge.base.errors import MissingExtraError, SpecError
from judge.base.files import draft, write_whole, writing
from judge.base.printing.tables import Column, Table
from judge.base.printing.text_layout import no_formula
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable

SUFFIXES = (".csv", ".jsonl", ".parquet")

# Rows on the screen.
_SHOWN = 20


def save(frame: pd.DataFrame, path: Path) -> None:
    """Write the ratings table as .csv (null = empty), .jsonl (null = null) or .parquet, by the path's suffix. Raises
    SpecError for another suffix or a file that cannot be written, MissingExtraError for Parquet without pyarrow.
    """
    if path.suffix not in SUFFIXES:
        raise SpecError(f"{path}: the suffix says what to write; allowed: {', '.join(SUFFIXES)}")
    with writing(path):
        if path.suffix == ".parquet":
            with draft(path) as fresh:
                _save_parquet(frame, fresh)
        else:
            write_whole(path, csv_text(frame) if path.suffix == ".csv" else jsonl_text(frame))


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as comma-separated text with a header; null is an empty field. Cells that look like formulas are
    escaped, so that spreadsheets do not run them.
    """
    safe = frame.copy(deep=False)
    returns = False
    for name, column in frame.items():
        if not is_numeric_dtype(column):
            safe[name] = column.map(no_formula)
            returns |= any(isinstance(cell, str) and "\r" in cell for cell in column)
    # Before Python 3.13 a carriage return alone is written without quotation marks, and ends the row.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(safe.to_csv(index=False, lineterminator="\n", quoting=quoting))


def jsonl_text(frame: pd.DataFrame) -> str:
    """The frame as text with one JSON object per line; null stays null."""
    plain = frame.astype(object).where(frame.notna(), None)
    lines = (orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY).decode() for row in plain.to_dict("records"))
    return "".join(f"{line}\n" for line in lines)


def json_text(frame: pd.DataFrame) -> str:
    """The frame as text with one JSON list of objects; null stays null."""
    return "[" + jsonl_text(frame).rstrip("\n").replace("\n", ",\n") + "]\n"


def preview(table: RatingsTable, *, whole: bool = False) -> Table:
    """The first rows of the ratings table, or with `whole` all, without explanations."""
    frame = table.frame.drop(columns=["explanation"])
    head = frame.head(len(frame) if whole else _SHOWN).astype(object)
    head = head.where(head.notna(), None)
    head = head.assign(story_prompt=head["story_prompt"].map(_short))
    columns = [Column(str(name), str(name)) for name in head.columns]
    notes = [
        f"the first {len(head)} of {len(frame)} rows, story-prompts cut, without explanations; -o FILE.csv saves all"
    ]
    notes += [note for fact in table.facts for note in fact.notes]
    records = [{str(key): value for key, value in row.items()} for row in head.to_dict("records")]
    return Table("Ratings", columns, records, signature(table, build(table)), tuple(dict.fromkeys(notes)))


def _short(text: Any, limit: int = 40) -> Any:
    return f"{text[: limit - 1]}…" if isinstance(text, str) and len(text) > limit else text


def _save_parquet(frame: pd.DataFrame, path: Path) -> None:
    try:
        import pyarrow  # noqa: F401  only to say in one sentence what is missing
    except ImportError as error:
        raise MissingExtraError("judge ratings -o FILE.parquet", "data") from error
    frame.to_parquet(path, index=False)
