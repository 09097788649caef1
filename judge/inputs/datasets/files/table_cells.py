"""Properties of a table's columns from their cells: numbers, words for a missing rating, sorted answers, duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.inputs.datasets.dataset import label_scales
from judge.inputs.datasets.files.column_names import bare
from judge.inputs.datasets.files.column_words import CHECKS, NO_ANSWERS, ORDERS, fold
from judge.inputs.datasets.files.layouts.survey_rows import RESPONDENT
from judge.inputs.datasets.files.source_file import (
    MISSING_WORDS,
    RatingPlace,
    is_missing,
    missing_in,
    notation,
    ratings_in,
)
from judge.inputs.datasets.files.table_file import cell, has_decimal_commas, out_of, table_columns, table_rows

# Codes in place of a rating, far from any scale that ends at 20; share of a column's cells that words may be.
_CODES, _SCALE_ENDS, _MOST_WORDS, _MOST_OTHERS = (77, 88, 98, 99, 999, 9999), 20, 3, 0.3
# Characters of a word that says what a row is, and how words for checks of attention begin.
_LONGEST_WORD, _CHECKS = 40, "acit"
# Signs below 0, and where a scale from 0 that has one ends at the least.
_NEGATIVE, _LEAST_END = (-1, -2, -7, -8, -9), 3
# Words that say a rating.
_SAID = frozenset(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")) | {
    word for order in ORDERS for word in order
}
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
    out_of: str | None = None
    sheet: str | None = None
    missing: tuple[str, ...] = ()
    """Words for a missing rating, as the user said."""
    told: tuple[str, ...] = ()
    """Sentences on rows that are read otherwise than they stand, or left out."""
    no_answers: tuple[str, ...] = ()
    """`COLUMN=WORD` of the rows that were left out, as no answers of the study."""

    @property
    def name(self) -> str:
        """The name of the sheet or, where none was named, of the file."""
        return self.sheet or self.path.stem

    @classmethod
    def at(
        cls,
        path: Path,
        sheet: str | None,
        labels: str | None = None,
        most: int | None = None,
        missing: Sequence[str] = (),
    ) -> TableCells:
        """The table at `path`, or its first `most` rows; DataError where the file is not a table, SpecError for invalid
        labels."""
        comma = has_decimal_commas(path)
        told: list[str] = []  # some are advice
        rows = tuple(cells for _, cells in islice(table_rows(path, sheet, told), most))
        if not rows:
            raise DataError("the table has no rows", file=path)
        words = Counter(word for cells in rows for word in no_answer(cells, missing))
        people = {
            word: {str(r[RESPONDENT]) for r in rows if RESPONDENT in r and word in no_answer(r)} for word in words
        }
        rows = tuple(cells for cells in rows if not no_answer(cells, missing)) if words else rows
        if not rows:
            raise DataError(f"no row is an answer: {', '.join(words)}", file=path)
        told += [
            Advice(
                "{} are no answers, as {} says, and left out ({missing} reads them)",
                f"{len(people[w]):,} respondent{'s' * (len(people[w]) > 1)} with {n:,} rows"
                if people[w]
                else f"{n:,} rows",
                w,
                missing="none",
            )
            for w, n in words.items()
        ]
        scale = label_scales({"labels": labels}).of("") if labels else None
        columns = tuple(table_columns(path, sheet))
        return cls(
            path,
            columns,
            rows,
            comma,
            scale,
            out_of(path, sheet),
            sheet,
            tuple(missing),
            tuple(told),
            () if missing else tuple(words),
        )

    def values(self, column: str) -> list[Any]:
        return [cell(row, column) for row in self.rows]

    def place(self, column: str, missing: Sequence[str] = ()) -> RatingPlace:
        """How a column's ratings are read, with `missing` as words for none."""
        return RatingPlace(
            self.path, 0, column, tuple(missing), self.decimal_comma, self.scale, only_codes=True, out_of=self.out_of
        )

    def words_for_nothing(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Words such as NA or ERROR, and codes such as -99, that these columns hold in place of a rating, in their
        spelling; `COLUMN=WORD` where the word is a rating in another of them."""
        counts = {column: self.written(column) for column in columns}
        lost = {column: self._in_place_of_ratings(column, counts[column]) for column in columns}
        words: dict[str, None] = {}
        for column, own in lost.items():
            for word in own:
                rated = any(word in counts[other] and word not in lost[other] for other in columns)
                words[f"{column}={word}" if rated else word] = None
        return tuple(words)

    def written(self, column: str) -> Counter[str]:
        """How often a column holds each of its cells' texts, as words for no rating are said."""
        return Counter(told for value in self.values(column) if (told := _written(value)) is not None)

    def nothing(self, word: str, column: str) -> bool:
        """Whether a word means no rating by itself, or as the user said of the column."""
        return word.lower() in MISSING_WORDS or word in missing_in(column, self.missing)

    def _in_place_of_ratings(self, column: str, counts: Counter[str]) -> list[str]:
        known = [word for word in counts if self.nothing(word, column)]
        others = Counter({word: count for word, count in counts.items() if word not in known})
        return known if self.scale is not None else [*known, *_in_place_of_numbers(others)]

    def mixed(self, column: str) -> str | None:
        """Examples of a column's numbers that are written in several ways, such as 4/5 and 8/10; None for one way."""
        kinds: dict[str, str] = {}
        for value in self.values(column):
            written = notation(value)
            if written is not None or (isinstance(value, str) and value.strip().replace(".", "", 1).isdigit()):
                kinds.setdefault(written[0] if written is not None else "", str(value))
        return " and ".join(map(repr, kinds.values())) if len({*kinds} - {"words"}) > 1 else None

    def numbers(self, column: str, missing: Sequence[str] = ()) -> list[float | None] | None:
        """A column's ratings, None for an empty cell; None for a column with several ratings in a cell or something
        else."""
        rating_place = self.place(column, missing)
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
        rating_place = self.place(column, self.words_for_nothing([column]))
        some = False
        try:
            for value in self.values(column):
                some = any(rating is not None for _, rating in ratings_in(value, rating_place)) or some
        except DataError:
            return False
        return some

    def lists(self, column: str) -> bool:
        """Whether a cell of the column holds several ratings."""
        place = self.place(column, self.words_for_nothing([column]))
        return any(len(ratings_in(value, place)) > 1 for value in self.values(column))

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


def no_answer(cells: Mapping[str, Any], missing: Sequence[str] = ()) -> list[str]:
    """The `COLUMN=WORD` by which a row is no answer of the study: rejected, a trial, unfinished, a check of attention.
    Where a user said which words mean none, these alone count."""
    words = []
    for column, value in cells.items():
        if isinstance(value, str | bool) and len(str(value)) < _LONGEST_WORD and leaves_out(column, str(value)):
            words.append(f"{column}={str(value).strip()}")
    return [word for word in words if word in missing] if missing else words


@lru_cache(maxsize=1 << 14)
def leaves_out(column: str, word: str) -> bool:
    """Whether a word in a column says that its row is no answer of the study."""
    known = NO_ANSWERS.get(bare(column))
    return (known is not None and fold(word) in known) or (
        word[:1].lower() in _CHECKS and CHECKS.match(fold(word)) is not None
    )


def _written(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _in_place_of_numbers(counts: Counter[str]) -> Iterator[str]:
    """Of a column of numbers: few words without digits, and codes far off all other numbers."""
    numbers, words = {}, []
    for text in counts:
        try:
            numbers[text] = float(text)
        except ValueError:
            words.append(text)
    plain = [word for word in words if not any(map(str.isdigit, word)) and notation(word) is None]
    lost = sum(counts[word] for word in plain)
    if (
        plain
        and len(plain) <= _MOST_WORDS
        and lost < _MOST_OTHERS * counts.total()
        and not {*map(str.lower, plain)} & _SAID
    ):
        yield from plain
    codes = {text for text, number in numbers.items() if number in _NEGATIVE or abs(number) in _CODES}
    others = {number for text, number in numbers.items() if text not in codes}
    for text in codes if len(others) > 2 and min(others) >= 0 else ():
        number = numbers[text]
        # From -1 to 2 is a scale; beside numbers from 0 to 3 or more, -1 is a sign.
        negative = number < 0 and (number < -1 or min(others) >= 1 or max(others) >= _LEAST_END)
        if (negative or (number > 0 and max(others) <= _SCALE_ENDS)) and 2 * counts[text] < counts.total():
            yield text
