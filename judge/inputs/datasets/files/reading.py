"""What each column of a table is taken for, from its name, its cells and how these repeat from row to row.

One reader for every command that takes a table. Columns whose ratings could be read in two ways that change the answer
are told apart by no guess: `TwoReadingsError` holds both, for the user to choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError
from judge.base.wording import Advice, changed, few, joined
from judge.inputs.datasets.files.column_names import (
    NamedColumn,
    bare,
    is_count,
    is_criterion,
    is_given_name,
    named,
    named_column,
    stem,
    without_means,
)
from judge.inputs.datasets.files.column_words import CRITERIA, MEANS, NAMES, ORDERS, fold
from judge.inputs.datasets.files.source_file import MISSING_WORDS, is_missing, ratings_in
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import EXPECTED, parts_of
from judge.inputs.datasets.files.verdict_codes import WORDS, Twins, stories_in_a_row, twins_in

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

# Characters of a story at the least, values of a rating at the most, and how far from 0 a rating lies.
_LONG, _MOST_POINTS, _FARTHEST = 40, 25, 100
# Characters of a rating that is written in another way, such as 85 % or 4/5.
_SHORT = 10
# Words of labels at the most, and how often each occurs at the least, on average.
_MOST_LABELS, _LEAST_REPEATS = 7, 3
# Names of rows of sums, which stand among the last ones.
_TOTALS, _LAST = frozenset(("total", "sum", "summe", "somme", "totale", "std", "sd", "合计", "итого")), 3
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
class Sides:
    """Columns of ratings by whose they are: judges', people's, and those of which nothing says it."""

    judges: list[NamedColumn]
    people: list[NamedColumn]
    neither: list[NamedColumn]


@dataclass(frozen=True, slots=True)
class Reading:
    """What each column of a table is taken for. `labels` are the words of its labels, the lowest first; `twins` the two
    stories of a table of comparisons; `by_prompt`: an id stands for several systems' stories; `story`: columns that
    name a story together."""

    table: TableCells
    columns: Mapping[str, ReadColumn]
    labels: tuple[str, ...] = ()
    twins: Twins | None = None
    by_prompt: bool = False
    story: str | None = None
    shares: tuple[tuple[str, ...], ...] = ()
    """Columns of the probabilities of ratings, that add to 1."""

    def column(self, role: Role) -> str | None:
        """The first column of a role; of ids also `a+b`, of two that name a story together."""
        if role == "id" and self.story is not None:
            return self.story
        return next((name for name, read in self.columns.items() if read.role == role), None)

    def ratings(self) -> list[NamedColumn]:
        """Columns of ratings and labels, in the table's order."""
        columns = [read.named for read in self.columns.values() if read.role in ("rating", "label")]
        return [*columns, *map(_expected, self.shares)]

    def sides(self, stated: Collection[str] = ()) -> Sides:
        """Whose the ratings are, without the columns that the user `stated`: as names say; else, beside one side's
        columns, those that can only be the other's."""
        free = [column for column in self.ratings() if column.column not in stated]
        judges = [column for column in free if column.side == "judge"]
        people = [column for column in free if column.side == "human"]
        left = [column for column in free if column.side is None]
        numbers = [c for c in left if c.column in self.columns and self.columns[c.column].role == "rating"]
        lists = [column for column in numbers if self.table.lists(column.column)]
        people, left = people + lists, [column for column in left if column not in lists]
        if people and left and all(is_given_name(column.column) for column in people):
            # A name that is on no list stands among others that are.
            others = [c for c in left if c.criterion is not None and not is_criterion(c.criterion)]
            if len(others) <= len(people):
                people = sorted([*people, *others], key=lambda column: self.table.columns.index(column.column))
            left = [column for column in left if column not in people]
        judges, people = judges or _like(left, people), people or _like(left, judges) or _crossed(left, judges)
        used = {column.column for column in (*judges, *people)}
        left = [column for column in left if column.column not in used]
        if judges and not people and left:
            plain = [column for column in left if bare(column.column) in NAMES["rating"]]
            people = plain if len(plain) == 1 and not {column.criterion for column in judges} - {None} else left
            people = people if people[1:] or _may_be_peoples(people[0]) else []
        elif people and not judges and len(left) == 1 and _may_be_a_judge(left[0]):
            judges = left
        left = [column for column in left if column not in (*judges, *people)]
        return Sides(without_means(judges), without_means(people), left)

    def left_out(self, used: Collection[str]) -> list[str]:
        """The columns that are not used, each with what it was taken for."""
        used = {part for name in used for part in (name, *parts_of(name))}
        return [
            f"{name or '(no name)'} ({self._reason(name)})" if name in self.columns else name
            for name in self.table.columns
            if name not in used and not any(part.startswith(f"{name}.") for part in used)
        ]

    def _reason(self, name: str) -> str:
        read = self.columns[name]
        judged = read.role in ("rating", "label") and read.named.side == "judge"
        return "a judge's ratings" if judged else read.because


