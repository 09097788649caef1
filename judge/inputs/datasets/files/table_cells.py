"""Properties of a table's columns from their cells: numbers, words for a missing rating, sorted answers, duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.base.records import Scale
from judge.inputs.datasets.dataset import label_scales
from judge.inputs.datasets.files.source_file import MISSING_WORDS, RatingPlace, is_missing, ratings_in
from judge.inputs.datasets.files.table_file import cell, has_decimal_commas, table_columns, table_rows

# Rows from which on answers that never fall from column to column were put in order by somebody.
_LEAST_SORTED = 20


@dataclass(frozen=True, slots=True, eq=False)
class TableCells:
    """A table as read; `scale` is that of labels, None unless the user stated them."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    decimal_comma: bool
    scale: Scale | None = None
    """Of ratings that are labels, where these are said."""

    @classmethod
    def at(cls, path: Path, sheet: str | None, labels: str | None = None, most: int | None = None) -> TableCells:
        """The table at `path`, or its first `most` rows; DataError where the file is not a table, SpecError for invalid
        labels."""
        comma = has_decimal_commas(path)
        rows = tuple(cells for _, cells in islice(table_rows(path, sheet), most))
        if not rows:
            raise DataError("the table has no rows", file=path)
        scale = label_scales({"labels": labels}).of("") if labels else None
        return cls(path, tuple(table_columns(path, sheet)), rows, comma, scale)

    def values(self, column: str) -> list[Any]:
        return [cell(row, column) for row in self.rows]

    def words_for_nothing(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Words such as NA that these columns hold in place of a rating, in their spelling."""
        words: dict[str, None] = {}
        for column in columns:
            for value in self.values(column):
                if isinstance(value, str) and value.strip().lower() in MISSING_WORDS:
                    words[value.strip()] = None
        return tuple(words)

    def numbers(self, column: str, missing: Sequence[str] = ()) -> list[float | None] | None:
        """A column's ratings, None for an empty cell; None for a column with several ratings in a cell or something
        else."""
        rating_place = RatingPlace(self.path, 0, column, tuple(missing), self.decimal_comma, self.scale)
        numbers: list[float | None] = []
        for value in self.values(column):
            try:
                given = ratings_in(value, rating_place)
            except DataError:
                return None
            if len(given) != 1:
                return None
            numbers.append(given[0][1])
        return numbers

    def holds_ratings(self, column: str) -> bool:
        """Whether every cell is a number, a list of numbers, or empty, and at least one number is present."""
        rating_place = RatingPlace(
            self.path, 0, column, tuple(self.words_for_nothing([column])), self.decimal_comma, self.scale
        )
        some = False
        try:
            for value in self.values(column):
                some = any(rating is not None for _, rating in ratings_in(value, rating_place)) or some
        except DataError:
            return False
        return some

    def unique(self, column: str) -> bool:
        """Whether all cells of the column differ and none is empty."""
        values = [str(value) for value in self.values(column) if not is_missing(value, ())]
        return len({*values}) == len(self.rows)

    def in_order(self, columns: Sequence[str], missing: Sequence[str]) -> bool:
        """Whether the numbers never fall, or never rise, from left to right: each row was sorted. False where too few
        rows contain different numbers. `missing` are words for no rating."""
        if len(columns) < 2:
            return False
        read = [self.numbers(column, missing) for column in columns]
        rows = [
            row
            for row in zip(*(ratings for ratings in read if ratings is not None), strict=False)
            if None not in row and len({*row}) > 1
        ]
        if None in read or len(rows) < _LEAST_SORTED:
            return False
        up = all(a <= b for row in rows for a, b in pairwise(row))
        return up or all(a >= b for row in rows for a, b in pairwise(row))

    def repeated_rows(self, columns: Sequence[str]) -> int:
        """Number of rows whose cells in these columns all equal those of an earlier row."""
        distinct = {orjson.dumps([cell(row, column) for column in columns], default=str) for row in self.rows}
        return len(self.rows) - len(distinct)
