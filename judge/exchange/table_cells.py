"""Properties of a table's columns from their cells: numbers, words for a missing rating, sorted answers, duplicates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import orjson

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.base.records import Scale
from judge.inputs.datasets.dataset import label_scales
from judge.inputs.datasets.files.column_guess import COUNTS, criterion_name
from judge.inputs.datasets.files.source_file import MISSING_WORDS, RatingPlace, is_missing, ratings_in
from judge.inputs.datasets.files.table_file import cell, has_decimal_commas, table_columns, table_rows

# Guess of a column's rater and criterion from its name, for the user to confirm.

Side = Literal["judge", "human"]

# The criterion of ratings that name none.
OVERALL = "Overall"

_JUDGE = late(
    r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|beluga|vicuna|gemma|^phi\d*$|palm2?$|command-?r|grok|^o[134]$"
    r"|llm|^judges?\d*$|^auto|^ai$|^pred|^metric|prometheus|geval|bertscore|bleu|rouge|bart|comet|meteor|bleurt|unieval"
)
_HUMAN = late(
    r"human|people|person|rater|annot|worker|expert|crowd|reader|gold|turk|participant|reviewer|student|^mos$"
    r"|^(?:h|r|a|w|ann|amt)\d+$"
)
_VERSION = late(r"^v?\d+[a-z]{0,2}$|^(?:turbo|mini|instruct|chat|pro|flash|sonnet|opus|haiku|large|small|preview)$")
_PLAIN = frozenset(
    {"score", "scores", "rating", "ratings", "value", "label", "eval", "evaluation", "ans", "answer", "s"}
)
_MEANS = frozenset({"mean", "avg", "average", "median"})
_NO_RATING = late(r"std|stdev|var$|variance|conf|prob|agreement|kappa")
_PARTS = late(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*[a-z]?|[A-Z]+\d*|\d+[A-Za-z]*|[^\W\d_]+\d*")
_ENDS = " _-./:|()"
_EVAL_FILE = late(r"^(?:input|answer)\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """What the name of a column of ratings suggests; `side` is None for neither, `mean`: it holds means."""

    column: str
    side: Side | None
    criterion: str | None
    who: str
    mean: bool


def named(column: str) -> NamedColumn:
    parts = list(_PARTS.finditer(_EVAL_FILE.sub("", column)))
    low = [part[0].lower() for part in parts]
    judges = [bool(_JUDGE.search(part)) for part in low]
    people = [bool(_HUMAN.search(part)) for part in low]
    side: Side | None = "human" if any(people) else "judge" if any(judges) else None
    plain = [part in _PLAIN or part in _MEANS for part in low]
    version = [bool(_VERSION.search(part)) for part in low]
    rest = [part[0] for part, *marks in zip(parts, judges, people, plain, version, strict=True) if not any(marks)]
    criterion = criterion_name(" ".join(rest)) if rest else None
    who = _EVAL_FILE.sub("", column)
    for part, *marks in reversed(list(zip(parts, judges, people, version, strict=True))):
        if not any(marks):
            who = who[: part.start()].rstrip(_ENDS) + who[part.end() :]
    return NamedColumn(column, side, criterion, who.strip(_ENDS) or column, bool(_MEANS & {*low}))


def is_count(column: str) -> bool:
    """Whether a column's name suggests counts, ids or a measure of spread instead of ratings."""
    bare = re.sub(r"[^a-z0-9]", "", column.lower())
    return not bare or bool(COUNTS.search(bare) or _NO_RATING.search(column.lower()))


def without_means(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """The columns, without each column of means whose criterion also has a column of single ratings."""
    single = {column.criterion for column in columns if not column.mean}
    return [column for column in columns if not column.mean or column.criterion not in single]


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
    def at(cls, path: Path, sheet: str | None, labels: str | None = None) -> TableCells:
        """The whole table at `path`; DataError where the file is not a table, SpecError for invalid labels."""
        comma = has_decimal_commas(path)
        rows = tuple(cells for _, cells in table_rows(path, sheet))
        if not rows:
            raise DataError("the table has no rows", file=path)
        scale = label_scales({"labels": labels}).of("") if labels else None
        return cls(path, tuple(table_columns(path, sheet)), rows, comma, scale)

    def yes_and_no(self, columns: Sequence[str]) -> tuple[str, str] | None:
        """The words (no, yes) as the table spells them in columns that hold nothing else; None where one does not
        occur."""
        spellings: dict[str, str] = {}
        for column in columns:
            values = {str(value).strip() for value in self.values(column) if not is_missing(value, ())}
            if values and {value.casefold() for value in values} <= {"yes", "no"}:
                spellings |= {value.casefold(): value for value in values}
        return (spellings["no"], spellings["yes"]) if len(spellings) == len(("no", "yes")) else None

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
