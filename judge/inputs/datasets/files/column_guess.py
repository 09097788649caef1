"""Guesses a column map from a table's column names and cells, as a proposal that the user confirms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, JudgeError, SpecError, nearest
from judge.base.wording import Advice, few, typed
from judge.inputs.datasets.dataset import is_key
from judge.inputs.datasets.files.cell_patterns import fits, numbered
from judge.inputs.datasets.files.column_names import OVERALL, NamedColumn, may_be_persons, named
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.reading import Reading, Role, TwoReadingsError
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.verdict_codes import Twins, code_question

# Column maps as people type them: FIELD=COLUMN, and labels as [CRITERION=]LABEL,LABEL.


def column_options(options: Sequence[str] | None, labels: Sequence[str] | None = None) -> dict[str, str] | None:
    """Column map from FIELD=COLUMN; FIELD==TEXT is a constant. `labels` are for the key `labels`, or
    `labels.CRITERION`. Raises SpecError for another form, and for a field given twice."""
    columns: dict[str, str] = {}
    for option in options or ():
        column, _, value = option.partition("=")
        if not column or not value:
            example = Advice("e.g. {columns}", columns={"text": "Story"})
            raise SpecError(Advice("{columns} {!r} is not FIELD=COLUMN", option), hint=example)
        if column in columns:
            raise SpecError(Advice("{columns} gives {} twice", column))
        columns[column] = value
    for option in labels or ():
        criterion, stated, words = option.rpartition("=")
        key = f"labels.{criterion}" if stated else "labels"
        if key in columns:
            raise SpecError(Advice("{labels} says twice what the labels{} are", f" of {criterion}" if stated else ""))
        columns[key] = f"={words}"
    return columns or None


# Rows: enough to tell ids from ratings, and as fast for a file of millions.
_LOOKED_AT = 2000
# Fields of a story, and of a row of ratings.
_FIELDS: tuple[Role, ...] = ("id", "text", "system", "story_prompt", "reference", "rater", "criterion", "panel")


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposed map: fields' and criteria's columns. `wanted` are required fields without one, `given` the user's
    entries. `reading` is what every column was taken for."""

    columns: dict[str, str]
    ratings: Mapping[str, str]
    wanted: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None

    def as_map(self) -> dict[str, Any]:
        """The proposed column map in the format of run.yaml."""
        return {**self.given, **self.columns, **({"ratings": dict(self.ratings)} if self.ratings else {})}

    @property
    def lines(self) -> list[str]:
        """What the columns were taken for, in a few lines; every column that is not read is named."""
        read = ", ".join(f"{name} {column}" for name, column in self.columns.items() if not column.startswith("="))
        rated = "; ".join(f"{criterion} {column}" for criterion, column in self.ratings.items())
        told = self.reading.told(_used(self.columns, self.ratings)) if self.reading is not None else []
        return [f"read as: {read}", *([f"people's ratings: {rated}"] if rated else []), *told]


def guess(
    path: Path, sheet: str | None = None, given_columns: Mapping[str, Any] | None = None, *, texts: bool = True
) -> Guess:
    """A map guessed from names of columns, cells and their pattern in the first rows. Columns that the user gave and
    the table has are kept. Without `texts`, ratings of stories without a text will do. Raises TwoReadingsError where
    two maps give different answers, and DataError for a table of judges' verdicts or raters that no dataset holds."""
    given = given_columns or {}
    table = TableCells.at(path, sheet, most=_LOOKED_AT)
    fields, ratings = _corrected(given, table.columns)
    taken = [name for column in ratings.values() for name in _columns_of(column, table.columns)]
    reading = read_columns(table, {role: fields[role] for role in _FIELDS if role in fields}, taken)
    if reading.twins is not None and not given.keys() - {"sheet", "missing"}:
        return _pairs(reading, reading.twins, path)
    fields = {role: column for role in _FIELDS if (column := reading.column(role))} | fields
    sides = reading.sides(taken)
    people = sides.people or sides.neither
    if not ratings and "rating" not in fields and people:
        if "criterion" in fields:
            fields["rating"] = _only(people, path)
        else:
            ratings = _by_criterion(people)
    if "criterion" in fields and "rating" not in fields:
        fields.pop("criterion")
    extra = {key: value for key, value in given.items() if key in ("missing", "sheet") or is_key(key)}
    read_as_labels = any(reading.columns[name].role == "label" for name in _used(fields, ratings) & {*reading.columns})
    if read_as_labels and not any(is_key(key) for key in extra):
        extra["labels"] = f"={','.join(reading.labels)}"
    if any("," in column and not _names_raters(column, table.columns) for column in ratings.values()):
        if "rater" in fields:
            raise SpecError(f"{path}: a row has one rater ({fields['rater']}) and several columns of one criterion")
        if given.get("ratings") or any(key.startswith("ratings.") for key in given):
            # Columns that the user gave without names are positions as often as persons.
            fields["rater"] = "=unknown"
    wanted = tuple(name for name in ("text", "system") if name not in fields and (texts or name != "text"))
    wanted += ("id",) if _grouped(fields) and "id" not in fields else ()
    guessed = Guess(fields, ratings, wanted, extra, reading)
    if "rater" not in given and not taken:
        _ask_for_persons(guessed, people, path)
    _refuse_judges(guessed, path)
    return guessed


