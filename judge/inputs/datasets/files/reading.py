"""What each column of a table is taken for, from its name, its cells and how these repeat from row to row.

One reader for every command that takes a table. Columns whose ratings could be read in two ways that change the answer
are told apart by no guess: `TwoReadingsError` holds both, for the user to choose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError
from judge.base.wording import Advice, changed, few, joined
from judge.inputs.datasets.files.column_names import (
    NAMES,
    NamedColumn,
    bare,
    is_count,
    named,
    named_column,
    stem,
)
from judge.inputs.datasets.files.source_file import RatingPlace, is_missing, ratings_in
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.verdict_codes import Twins, stories_in_a_row, twins_in

Role = Literal[
    "id",
    "text",
    "system",
    "story_prompt",
    "reference",
    "rater",
    "criterion",
    "panel",
    "rating",
    "label",
    "verdict",
    "explanation",
    "probability",
    "ignored",
]

# Words of labels that have an order, the lowest first.
_ORDERS: tuple[tuple[str, ...], ...] = (
    ("no", "yes"),
    ("false", "true"),
    ("fail", "pass"),
    ("incorrect", "correct"),
    ("n", "y"),
    ("disagree", "agree"),
    ("no", "partially", "yes"),
    ("no", "partly", "yes"),
    ("no", "somewhat", "yes"),
    ("no", "maybe", "yes"),
    ("low", "medium", "high"),
    ("none", "low", "medium", "high"),
    ("bad", "ok", "good"),
    ("poor", "fair", "good"),
    ("poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("very poor", "poor", "fair", "good", "very good"),
    ("very bad", "bad", "neutral", "good", "very good"),
    ("negative", "neutral", "positive"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("disagree", "neutral", "agree"),
)
# Characters of a story at the least, values of a rating at the most, and how far from 0 a rating lies.
_LONG, _MOST_POINTS, _FARTHEST = 40, 25, 100
# Characters of a rating that is written in another way, such as 85 % or 4/5.
_SHORT = 10
# Rows from which on a number of its own in each of them is an id.
_LEAST_IDS = 20
# Groups of rows from which on it is no chance that each has one value.
_LEAST_GROUPS = 5


class TwoReadingsError(DataError):
    """A table that can be read in two ways which change the answer. `choices` are what a user may have said, for yes
    and no to the `question`; the hint writes both down."""

    def __init__(self, path: Path, question: str, yes: tuple[str, Any], no: tuple[str, Any]) -> None:
        """`yes` and `no`: the options that say so, and what a reader takes for them."""
        self.path, self.question, self.choices = path, question, (yes[1], no[1])
        self.options = (yes[0], no[0])
        super().__init__(
            f"can be read in two ways: {question}", file=path, hint=Advice("if yes: {}\nif no: {}", *self.options)
        )

    def beside(self, path: Path, paths: Sequence[Path]) -> TwoReadingsError:
        """The same question of a table that is read together with others: commands name all `paths`."""
        names = " ".join(map(str, paths))
        yes, no = (changed(option, lambda text: names if text == str(path) else text) for option in self.options)
        return TwoReadingsError(path, self.question, (yes, self.choices[0]), (no, self.choices[1]))

    def about(self, yes: Any, no: Any, *, more: str = "") -> TwoReadingsError:
        """The same question with other choices; `more` stands behind both options."""
        options = [joined(option, more) for option in self.options]
        return TwoReadingsError(self.path, self.question, (options[0], yes), (options[1], no))


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column with the role that it is taken for, and the evidence; `named` says whose ratings its name suggests."""

    column: str
    role: Role
    because: str
    named: NamedColumn


@dataclass(frozen=True, slots=True)
class Reading:
    """What each column of a table is taken for. `labels` are the words of its labels, the lowest first; `twins` the two
    stories of a table of comparisons; `systems_of_ids` says that an id stands for several systems' stories."""

    table: TableCells
    columns: Mapping[str, ReadColumn]
    labels: tuple[str, ...] = ()
    twins: Twins | None = None
    by_prompt: bool = False

    def column(self, role: Role) -> str | None:
        """The first column of a role."""
        return next((name for name, read in self.columns.items() if read.role == role), None)

    def ratings(self) -> list[NamedColumn]:
        """Columns of ratings and labels, in the table's order."""
        return [read.named for read in self.columns.values() if read.role in ("rating", "label")]

    def left_out(self, used: Collection[str]) -> list[str]:
        """The columns that are not used, each with what it was taken for."""
        return [
            f"{name or '(no name)'} ({self._reason(name)})" if name in self.columns else name
            for name in self.table.columns
            if name not in used and not any(part.startswith(f"{name}.") for part in used)
        ]

    def _reason(self, name: str) -> str:
        read = self.columns[name]
        judged = read.role in ("rating", "label") and read.named.side == "judge"
        return "a judge's ratings" if judged else read.because


