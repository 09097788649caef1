"""Reader of tables of ratings: a file that is a table and has the form of no tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge.analysis.options.alternatives import option
from judge.base.errors import SpecError
from judge.exchange.imports.imported_folder import said, write_folder
from judge.exchange.ratings.file import read_ratings
from judge.exchange.ratings.parsed import is_parsed
from judge.exchange.reader.look import Look
from judge.exchange.reader.reader import Reader, Say, folder_for
from judge.exchange.reader.table_words import TableWords


@dataclass(frozen=True, kw_only=True)
class RatingsWords(TableWords):
    """Options of the reader of tables of ratings."""

    number_repeats: bool = option(
        "rows with the same judge, story, criterion and Eval-Prompt, taken as repeats", default=False
    )
    unrated: str | None = option("status of rows that have neither rating nor status")
    given_as: Literal["single", "means"] | None = option(
        "judges' ratings: single ones, or means of repeats; else by their values"
    )


def _fits(look: Look) -> bool:
    """Whether a file is a table; of JSON, whether its records have columns of a ratings table."""
    keys = [*look.record()]
    return bool(look.columns) or is_parsed(keys) or "rating" in keys or {"story", "criterion"} <= {*keys}


def _read(files: Sequence[Path], words: RatingsWords, target: Path | None, say: Say) -> None:
    if len(files) > 1:
        raise SpecError(f"{len(files)} tables of ratings: they are imported one by one")
    imported = read_ratings(
        files[0],
        dataset=words.opened(),
        criteria=words.known_criteria,
        notes=words.notes,
        columns=words.column_map,
        leave_out=words.left_out,
        number_repeats=words.number_repeats,
        unrated=words.unrated,
        ratings=words.given_as,
    )
    for line in said(write_folder(folder_for(files, target), imported), imported):
        say(line)


READERS = (
    Reader(
        "ratings",
        "any other table: CSV, TSV, JSON, JSON Lines, Parquet or XLSX, with a row for each rating, or by --column",
        RatingsWords,
        _fits,
        _read,
        general=True,
    ),
)