def _used(fields: Mapping[str, str], ratings: Mapping[str, str]) -> set[str]:
    parts = {part.strip().rpartition(":")[2] for column in ratings.values() for part in column.split(",")}
    return {*fields.values(), *ratings.values(), *parts}


def _grouped(fields: Mapping[str, str]) -> bool:
    return fields.get("rater", "=unknown") != "=unknown" or "criterion" in fields


def _only(columns: Sequence[NamedColumn], path: Path) -> str:
    """The one column of ratings of a table with a row a criterion. Raises DataError for several."""
    if len(columns) > 1:
        names = ", ".join(column.column for column in columns)
        hint = Advice("name the one: {columns}", columns={"rating": columns[0].column})
        raise DataError(
            f"each row is about one criterion, and several columns hold ratings: {names}", file=path, hint=hint
        )
    return columns[0].column


def _by_criterion(columns: Sequence[NamedColumn]) -> dict[str, str]:
    """Criterion -> its column, or its persons' columns with their names."""
    many: dict[str, list[NamedColumn]] = {}
    for column in columns:
        many.setdefault(column.criterion or OVERALL, []).append(column)
    several = len(many) > 1
    return {
        criterion: ",".join(
            f"{column.who}:{column.column}" if several and column.who != column.column else column.column
            for column in mine
        )
        if len(mine) > 1
        else mine[0].column
        for criterion, mine in many.items()
    }


def _ask_for_persons(guessed: Guess, people: Sequence[NamedColumn], path: Path) -> None:
    """Raises TwoReadingsError where nothing says whether columns are persons': those that differ in a number, and those
    that may be named for criteria or for persons. Columns in which every row is in order are no persons'."""
    own = {**guessed.given, **guessed.columns}
    columns = [column.column for column in people]
    if may_be_persons(people) and not {"rater", "criterion"} & {*guessed.columns}:
        persons = {f"ratings.{OVERALL}": ",".join(f"{column}:{column}" for column in columns)}
        criteria = {f"ratings.{criterion}": column for criterion, column in guessed.ratings.items()}
        question = f"are {', '.join(columns)} columns of several people, and not of criteria?"
        raise _two(path, question, {**own, **persons}, {**own, **criteria})
    many = {c: _bare_columns(column) for c, column in guessed.ratings.items() if "," in column}
    if guessed.reading is None or not many or not numbered(people):
        return
    if all(guessed.reading.table.in_order(mine, ("NA",)) for mine in many.values()):
        guessed.columns["rater"] = "=unknown"
        return
    each = {c: _bare_columns(column) for c, column in guessed.ratings.items()}
    named = {
        f"ratings.{c}": ",".join(f"{at}:{column}" for at, column in enumerate(mine, 1)) if c in many else mine[0]
        for c, mine in each.items()
    }
    unnamed = {f"ratings.{c}": ",".join(mine) for c, mine in each.items()}
    names = ", ".join(next(iter(many.values())))
    question = f"does each of the columns {names} hold one person's ratings throughout?"
    raise _two(path, question, {**own, **named}, {**own, **unnamed, "rater": "=unknown"})


def _bare_columns(column: str) -> list[str]:
    return [part.rpartition(":")[2].strip() for part in column.split(",")]


def _two(path: Path, question: str, yes: Mapping[str, Any], no: Mapping[str, Any]) -> TwoReadingsError:
    options = [Advice("{columns}", columns=_typed(way)) for way in (yes, no)]
    return TwoReadingsError(path, question, (options[0], dict(yes)), (options[1], dict(no)))


