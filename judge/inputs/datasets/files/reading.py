"""What each column of a table is taken for, from its name, its cells and how these repeat from row to row.

One reader for every command that takes a table. Columns whose ratings could be read in two ways that change the answer
are told apart by no guess: `TwoReadingsError` holds both, for the user to choose."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError
from judge.base.wording import Advice, changed, joined, typed
from judge.inputs.datasets.files.cell_patterns import constant_within
from judge.inputs.datasets.files.column_names import (
    NamedColumn,
    bare,
    criterion_name,
    is_criterion,
    is_given_name,
    named,
    stem,
    with_persons,
    without_means,
)
from judge.inputs.datasets.files.column_words import GOLD, MEASURES, NAMES
from judge.inputs.datasets.files.encoding import encoding_line
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import EXPECTED, parts_of
from judge.inputs.datasets.files.verdict_codes import Twins

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


# Columns of one reason from which on they are named together.
_ALIKE = 2


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
        names = " ".join(map(typed, paths))
        yes, no = (changed(option, lambda text: names if text == typed(path) else text) for option in self.options)
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
        columns = _by_keys(columns, self.table.columns)
        return [*columns, *map(_expected, self.shares)]

    def sides(self, stated: Collection[str] = ()) -> Sides:
        """Whose the ratings are, without the columns that the user `stated`: as names say; else, beside one side's
        columns, those that can only be the other's."""
        free = with_persons([column for column in self.ratings() if column.column not in stated])
        judges = [column for column in free if column.side == "judge"]
        if given_by_models(judges):
            # Beside a language model's ratings, measures such as BLEU describe the texts.
            judges = [column for column in judges if not is_measure(column.column)]
            free = [column for column in free if not is_measure(column.column)]
        people = [column for column in free if column.side == "human"]
        left = [column for column in free if column.side is None]
        if self.column("rater") is not None and {c.criterion for c in left} & {c.criterion for c in people}:
            # Beside each person's own, a column in which they were put together is nobody's.
            people = [column for column in people if not GOLD.search(bare(column.column))]
        if judges and self.column("rater") is not None:
            # Each row is one person's: what varies between the rows of a story is that person's.
            people, left = sorted([*people, *left], key=lambda c: self.table.columns.index(c.column)), []
        numbers = [c for c in left if c.column in self.columns and self.columns[c.column].role == "rating"]
        lists = [column for column in numbers if self.table.lists(column.column)]
        people, left = people + lists, [column for column in left if column not in lists]
        if not judges and not people and (both := self._of_stories(left)) is not None:
            return both
        if not judges and (its := self._of_raters(left, people)) is not None:
            return Sides([its], people or [column for column in left if column is not its], [])
        if judges and not people and left and not given_by_models(judges):
            # Measures alone do not say that the rest is people's.
            return Sides([], [], [*judges, *left])
        if people and left and all(is_given_name(column.column) for column in people):
            # A name that is on no list stands among others that are.
            others = [c for c in left if c.criterion is not None and not is_criterion(c.criterion)]
            if len(others) <= len(people):
                people = sorted([*people, *others], key=lambda column: self.table.columns.index(column.column))
            left = [column for column in left if column not in people]
        # No member of a grid of criteria and persons is left out beside its siblings.
        parted = any(self._parted(column.column) for column in people)
        crossed = {c.column: c for c in _crossed(left, people) if parted or not self._parted(c.column)}
        if any(column.criterion != people[0].criterion for column in people):
            people = sorted([*people, *crossed.values()], key=lambda c: self.table.columns.index(c.column))
            left = [column for column in left if column.column not in crossed]
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

    def _parted(self, column: str) -> bool:
        """Whether a column holds numbers that are not whole, as means of whole ones are."""
        return any(number is not None and not number.is_integer() for number in self.table.numbers(column) or ())

    def _of_stories(self, left: Sequence[NamedColumn]) -> Sides | None:
        """Columns that are the same in all rows of a story, each named with a word by a column that is not, as
        `API_STYLE` by `STYLE`: a judge's values beside those of the rater of each row."""
        ids, rater = self.column("id"), self.column("rater")
        if ids is None or rater is None:
            return None
        once = [column for column in left if constant_within(self.table, column.column, ids)]
        each = [column for column in left if column not in once]
        crossed = _crossed(once, each)
        if not crossed or len({column.who for column in crossed}) > 1:
            return None
        return Sides([replace(column, side="judge") for column in crossed], each, [])

    def _of_raters(self, left: Sequence[NamedColumn], people: Sequence[NamedColumn]) -> NamedColumn | None:
        """The only column of numbers with one value a story, beside one with a value for each person who rated it."""
        ids, rater, criterion = (self.column(role) for role in ("id", "rater", "criterion"))
        if ids is None or rater is None:
            return None
        key = f"{ids}+{criterion}" if criterion is not None else ids
        once = [column for column in left if constant_within(self.table, column.column, key)]
        each = [*people, *(column for column in left if column not in once)]
        return once[0] if len(once) == 1 and len(each) == 1 else None

    def told(self, used: Collection[str]) -> list[str]:
        """Lines on the columns that are not `used`, and on an encoding that is not UTF-8."""
        left = self.left_out(used)
        lines = [f"not read: {', '.join(left)}"] if left else []
        return [*self.table.told, *lines, *encoding_line(self.table.path)]

    def left_out(self, used: Collection[str]) -> list[str]:
        """The columns that are not used, each with what it was taken for."""
        used = {part for name in used for part in (name, *parts_of(name))}
        rated = [self.columns[name] for name in used if name in self.columns]
        beside = any(read.named.side == "judge" and read.role in ("rating", "label") for read in rated)
        reasons: dict[str, list[str]] = {}
        for name in self.table.columns:
            if name not in used and not any(part.startswith(f"{name}.") for part in used):
                reason = self._reason(name, beside=beside) if name in self.columns else ""
                reasons.setdefault(reason, []).append(name or "(no name)")
        return [
            line
            for reason, names in reasons.items()
            for line in (
                [f"{', '.join(names)} (each: {reason})"]
                if len(names) > _ALIKE and reason
                else [f"{name} ({reason})" if reason else name for name in names]
            )
        ]

    def _reason(self, name: str, *, beside: bool) -> str:
        """Why a column is not read; `beside`: another judge's column is."""
        read = self.columns[name]
        if read.role == "rating" and is_measure(name):
            return "an automatic measure, no judge's rating"
        if read.role not in ("rating", "label") or read.named.side != "judge":
            return read.because
        if read.named.mean and beside:
            return "the mean of a judge's ratings, of which single ones are read"
        return "a judge's ratings, and another column is read as the judge's" if beside else "a judge's, not people's"