def read_columns(table: TableCells, given: Mapping[Role, str] | None = None, taken: Iterable[str] = ()) -> Reading:
    """The reading of a table's columns. `given` fields' columns are kept, and `taken` are columns of ratings, as the
    user said."""
    reader = _Reader(table)
    for role, column in (given or {}).items():
        if column in table.columns:
            reader.take(column, role, "as you said")
    for column in taken:
        if column in table.columns:
            reader.take(column, "rating", "as you said")
    return reader.read()


@dataclass(slots=True)
class _Reader:
    table: TableCells
    roles: dict[str, ReadColumn] = field(default_factory=dict)
    cells: dict[str, list[Any]] = field(default_factory=dict)

    def take(self, column: str, role: Role, because: str) -> None:
        self.roles[column] = ReadColumn(column, role, because, named(column))

    def values(self, column: str) -> list[Any]:
        """The column's cells that are not blank."""
        if column not in self.cells:
            self.cells[column] = [value for value in self.table.values(column) if not is_missing(value, ())]
        return self.cells[column]

    def free(self) -> list[str]:
        return [column for column in self.table.columns if column not in self.roles]

    def has(self, *roles: Role) -> bool:
        return any(read.role in roles for read in self.roles.values())

    def read(self) -> Reading:
        self._without_values()
        twins = None if self.has("text", "rating") else twins_in(self.free(), self.values)
        if twins is not None:
            for column, because in twins.because.items():
                self.take(column, "verdict" if column in twins.verdicts else "text", because)
        labels = self._labels()
        if twins is None and not self.has("text"):
            self._refuse_series()
        self._texts()
        self._raters()
        self._names()
        by_prompt = twins is None and self._ids()
        self._refuse_nameless_stories(twins is not None)
        self._numbers()
        self._refuse_unread_judges()
        for column in self.free():
            self.take(column, "ignored", self._reason(column))
        columns = {column: self.roles[column] for column in self.table.columns}
        return Reading(self.table, columns, labels, twins, by_prompt)

    def _without_values(self) -> None:
        for column in self.free():
            if not self.values(column):
                self.take(column, "ignored", "empty")
            elif not bare(column) or column.startswith("Unnamed:"):
                self.take(column, "ignored", "without a name")

    def _refuse_series(self) -> None:
        series = stories_in_a_row([column for column in self.free() if fits("text", self.values(column))])
        if series:
            hint = "write each story with its ratings on a row of its own, e.g. with pandas.wide_to_long"
            message = f"each row holds {len(series)} stories ({few(series, 3)})"
            raise DataError(message, file=self.table.path, hint=hint)

    def _refuse_nameless_stories(self, compared: bool) -> None:
        """Where a column names who rated, rows may share a story: it must be known which."""
        roles = {read.role: name for name, read in self.roles.items()}
        rater = roles.get("rater")
        if compared or rater is None or self.has("id", "text", "verdict"):
            return
        keys = [self.table.values(roles[role]) for role in ("story_prompt", "system") if role in roles]
        if keys and len({*zip(*(map(str, key) for key in keys), strict=True)}) == len(self.table.rows):
            return
        message = f"{rater!r} names who rated each row, and no column is known to name the stories"
        hint = Advice("say which column does ({story}), or write one that does", story="COLUMN")
        raise DataError(message, file=self.table.path, hint=hint)

    def _refuse_unread_judges(self) -> None:
        """A judge's column whose cells are nearly numbers is told, and no other column taken in its place."""
        if any(read.role in ("rating", "label") and read.named.side == "judge" for read in self.roles.values()):
            return
        for column in self.free():
            values = [str(value) for value in self.values(column)]
            figures = sum(any(map(str.isdigit, value)) and len(value) < _SHORT for value in values)
            if named(column).side == "judge" and not is_count(column) and figures > len(values) / 2:
                odd = next(value for value in values if _number(value) is None or not self._rated(column))
                message = f"the column {column!r} is named as a judge's, and {odd!r} is no rating"
                raise DataError(message, file=self.table.path, hint="a rating is a number such as 4 or 4.5")

    def _texts(self) -> None:
        for name in ("explanation", "text", "story_prompt", "reference"):
            if self.has(name):
                continue
            free = [column for column in self.free() if fits(name, self.values(column))]
            if name == "explanation":
                for column in free:
                    if _says(column, NAMES[name]):
                        self.take(column, name, "what was said of it")
                continue
            match = named_column(name, free)
            if match is None and name == "text":
                match = _longest(free, self.values)
            if match is not None:
                self.take(match, name, "long texts" if name == "text" else "by its name")

    def _raters(self) -> None:
        if self.has("rater"):
            return
        for usual in NAMES["rater"]:
            for column in self.free():
                sides = {named(str(value)).side for value in self.values(column)} if usual == "source" else {"human"}
                if bare(column) == usual and None not in sides and self._names_raters(column):
                    self.take(column, "rater", "names who rated each row")
                    return

    def _names_raters(self, column: str) -> bool:
        """Whether cells name persons. Numbers that could be ratings are names where rows of one story never repeat one,
        or where another column holds people's ratings."""
        values = self.values(column)
        if not fits("rater", values):
            return False
        if not self._few(values):
            return len({*map(str, values)}) < len(values) or len(values) < _LEAST_IDS
        others = [c for c in self.free() if c != column and self._rated(c)]
        others += [name for name, read in self.roles.items() if read.role == "label"]
        if any(named(other).side == "human" and bare(other) not in NAMES["rater"] for other in others):
            return True
        single = any(self.table.unique(c) for c in self.free() if c != column and not self._rated(c))
        if not single and any(named(other).side is None and bare(other) in NAMES["rating"] for other in others):
            return True
        ids = named_column("id", [c for c in self.free() if fits("id", self.values(c))])
        if ids is None or not others:
            return False
        keys = [str(a) for a in self.table.values(ids)]
        repeats = len({*keys}) < len(keys)
        criteria = named_column("criterion", self.free())
        cells = zip(keys, self.table.values(column), self.table.values(criteria) if criteria else keys, strict=True)
        return repeats and len({tuple(map(str, key)) for key in cells}) == len(keys)

    def _names(self) -> None:
        for name in ("system", "criterion", "panel"):
            if self.has(name):
                continue
            free = [column for column in self.free() if fits(name, self.values(column))]
            if name == "criterion":
                free = [column for column in free if self._names_criteria(column)]
            match = named_column(name, free)
            if match is not None:
                self.take(match, name, "by its name")

    def _names_criteria(self, column: str) -> bool:
        values = [str(value) for value in self.values(column)]
        words = {*values}
        repeated = 2 * len(words) <= len(values) or bare(column) in NAMES["criterion"][:4]
        return not self._numeric(values) and repeated

    def _ids(self) -> bool:
        """Takes the column of ids; whether an id stands for one story-prompt's stories by several systems."""
        if self.has("id"):
            return False
        free = [column for column in self.free() if fits("id", self.values(column))]
        usual = [column for name in NAMES["id"] for column in free if bare(column) == name]
        usual += [column for column in free if bare(column).endswith("id") and column not in usual]
        if not usual:
            words = [c for c in free if not self._numeric(self.values(c)) and len({*map(str, self.values(c))}) > 1]
            several = finest(words, self.table.values) if self.has("criterion", "rater") else None
            if several is not None and not is_count(several) and named(several).side is None:
                self.take(several, "id", "a name for the rows of each story")
            return False
        rows_of_a_story = self.has("rater", "criterion") or "source" in map(bare, self.table.columns)
        own = None if rows_of_a_story else next((c for c in usual if self.table.unique(c)), None)
        ids = own or usual[0]
        system = next((name for name, read in self.roles.items() if read.role == "system"), None)
        if own is None and not rows_of_a_story and system is not None:
            keys = {(str(a), str(b)) for a, b in zip(self.table.values(ids), self.table.values(system), strict=True)}
            if len(keys) == len(self.table.rows):
                self.take(
                    ids, "ignored" if self.has("story_prompt") else "story_prompt", "what several systems wrote to"
                )
                return True
        self.take(ids, "id", "by its name")
        return False

    def _labels(self) -> tuple[str, ...]:
        """Takes the columns whose words are labels of one known order, that of most columns."""
        words = {
            column: {str(value).strip() for value in self.values(column)}
            for column in self.free()
            if not self._numeric(self.values(column)[:50])
        }
        best: tuple[list[str], tuple[str, ...]] = ([], ())
        for order in _ORDERS:
            columns = [
                column for column, given in words.items() if given and {word.casefold() for word in given} <= {*order}
            ]
            spelled = {word.casefold(): word for column in columns for word in words[column]}
            if len(spelled) > 1 and len(columns) > len(best[0]):
                best = (columns, tuple(spelled.get(word, _as_spelled(word, spelled)) for word in order))
        for column in best[0]:
            if not is_count(column):
                self.take(column, "label", f"labels {', '.join(best[1])}")
        return best[1]

    def _numbers(self) -> None:
        free = [column for column in self.free() if not is_count(column) and self._rated(column)]
        for group in _numbered(free).values():
            if len(group) > 2 and self._adds_to_one(group):
                for column in group:
                    self.take(column, "probability", "with its neighbours it adds to 1")
        for column in free:
            if column in self.roles:
                continue
            values = self.values(column)
            whole = len({*map(str, values)}) == len(self.table.rows) >= _LEAST_IDS and self._whole(values)
            if whole:
                self.take(column, "ignored", "another whole number in each row")
            elif named(column).side or self._few(values):
                self.take(column, "rating", "numbers on a scale")

    def _adds_to_one(self, columns: Sequence[str]) -> bool:
        numbers = [self.table.numbers(column) for column in columns]
        rows = [row for row in zip(*(given or () for given in numbers), strict=False) if None not in row]
        return bool(rows) and all(abs(sum(row) - 1) < 0.02 and all(0 <= number <= 1 for number in row) for row in rows)

    def _reason(self, column: str) -> str:
        values = self.values(column)
        if len({*map(str, values)}) == 1 and len(values) > 1:
            return "the same in every row"
        if is_count(column):
            return "its name says that it counts or numbers something"
        if self._numeric(values):
            return "numbers, by no judge or person that is named"
        return "long texts" if fits("text", values) else "words that are no labels known here"

    def _rated(self, column: str) -> bool:
        return self.table.holds_ratings(column)

    def _numeric(self, values: Sequence[Any]) -> bool:
        return all(_number(value) is not None for value in values)

    def _whole(self, values: Sequence[Any]) -> bool:
        return all((number := _number(value)) is not None and number.is_integer() for value in values)

    def _few(self, values: Sequence[Any]) -> bool:
        """Whether cells are few distinct numbers of small size, or lists of them."""
        numbers: set[float] = set()
        place = RatingPlace(Path(), 0, "", ("NA", "nan"), self.table.decimal_comma)
        try:
            for value in values:
                numbers.update(number for _, number in ratings_in(value, place) if number is not None)
        except DataError:
            return False
        return bool(numbers) and len(numbers) <= _MOST_POINTS and all(abs(number) <= _FARTHEST for number in numbers)