def _typed(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column for name, column in columns.items() if name != column}


def _refuse_judges(guessed: Guess, path: Path) -> None:
    """DataError where the column of raters names judges too: a dataset's ratings are people's."""
    column = guessed.columns.get("rater", "=")
    if guessed.reading is None or column.startswith("="):
        return
    names = dict.fromkeys(str(value) for value in guessed.reading.table.values(column))
    judges = [name for name in names if named(name).side == "judge"]
    if judges:
        hint = f"judge check {typed(path)} reads both; a dataset holds people's ratings: leave the judge's rows out"
        raise DataError(f"raters {few(judges, 3)} are judges and no people", file=path, column=column, hint=hint)


def _pairs(reading: Reading, twins: Twins, path: Path) -> Guess:
    """The map of a table of comparisons with one column of people's verdicts. Raises TwoReadingsError for codes of two
    meanings, and DataError for verdicts of several people or of judges, which are imported."""
    people = [column for column in twins.verdicts if named(column).side != "judge"]
    if len(people) != 1 or twins.chosen or not fits("text", reading.table.values(twins.first)):
        hint = f"judge import {typed(path)}, then judge rank"
        message = f"compares two stories a row, with verdicts in {', '.join(twins.verdicts)}: no ratings of one story"
        raise DataError(message, file=path, hint=hint)
    fields = {"first": twins.first, "second": twins.second, "preference": people[0]}
    prompt = reading.column("story_prompt")
    fields |= {"story_prompt": prompt} if prompt else {}
    fields |= {"first_system": twins.systems[0], "second_system": twins.systems[1]} if twins.systems else {}
    if len(twins.codes) == 1:
        fields["labels"] = f"={','.join(twins.codes[0])}"
    elif twins.codes:
        first, second = ({**fields, "labels": f"={','.join(code)}"} for code in twins.codes)
        raise _two(path, code_question(twins.codes), first, second)
    return Guess(fields, {}, (), {}, reading)


def options(proposal: Guess) -> str:
    """Hint that ends with the proposed value of the option `columns`, for the user to copy."""
    pairs = [
        *proposal.given.items(),
        *proposal.columns.items(),
        *((f"ratings.{c}", v) for c, v in proposal.ratings.items()),
    ]
    columns = {name: column for name, column in pairs if name != column}
    columns |= {name: "=NAME" if name == "system" else "COLUMN" for name in proposal.wanted}
    first = [
        "copy this and fill in " + " and ".join(proposal.wanted)
        if proposal.wanted
        else "if these columns are right, copy"
    ]
    if "system" in proposal.wanted:
        first.append("write system==NAME where one system wrote all stories")
    if proposal.columns.get("rater") == "=unknown":
        first.append("leave rater==unknown out where each rating column holds the ratings of one person")
    return Advice("{}: {columns}", "; ".join(first), columns=columns)


def proposed(path: Path, sheet: str | None = None, given_columns: Mapping[str, Any] | None = None) -> str:
    """Hint with a map to copy, or both maps where the table can be read in two ways."""
    try:
        return options(guess(path, sheet, given_columns))
    except JudgeError as error:
        return error.hint or ""


def _corrected(given_columns: Mapping[str, Any], present: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    # A name that the table lacks is replaced by the most similar column name.
    fields: dict[str, str] = {}
    ratings: dict[str, str] = {}
    flat = (
        {f"ratings.{c}": v for c, v in given_columns["ratings"].items()}
        if isinstance(given_columns.get("ratings"), Mapping)
        else {}
    )
    for key, column in {**given_columns, **flat}.items():
        if not isinstance(column, str) or key in ("missing", "sheet") or is_key(key):
            continue
        present_column = column.startswith("=") or all(
            part.strip() in present for part in (column, *column.split(",")[1:])
        )
        name = column if present_column or "," in column else nearest(column, present)
        if name is not None:
            (ratings if key.startswith("ratings.") else fields)[key.removeprefix("ratings.")] = name
    return fields, ratings


def _names_raters(column: str, present: Sequence[str]) -> bool:
    # As in ``ann:coh_ann,bob:coh_bob``.
    return all(":" in part and part.strip() not in present for part in column.split(","))


def _columns_of(column: str, present: Sequence[str]) -> Iterator[str]:
    if column in present:
        yield column
        return
    for part in map(str.strip, column.split(",")):
        yield part if part in present else part.rpartition(":")[2].strip()