def given_by_models(judges: Sequence[NamedColumn]) -> bool:
    """Whether any column is a language model's, and not all hold measures such as BLEU."""
    return any(not is_measure(column.column) for column in judges)


def is_measure(column: str) -> bool:
    """Whether a column is named for an automatic measure, such as BLEU."""
    return MEASURES.search(bare(column)) is not None


def _by_keys(columns: Sequence[NamedColumn], present: Sequence[str]) -> list[NamedColumn]:
    """The columns; of objects in objects, several of which have the same keys, the last key is the criterion and that
    above it who rated, or the other way round where the last names raters."""
    parents = {
        column.column: max((name for name in present if column.column.startswith(f"{name}.")), key=len, default="")
        for column in columns
    }
    keys: dict[str, list[str]] = {}
    for name, parent in parents.items():
        if "." in parent:
            keys.setdefault(parent, []).append(name[len(parent) + 1 :])
    same = [parent for parent in keys if [*keys.values()].count(keys[parent]) > 1]
    named_columns = []
    for column in columns:
        parent, own = parents[column.column], column
        if parent in same and column.side is not None:
            last, above = column.column[len(parent) + 1 :], _last_key(parent, present)
            whose, of = (last, above) if all(named(key).side for key in keys[parent]) else (above, last)
            own = replace(column, criterion=criterion_name(of), who=whose)
        named_columns.append(own)
    return named_columns


def _last_key(name: str, present: Sequence[str]) -> str:
    above = max((other for other in present if name.startswith(f"{other}.")), key=len, default="")
    return name[len(above) + 1 :] if above else name


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
    """Columns of no side named by a word and one of the others' criteria, as `B1_Style` is beside `gpt4_Style`: one for
    each word and criterion. Empty where there is another beside judges'; beside people's, that is left."""
    criteria = [column.criterion for column in judges if column.criterion is not None]
    others_may_stand = any(column.side == "human" for column in judges)
    crossed = []
    for column in free:
        name = column.criterion or ""
        its = next(
            (c for c in criteria if name.lower().endswith(f" {c.lower()}") or name.lower().startswith(f"{c.lower()} ")),
            "",
        )
        who = (name[: -len(its)] if name.lower().endswith(its.lower()) else name[len(its) :]).strip() if its else ""
        if not who and not others_may_stand:
            return []
        if not who or GOLD.search(bare(who)):
            continue
        crossed.append(replace(column, side="human", criterion=its, who=who))
    words = {(column.who, column.criterion) for column in crossed}
    if others_may_stand:
        complete = {who for who, _ in words if {of for its, of in words if its == who} == {*criteria}}
        return [column for column in crossed if column.who in complete and not column.mean]
    whole = len({who for who, _ in words}) * len({criterion for _, criterion in words})
    return crossed if len(words) == whole == len(crossed) else []


def _may_be_peoples(column: NamedColumn) -> bool:
    """Whether the name of an only column beside a judge's is that of a rating, or of a criterion."""
    return column.criterion is None or bare(column.column) in NAMES["rating"] or is_criterion(column.criterion)


def _may_be_a_judge(column: NamedColumn) -> bool:
    """Whether the name of an only column beside people's says no more than score, or has a model's version."""
    return column.criterion is None or (any(map(str.isdigit, column.column)) and stem(column.column) is None)
