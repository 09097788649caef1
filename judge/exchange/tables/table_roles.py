"""What the columns of a table of ratings hold, as the user stated it and as it is taken: options and column map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from judge.base.wording import Advice, listed
from judge.exchange.ratings_rows import BY_ROW, OWN
from judge.inputs.datasets.files.column_names import OVERALL
from judge.inputs.datasets.files.reading import Reading

# Options by which the user states the roles of a table's columns.


@dataclass(frozen=True, slots=True)
class GivenColumns:
    """Options of `judge check` that say which column of a table holds what; empty if the user did not give them.

    `judge` and `human` are COLUMN or CRITERION=COLUMN. In a table with one rating per row, `rater` and `rating` are
    columns, and `judge` lists the names that are judges. `by` is the column of systems. `labels` are words, lowest
    first, separated by commas. `missing` are words for a missing rating. `number_repeats`: rows with ratings of one
    story by one judge are repeats. `positions`: people's answers are in any order, so that a column is not one
    person's."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    criterion: str | None = None
    by: str | None = None
    story: str | None = None
    prompt: str | None = None
    text: str | None = None
    rater: str | None = None
    rating: str | None = None
    panel: str | None = None
    comments: str | None = None
    labels: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    number_repeats: bool = False
    positions: bool = False
    """Whether people's columns are answers in any order, and not of a person each."""


# For an option of a column: the table has none.
NO_COLUMN = "none"

Form = Literal["columns", "rows", "ours"]

# Columns of ratings that are named one by one.
_MOST_NAMED = 6

# Options of columns, in the order in which they are printed.
ORDER = ("rater", "rating", "criterion", "story", "by", "prompt", "text", "panel", "comments")


@dataclass(frozen=True, slots=True)
class RatingColumn:
    """A column of ratings, with its criterion and its judge or human rater (`who`)."""

    column: str
    criterion: str
    who: str


@dataclass(frozen=True, slots=True)
class Guessed:
    """An interpretation of a table's columns; `guessed` names the options that the user did not give.

    `form`: ``columns`` (judges and people have columns), ``rows`` (one rating per row, with a column of raters and the
    judges' `judge_names`) or ``ours`` (a ratings table). `fields` maps an option to its column; `missing` and
    `positions` are as in `GivenColumns`."""

    form: Form
    fields: dict[str, str]
    given: GivenColumns
    judges: tuple[RatingColumn, ...] = ()
    people: tuple[RatingColumn, ...] = ()
    judge_names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    positions: bool = False
    guessed: tuple[str, ...] = field(default=())
    reading: Reading | None = None

    @property
    def used(self) -> set[str]:
        """The columns that this interpretation reads."""
        return {*self.fields.values(), *(column.column for column in (*self.judges, *self.people))}

    def column_map(self) -> dict[str, Any]:
        """The column map that `judge.exchange.ratings_file` takes."""
        names = {"by": "system", "prompt": "story_prompt", "comments": "explanation"}
        columns_map: dict[str, Any] = {names.get(option, option): column for option, column in self.fields.items()}
        if self.form == "ours" and not self.people:
            labels = {"labels": f"={self.given.labels}"} if self.given.labels else {}
            return {"criterion": f"={OVERALL}"} | columns_map | labels
        if self.form == "ours":
            columns_map.setdefault("criterion", f"={OVERALL}")
        if self.form == "rows" and self.judges:
            del columns_map["rating"]
            columns_map |= {f"ratings.{column.criterion}": column.column for column in self.judges}
            return columns_map | self._more() | {"judges": list(self.judge_names)}
        if self.form == "rows":
            columns_map.setdefault("criterion", f"={OVERALL}")
            columns_map["judges"] = list(self.judge_names)
        by_row = "ratings" if "judge" in self.fields else "judges"
        for prefix, columns in ((by_row, self.judges), ("people", self.people)):
            for criterion in dict.fromkeys(rating_column.criterion for rating_column in columns):
                mine = [rating_column for rating_column in columns if rating_column.criterion == criterion]
                named_by_row = prefix == "ratings" or (prefix == "people" and "rater" in self.fields)
                key = "rating" if (prefix, criterion) == ("ratings", OWN) else f"{prefix}.{criterion}"
                columns_map[key] = (
                    mine[0].column if named_by_row else [f"{rating.who}:{rating.column}" for rating in mine]
                )
        if self.form == "columns":
            columns_map.setdefault("story", BY_ROW)
        if self.positions:
            columns_map["rater"] = "=unknown"
        return columns_map | self._more()

    def _more(self) -> dict[str, Any]:
        more: dict[str, Any] = {"labels": f"={self.given.labels}"} if self.given.labels else {}
        more |= {"missing": list(self.missing)} if self.missing else {}
        return more | ({"sheet": [self.given.sheet]} if self.given.sheet else {})

    @property
    def lines(self) -> list[str]:
        """What the columns were taken for, in a few lines; every column that is not read is named."""
        sides = [("judge", self.judges), ("people", self.people)]
        rated = [f"{side}: {_listed(columns, several=self.several)}" for side, columns in sides if columns]
        rated += [f"judges among the raters: {', '.join(self.judge_names)}"] if self.judge_names else []
        read = ", ".join(f"{name} {column}" for name, column in self.fields.items())
        told = self.reading.told(self.used) if self.reading is not None else []
        return [*([f"read as: {read}"] if read else []), *rated, *told]

    @property
    def several(self) -> bool:
        """Whether its columns of ratings are of several criteria."""
        return len({column.criterion for column in (*self.judges, *self.people)}) > 1

    @property
    def options(self) -> str:
        """The options that say all of this interpretation."""
        if self.form == "ours":
            return options_of(GivenColumns(sheet=self.given.sheet, number_repeats=self.given.number_repeats))
        stated = as_stated(self) | ({"judge": self.judge_names} if self.form == "rows" else {})
        return options_of(replace(self.given, **stated, positions=self.positions))


