"""Reader of tables of ratings or comparisons in any arrangement: what nobody named is taken from a table's reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from judge.analysis.options.alternatives import option
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.exchange.imported_folder import said, write_folder
from judge.exchange.logs.tools import written_preferences
from judge.exchange.ratings_file import read_ratings
from judge.exchange.ratings_rows import NEEDED, is_parsed
from judge.exchange.reader import Look, Reader, Say, TableWords, folder_for
from judge.exchange.tables.column_roles import PeopleAloneError, guess
from judge.exchange.tables.compared_table import ComparedMap, compared_map, read_compared
from judge.exchange.tables.table_roles import GivenColumns, Guessed
from judge.inputs.datasets.files.column_map import stated_words
from judge.inputs.datasets.files.reading import TwoReadingsError
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import table_columns
from judge.inputs.datasets.files.verdict_codes import column_pairs


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


# Rows of a table that tell what its columns are.
_LOOKED_AT = 20_000


def _fits(look: Look) -> bool:
    """Whether a file is a table; of JSON, whether its records have columns of a ratings table."""
    keys = [*look.record()]
    compares = bool(column_pairs(keys))
    return bool(look.columns) or is_parsed(keys) or "rating" in keys or {"story", "criterion"} <= {*keys} or compares


@dataclass(frozen=True, kw_only=True)
class _AsAnswered(RatingsWords):
    """The options with what was answered to the question which of two readings is right."""

    answered: GivenColumns = field(default_factory=GivenColumns)


def _read(files: Sequence[Path], words: RatingsWords, target: Path | None, say: Say) -> None:
    if len(files) > 1:
        raise SpecError(f"{len(files)} tables of ratings: they are imported one by one")
    file, folder = files[0], folder_for(files, target)
    columns, left_out = words.column_map, words.left_out
    if "story" not in columns:
        if (compared := _compared(file, words)) is not None:
            for line in compared.lines:
                say(line)
            imported = read_compared(file, compared, folder.name, words.notes)
            say(f"next: judge rank {written_preferences(folder, imported, say)}")
            return
        if (guessed := _guessed(file, words, folder)) is not None:
            table = guessed.reading.table if guessed.reading is not None else None
            left_out = [name for name in (table.columns if table else ()) if name not in guessed.used]
            for line in guessed.lines:
                say(line)
            columns = guessed.column_map() | {key: value for key, value in columns.items() if key != "labels"}
            words = replace(words, number_repeats=guessed.given.number_repeats, unrated=words.unrated or "no_rating")
    imported_ratings = read_ratings(
        file,
        dataset=words.opened(),
        criteria=words.known_criteria,
        notes=words.notes,
        columns=columns,
        leave_out=left_out,
        number_repeats=words.number_repeats,
        unrated=words.unrated,
        ratings=words.given_as,
    )
    for line in said(write_folder(folder, imported_ratings), imported_ratings):
        say(line)


def _compared(file: Path, words: RatingsWords) -> ComparedMap | None:
    """The map of a table of comparisons; None for another. What is asked is asked about the option `labels`."""
    try:
        return compared_map(file, words.column_map)
    except TwoReadingsError as doubt:
        yes, no = (replace(words, labels=(code,)) for code in doubt.choices)
        raise doubt.about(yes, no) from None


def _guessed(file: Path, words: RatingsWords, folder: Path) -> Guessed | None:
    """Roles of columns that nobody named; None for a table with the columns of a ratings table."""
    sheet = stated_words(words.column_map.get("sheet"))
    present = table_columns(file, sheet[0] if sheet else None)
    if (not is_parsed(present) and {*NEEDED} <= {*present}) or words.column_map.keys() - {"sheet", "missing", "labels"}:
        return None
    given = words.answered if isinstance(words, _AsAnswered) else GivenColumns()
    labels = str(words.column_map["labels"]).removeprefix("=") if "labels" in words.column_map else given.labels
    given = replace(
        given,
        sheet=sheet[0] if sheet else given.sheet,
        missing=stated_words(words.column_map.get("missing")) or given.missing,
        labels=labels,
        number_repeats=words.number_repeats or given.number_repeats,
    )
    try:
        return guess(TableCells.at(file, given.sheet, given.labels, _LOOKED_AT, given.missing), given)
    except PeopleAloneError as alone:
        return alone.guessed
    except TwoReadingsError as doubt:
        own = {each.name: getattr(words, each.name) for each in fields(RatingsWords)}
        yes, no = (_AsAnswered(**own, answered=answered) for answered in doubt.choices)
        raise doubt.about(yes, no, more=Advice(" {keep}", keep=folder)) from None


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