def _expected(columns: Sequence[str]) -> NamedColumn:
    """The mean rating of a judge by the probabilities of its ratings."""
    its = named(re.sub(r"(?i)[ _.-]*(?:p|prob|probability|logprob)[ _.-]*$", "", columns[0].rstrip("0123456789")))
    criterion = its.criterion if its.side else None
    return NamedColumn(f"{EXPECTED}{','.join(columns)})", "judge", criterion, its.who, mean=False)


def _like(free: Sequence[NamedColumn], others: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Columns of no side with a criterion of `others`, which are all of one side."""
    criteria = {column.criterion for column in others}
    return [column for column in free if column.criterion in criteria] if others else []


def _crossed(free: Sequence[NamedColumn], judges: Sequence[NamedColumn]) -> list[NamedColumn]:
    """Columns of no side named by a word and one of the judges' criteria, as `B1_Style` is beside `gpt4_Style`: one for
    each word and criterion; empty where there is another."""
    criteria = [column.criterion for column in judges if column.criterion is not None]
    crossed = []
    for column in free:
        name = column.criterion or ""
        its = next(
            (c for c in criteria if name.lower().endswith(f" {c.lower()}") or name.lower().startswith(f"{c.lower()} ")),
            "",
        )
        who = (name[: -len(its)] if name.lower().endswith(its.lower()) else name[len(its) :]).strip() if its else ""
        if not who:
            return []
        crossed.append(replace(column, side="human", criterion=its, who=who))
    words = {(column.who, column.criterion) for column in crossed}
    whole = len({who for who, _ in words}) * len({criterion for _, criterion in words})
    return crossed if len(words) == whole == len(crossed) else []


def _may_be_peoples(column: NamedColumn) -> bool:
    """Whether the name of an only column beside a judge's is that of a rating, or of a criterion."""
    return column.criterion is None or bare(column.column) in NAMES["rating"] or is_criterion(column.criterion)


def _may_be_a_judge(column: NamedColumn) -> bool:
    """Whether the name of an only column beside people's says no more than score, or has a model's version."""
    return column.criterion is None or (any(map(str.isdigit, column.column)) and stem(column.column) is None)


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
    rated: dict[str, bool] = field(default_factory=dict)
    shares: list[tuple[str, ...]] = field(default_factory=list)

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
        twins = None if self.has("text", "rating") else twins_in(self.free(), self.values, self.table.values)
        if twins is not None:
            for column, because in twins.because.items():
                self.take(column, "verdict" if column in twins.verdicts else "text", because)
        labels = self._labels(compared=twins is not None)
        if twins is None and not self.has("text"):
            self._refuse_series()
        self._texts()
        self._raters()
        self._names()
        by_prompt = twins is None and self._ids()
        story = None if twins is not None or by_prompt else self._story()
        self._refuse_totals()
        self._numbers()
        self._refuse_unread_judges()
        for column in self.free():
            self.take(column, "ignored", self._reason(column))
        columns = {column: self.roles[column] for column in self.table.columns}
        for column, read in columns.items():
            if read.role == "rating" and (mixed := self.table.mixed(column)) is not None:
                message = f"numbers are written in several ways, such as {mixed}"
                raise DataError(message, file=self.table.path, column=column, hint="write all of them in one way")
        return Reading(self.table, columns, labels, twins, by_prompt, story, tuple(self.shares))

    def _without_values(self) -> None:
        for column in self.free():
            within = [name for name in self.table.columns if name.startswith(f"{column}.")]
            if not self.values(column):
                self.take(column, "ignored", "empty")
            elif within and not self._by_rater(column):
                self.take(column, "ignored", f"read by its keys {few(within, 3)}")
            elif within:
                for name in within:
                    self.take(name, "ignored", f"within {column}")
            elif not bare(column) or column.startswith("Unnamed:"):
                self.take(column, "ignored", "without a name")

    def _by_rater(self, column: str) -> bool:
        """Whether objects in a column hold numbers by raters: other keys in other rows."""
        values = [value for value in self.values(column) if isinstance(value, Mapping)]
        if len(values) < len(self.values(column)) or not self._rated(column):
            return False
        return len({key for value in values for key in value}) > max(map(len, values))

    def _refuse_series(self) -> None:
        series = stories_in_a_row([column for column in self.free() if fits("text", self.values(column))])
        if series:
            hint = "write each story with its ratings on a row of its own, e.g. with pandas.wide_to_long"
            message = f"each row holds {len(series)} stories ({few(series, 3)})"
            raise DataError(message, file=self.table.path, hint=hint)

    def _story(self) -> str | None:
        """Two columns that name a story together, `a+b`, where none does alone; takes the one that does by its pattern.
        Where a column names who rated, rows may share a story: DataError where it cannot be known which."""
        roles = {read.role: name for name, read in self.roles.items()}
        rater, ids, system = roles.get("rater"), roles.get("id"), roles.get("system")
        known = rater is not None or bool(self._sided("human", "judge"))
        both = f"{ids}+{system}"
        if ids is not None and system is not None and known and not self._same_within(ids, system):
            if not self._tells_rows(both) or self._judges_in_rows(ids, rater):
                return None
            role: Role = "ignored" if "story_prompt" in roles else "story_prompt"
            self.take(ids, role, "what several systems wrote to")
            return both
        if self.has("id", "verdict") or not self.has("rater", "criterion"):
            return None
        prompt = roles.get("story_prompt")
        single = [column for column in self.free() if self._may_be_ids(column)]
        single += [prompt] if prompt is not None and self._may_be_ids(prompt) else []
        proven = [column for column in single if self._names_stories(column)]
        if proven:
            ids = max(proven, key=lambda column: len({*map(str, self.table.values(column))}))
            self.take(ids, "id", "all rows with one name tell the same of a story")
            return None
        both = f"{prompt}+{system}"
        if prompt is not None and system is not None and self._names_stories(both):
            return both
        words = [c for c in single if not self._numeric(self.values(c)) and len({*map(str, self.values(c))}) > 1]
        words = [column for column in words if not self.table.unique(column)]
        tells = [column for column in words if self._tells_rows(column)]
        ids = tells[0] if len(tells) == 1 else finest(words, self.table.values)
        if ids is not None:
            self.take(ids, "id", "a name for the rows of each story")
        if ids is not None or self.has("text") or rater is None:
            return None
        message = f"{rater!r} names who rated each row, and no column is known to name the stories"
        hint = Advice("say which column does ({story}), or write one that does", story="COLUMN")
        raise DataError(message, file=self.table.path, hint=hint)

    def _judges_in_rows(self, ids: str, rater: str | None) -> bool:
        """Whether models may be those who judged: people's ratings are the same in all rows of an id (and rater)."""
        if rater is None or self.has("text"):
            return False
        others = [c for c in self.free() if self._rated(c) and not is_count(c)]
        people = [c for c in others if named(c).side == "human"] or [c for c in others if bare(c) in NAMES["rating"]]
        return bool(people) and all(self._same_within(f"{ids}+{rater}", column) for column in people)

    def _refuse_totals(self) -> None:
        """A row of means below the stories is no story."""
        ids = next((name for name, read in self.roles.items() if read.role == "id"), None)
        for value in self.values(ids)[-_LAST:] if ids is not None else ():
            if fold(str(value)).rstrip(".:") in MEANS | _TOTALS:
                message = f"a row is named {str(value)!r}: it holds means or sums, and no story's ratings"
                raise DataError(message, file=self.table.path, column=ids, hint="delete the row")

    def _may_be_ids(self, column: str) -> bool:
        values = self.values(column)
        return fits("id", values) and not is_count(column) and named(column).side is None and not self._parted(values)

    def _parted(self, values: Sequence[Any]) -> bool:
        return any((number := _number(value)) is not None and not number.is_integer() for value in values)

    def _names_stories(self, column: str) -> bool:
        """Whether rows with one value of a column share what a story has once: its text, its system, the judge's
        ratings; and no person rates it twice."""
        once = [name for name, read in self.roles.items() if read.role in ("text", "system")]
        once += self._sided("judge")
        once = [name for name in once if name not in column.split("+")]
        varied = [name for name in once if len({*map(str, self.table.values(name))}) > 1]
        keys = len({*map(str, self.table.values(column))})
        many = _LEAST_GROUPS <= keys < len(self.table.rows)
        return (
            many
            and bool(varied)
            and all(self._same_within(column, name) for name in varied)
            and self._tells_rows(column)
        )

    def _same_within(self, column: str, name: str) -> bool:
        """Whether a column has one value for each of another (and of the criterion, for ratings)."""
        criterion = next((c for c, read in self.roles.items() if read.role == "criterion"), None)
        keys: dict[tuple[str, str], str] = {}
        by = self.table.values(criterion) if criterion is not None and name not in self.roles else self.table.rows
        for key, of, value in zip(self.table.values(column), by, self.table.values(name), strict=True):
            both = (str(key), str(of) if by is not self.table.rows else "")
            if keys.setdefault(both, str(value)) != str(value):
                return False
        return True

    def _tells_rows(self, column: str) -> bool:
        """Whether a row is known by this column with its rater and criterion."""
        names = [column, *(c for c, read in self.roles.items() if read.role in ("rater", "criterion"))]
        cells = [[*map(str, self.table.values(name))] for name in names]
        return len({*zip(*cells, strict=True)}) == len(self.table.rows)

    def _sided(self, *sides: str) -> list[str]:
        """Columns of numbers or labels that are named as one side's."""
        free = [c for c in self.free() if named(c).side in sides and not is_count(c) and self._rated(c)]
        return free + [name for name, read in self.roles.items() if read.role == "label" and read.named.side in sides]

    def _refuse_unread_judges(self) -> None:
        """A judge's column whose cells are nearly numbers is told, and no other column taken in its place."""
        if any(read.role in ("rating", "label") and read.named.side == "judge" for read in self.roles.values()):
            return
        for column in self.free():
            values = [str(value) for value in self.values(column) if not isinstance(value, Mapping)]
            figures = sum(any(map(str.isdigit, value)) and len(value) < _SHORT for value in values)
            odd = next((value for value in values if _number(value) is None), None)
            if odd is not None and named(column).side == "judge" and not is_count(column) and 2 * figures > len(values):
                message = f"the column {column!r} is named as a judge's, and {odd!r} is no rating"
                raise DataError(message, file=self.table.path, hint="a rating is a number such as 4, 4.5, 80% or 4/5")

    def _texts(self) -> None:
        for name in ("explanation", "text", "story_prompt", "reference"):
            if self.has(name):
                continue
            free = [column for column in self.free() if fits(name, self.values(column)) and not self._rated(column)]
            if name == "explanation":
                for column in free:
                    if _says(column, NAMES[name]):
                        self.take(column, name, "what was said of it")
                continue
            if name == "story_prompt":
                free = [column for column in self.free() if fits(name, self.values(column))]
            match = named_column(name, free)
            if match is None and name == "text":
                match = _longest(free, self.values)
            if match is not None:
                self.take(match, name, "long texts" if name == "text" else "by its name")

    def _raters(self) -> None:
        if self.has("rater"):
            return
        people = [c for c in self._sided("human") if not named_column("rater", [c])]
        for usual in NAMES["rater"]:
            for column in self.free():
                if bare(column) != usual or (usual == "source" and (people or not self._all_sided(column))):
                    continue
                if self._names_raters(column):
                    self.take(column, "rater", "names who rated each row")
                    return
        lists = [c for c in self.free() if all(isinstance(value, list) for value in self.values(c))]
        beside = named_column("rater", lists)
        if beside is not None and not any(isinstance(name, Mapping) for of in self.values(beside) for name in of):
            self.take(beside, "rater", "names who rated, in a list beside the ratings")
            return
        other = named_column("rater", [c for c in self.free() if not is_given_name(c) and bare(c) != "source"])
        if other is not None and self._names_raters(other):
            self.take(other, "rater", "names who rated each row")
            return
        for column in self.free() if not people else ():
            if fits("rater", self.values(column)) and self._calls_people(column) and not self.table.unique(column):
                self.take(column, "rater", "names people")
                return

    def _all_sided(self, column: str) -> bool:
        return None not in {named(str(value)).side for value in self.values(column)}

    def _calls_people(self, column: str) -> bool:
        """Whether cells are given names, or such as `rater 3`, beside each other or a language model's."""
        values = {str(value) for value in self.values(column)}
        people = [v for v in values if named(v).side == "human" and (is_given_name(v) or any(map(str.isdigit, v)))]
        known = len(people) + sum(named(v).side == "judge" for v in values)
        return bool(people) and 1 < len(values) < 2 * known and not self._numeric([*values])

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
                ids = [column for column in free if named_column("id", [column])]
                free = [c for c in free if self._names_criteria(c) and {*ids} != {c}]
            if name == "system":
                free = [column for column in free if not self._rated(column) or named(column).side != "judge"]
            match = named_column(name, free)
            if match is not None:
                self.take(match, name, "by its name")
            elif (match := next((c for c in free if self._calls(name, c)), None)) is not None:
                self.take(match, name, "by its cells")

    def _calls(self, name: str, column: str) -> bool:
        """Whether most cells name criteria, or language models, by words that repeat."""
        values = [str(value) for value in self.values(column)]
        words = {*values}
        if self._numeric(values) or 2 * len(words) > len(values) or len(words) < 2:
            return False
        if name == "criterion":
            known = [word for word in words if CRITERIA & {fold(word), *fold(word).split()}]
        else:
            known = [word for word in words if named(word).side == "judge"] if name == "system" else []
        return 2 * len(known) > len(words)

    def _names_criteria(self, column: str) -> bool:
        values = [str(value) for value in self.values(column)]
        words = {*values}
        repeated = 2 * len(words) <= len(values) or bare(column) in NAMES["criterion"][:4]
        return not self._numeric(values) and repeated

    def _ids(self) -> bool:
        """Takes the column of ids; whether an id stands for one story-prompt's stories by several systems."""
        if self.has("id"):
            return False
        free = [
            column
            for column in self.free()
            if fits("id", self.values(column)) and not self._parted(self.values(column))
        ]
        usual = [column for name in NAMES["id"] for column in free if bare(column) == name]
        usual += [c for c in free if bare(c).endswith(("id", "nr", "nummer", "number")) and c not in usual]
        usual += [other] if not usual and (other := named_column("id", free)) is not None else []
        if not usual:
            return False
        rows_of_a_story = self.has("rater", "criterion") or "source" in map(bare, self.table.columns)
        own = None if rows_of_a_story else next((c for c in usual if self.table.unique(c)), None)
        ids = own or usual[0]
        system = next((name for name, read in self.roles.items() if read.role == "system"), None)
        if own is None and not rows_of_a_story and system is not None and self._tells_rows(f"{ids}+{system}"):
            self.take(ids, "ignored" if self.has("story_prompt") else "story_prompt", "what several systems wrote to")
            return True
        self.take(ids, "id", "by its name")
        return False

    def _labels(self, *, compared: bool) -> tuple[str, ...]:
        """Takes the columns whose words are labels of one known order, that of most columns; else those of a judge and
        of others that share a few words. Two words have an order that no agreement depends on; more must be told."""
        fields = ("id", "system", "story_prompt", "rater", "criterion", "panel")
        words: dict[str, set[str]] = {}
        for column in self.free():
            told = [str(v).strip() for v in self.values(column) if not isinstance(v, Mapping | list)]
            given = {word for word in told if word.lower() not in MISSING_WORDS}
            free = not any(named_column(name, [column]) for name in fields) or named(column).side == "judge"
            free = free and not self._rated(column)
            if free and 0 < len(given) <= _MOST_LABELS and not self._numeric([*given]) and not is_count(column):
                words[column] = given
        best: tuple[list[str], tuple[str, ...]] = ([], ())
        for order in ORDERS:
            columns = [column for column, given in words.items() if {*map(_spelled, given)} <= {*order}]
            spelled = {_spelled(word): word for column in columns for word in words[column]}
            letters = len(order[0]) == len(order[-1]) == 1 and order[0].isascii()
            enough = len(columns) > 1 or not letters
            better = (len(columns), -len(order)) > (len(best[0]), -len(best[1]))
            if len(spelled) > 1 and enough and better:
                best = (columns, tuple(spelled.get(word, _as_spelled(word, spelled)) for word in order))
        if best[0]:
            for column in best[0]:
                self.take(column, "label", f"labels {', '.join(best[1])}")
            return best[1]
        return () if compared or self.table.scale is not None else self._unknown_labels(words)

    def _unknown_labels(self, words: Mapping[str, set[str]]) -> tuple[str, ...]:
        judged = next((column for column in words if named(column).side == "judge"), None)
        same = [c for c in words if judged is not None and 2 * len(words[c] & words[judged]) > len(words[judged])]
        union = sorted(set().union(*(words[column] for column in same)))
        rows = len(self.table.rows)
        if len(same) < 2 or not 1 < len(union) <= _MOST_LABELS or _LEAST_REPEATS * len(union) > rows:
            return ()
        if len(union) > 2 or {word.casefold() for word in union} <= {*WORDS}:
            words_shown = ", ".join(map(repr, union))
            message = f"the columns {few(same, 4)} hold the words {words_shown}, whose order is not known"
            hint = Advice("say the words from the lowest to the highest: {labels}", labels=",".join(union))
            raise DataError(message, file=self.table.path, hint=hint)
        for column in same:
            self.take(column, "label", f"labels {', '.join(union)}")
        return tuple(union)

    def _numbers(self) -> None:
        free = [column for column in self.free() if not is_count(column) and self._rated(column)]
        for group in _numbered(free).values():
            if len(group) > 2 and self._adds_to_one(group):
                self.shares.append(tuple(group))
                for column in group:
                    self.take(column, "probability", "with its neighbours it adds to 1")
        free = [column for column in free if column not in self.roles]
        for column in free:
            values = self.values(column)
            whole = len({*map(str, values)}) == len(self.table.rows) >= _LEAST_IDS and self._whole(values)
            if whole:
                self.take(column, "ignored", "another whole number in each row")
            elif named(column).side or self._few(values):
                self.take(column, "rating", "numbers on a scale")
        if not any(read.role in ("rating", "label") and read.named.side != "judge" for read in self.roles.values()):
            left = [column for column in free if column not in self.roles]
            usual = named_column("rating", left) or (left[0] if len(left) == 1 and self.has("rater") else None)
            if usual is not None:
                self.take(usual, "rating", "the only numbers that people may have given")

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
        if column not in self.rated:
            self.rated[column] = self.table.holds_ratings(column)
        return self.rated[column]

    def _numeric(self, values: Sequence[Any]) -> bool:
        return all(_number(value) is not None for value in values)

    def _whole(self, values: Sequence[Any]) -> bool:
        return all((number := _number(value)) is not None and number.is_integer() for value in values)

    def _few(self, values: Sequence[Any]) -> bool:
        """Whether cells are few distinct numbers of small size, or lists of them."""
        numbers: set[float] = set()
        place = self.table.place("", ("NA", "nan"))
        for value in values:
            try:
                numbers.update(number for _, number in ratings_in(value, place) if number is not None)
            except DataError:
                if isinstance(value, str) and not any(map(str.isdigit, value)):
                    continue  # a word for no rating, as `holds_ratings` knows
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


def _spelled(word: str) -> str:
    return fold(word.replace("_", " ").replace("-", " "))


def _number(value: Any) -> float | None:
    try:
        return float(str(value).replace(",", ".")) if not isinstance(value, bool | list | Mapping) else None
    except ValueError:
        return None


def _longest(columns: Sequence[str], values: Any) -> str | None:
    return max(columns, key=lambda column: sum(len(str(value)) for value in values(column)), default=None)