def fits(name: str, values: Sequence[Any]) -> bool:
    """Whether cells may be values of the field `name`: story texts are long strings, and names are short."""
    given = [value for value in values if not is_missing(value, ())]
    if not given or any(isinstance(value, Mapping | list) for value in given):
        return False
    size = sum(len(str(value)) for value in given) / len(given)
    if name == "text":
        return all(isinstance(value, str) for value in given) and size >= _LONG
    if name in ("reference", "explanation"):
        return all(isinstance(value, str) and _number(value) is None for value in given)
    return name == "story_prompt" or size < _LONG


def finest(columns: Sequence[str], values: Callable[[str], Sequence[Any]]) -> str | None:
    """The column of names that tells all that the others tell: each of its names stands beside one of every other's."""
    cells = {column: [str(value) for value in values(column)] for column in columns}
    for column, mine in cells.items():
        if all(len({*zip(mine, other, strict=True)}) == len({*mine}) for other in cells.values()):
            return column
    return None


def constant_within(table: TableCells, column: str, group: str) -> bool:
    """Whether a column has one value for each value of another, in several rows, and not the same everywhere."""
    groups: dict[str, set[str]] = {}
    for value, key in zip(table.values(column), table.values(group), strict=True):
        groups.setdefault(str(key), set()).add(str(value))
    several = len(groups) < len(table.rows) and len(groups) >= _LEAST_GROUPS
    return several and all(len(values) == 1 for values in groups.values()) and len(set.union(*groups.values())) > 1