def _listed(columns: Sequence[RatingColumn], *, several: bool) -> str:
    """Columns of ratings by name, with their criteria; of many, who rated which criteria."""
    if not several:
        return ", ".join(column.column for column in columns)
    raters: dict[str, list[str]] = {}
    for column in columns:
        raters.setdefault(column.criterion, []).append(column.who)
    if len(columns) > _MOST_NAMED and len({*map(tuple, raters.values())}) == 1:
        who = next(iter(raters.values()))
        return f"{', '.join(dict.fromkeys(who))} on {', '.join(raters)} ({len(columns)} columns)"
    return ", ".join(f"{column.column} ({column.criterion})" for column in columns)


def distinct(columns: Sequence[RatingColumn]) -> list[RatingColumn]:
    """The columns; where those of a criterion have the same rater's name, each has its own name instead."""
    keys = [(column.criterion, column.who) for column in columns]
    return [
        RatingColumn(column.column, column.criterion, column.column)
        if keys.count((column.criterion, column.who)) > 1
        else column
        for column in columns
    ]


def options_of(given: GivenColumns) -> str:
    """The options of `judge check` that say what is `given`."""
    options = [(name, value) for name in ("judge", "human") for value in getattr(given, name)]
    names = (*ORDER, "labels")
    options += [(name, value) for name in names if (value := getattr(given, name)) is not None]
    options += [("missing", word) for word in given.missing]
    options += [("sheet", given.sheet)] if given.sheet else []
    parts = [Advice(f"{{{option}}}", **{option: value}) for option, value in options]
    flags = {"number_repeats": given.number_repeats, "positions": given.positions}
    return listed(
        [*parts, *(Advice(f"{{{option}}}", **{option: True}) for option, value in flags.items() if value)], " "
    )


def as_stated(guessed: Guessed) -> dict[str, Any]:
    """The interpretation as options that say all of it."""
    several = guessed.several
    sides = {
        option: tuple(f"{column.criterion}={column.column}" if several else column.column for column in columns)
        for option, columns in (("judge", guessed.judges), ("human", guessed.people))
    }
    fields = {name: column for name, column in guessed.fields.items() if name in ORDER}
    return {**fields, **sides, "missing": guessed.missing, "labels": guessed.given.labels}