def numbered(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Those that differ from another only in a number at the end, and whose names name no person or judge."""
    groups: dict[tuple[str | None, str | None], int] = {}
    for column in columns:
        key = (stem(column.column), column.criterion)
        groups[key] = groups.get(key, 0) + 1
    return [c for c in columns if c.side is None and stem(c.column) and groups[stem(c.column), c.criterion] > 1]


def persons(columns: Sequence[str]) -> str:
    """How many persons, as a question asks it: `3 people (ann1, ann2, ann3)`."""
    return f"{len(columns)} people ({few(list(columns), 4)})"


def _numbered(columns: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for column in columns:
        if (its := stem(column)) is not None:
            groups.setdefault(its, []).append(column)
    return groups


def _says(column: str, names: Sequence[str]) -> bool:
    return any(bare(column) == name or bare(column).endswith(name) for name in names if len(name) > 3)


def _as_spelled(word: str, spelled: Mapping[str, str]) -> str:
    # As the words that occur: small letters, or a capital first.
    return word.capitalize() if all(other[:1].isupper() for other in spelled.values()) else word


def _number(value: Any) -> float | None:
    try:
        return float(str(value).replace(",", ".")) if not isinstance(value, bool | list | Mapping) else None
    except ValueError:
        return None


def _longest(columns: Sequence[str], values: Any) -> str | None:
    return max(columns, key=lambda column: sum(len(str(value)) for value in values(column)), default=None)
