"""Reader of a table of comparisons with verdicts by judges and people, as the content of a folder of preferences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError, unknown
from judge.base.fingerprint import digest
from judge.base.records import PREFERRED, Preferred
from judge.base.wording import Advice, typed
from judge.exchange.logs.comparisons import LoggedStory, PreferenceRow
from judge.exchange.logs.tools import PreferencesImport, preferences_of
from judge.inputs.datasets.files.cell_patterns import fits
from judge.inputs.datasets.files.column_map import label
from judge.inputs.datasets.files.column_names import named, stem
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.pair_table import CRITERION, SYSTEM
from judge.inputs.datasets.files.reading import Reading, TwoReadingsError
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells, no_answer
from judge.inputs.datasets.files.table_file import cell, is_column, table_rows
from judge.inputs.datasets.files.verdict_codes import WORDS, code_question, verdict_word

_FIELDS = ("first", "second", "first_id", "second_id", "first_system", "second_system", "story_prompt", "id", "rater")
_SIDES = ("judges", "people")
_SAID = ("labels", "missing", "sheet", "order")


class UnknownSidesError(DataError):
    """Verdicts of which nothing says whether a judge or a person gave them; `judges` and `people` are a proposal."""

    judges: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedMap:
    """Columns of a table of comparisons: those of `fields`, and of verdicts by judges and by people. `words`: what a
    verdict's words mean, beside those of `chosen`, which repeat the cell of one of two columns. `texts`: whether the
    stories' cells are texts, and no ids. `ordered`: the first was shown first."""

    fields: Mapping[str, str]
    judges: Sequence[str]
    people: Sequence[str]
    criterion: str
    words: Mapping[str, Preferred]
    texts: bool
    ordered: bool
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    reading: Reading | None = None
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """What the columns were taken for, each that is not read named."""
        fields = ", ".join(f"{name} {column}" for name, column in self.fields.items())
        used = {*self.fields.values(), *self.judges, *self.people}
        told = self.reading.told(used) if self.reading is not None else []
        by = [f"verdicts of {side}: {', '.join(given)}" for side, given in self.sides if given]
        return [f"read as: {fields}", *by, *told]

    @property
    def sides(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """Columns of verdicts by whose they are."""
        return ("judges", self.judges), ("people", self.people)


def compared_map(path: Path, columns: Mapping[str, Any]) -> ComparedMap | None:
    """The map of a table that compares two stories in each row, None for another. What `columns` do not say is taken
    from the table's reading. Raises TwoReadingsError where codes of verdicts have two meanings, whose choices are
    values of `labels`."""
    said = {key: value for key, value in columns.items() if key not in _SAID}
    sheet = str(columns["sheet"]).removeprefix("=") if columns.get("sheet") else None
    whole = {"first", "second"} <= {*said}
    if any(key not in _FIELDS and key.partition(".")[0] not in _SIDES for key in said) and not whole:
        return None
    missing = str(columns.get("missing") or "").removeprefix("=")
    table = TableCells.at(path, sheet, most=2000, missing=missing.split(",") if missing else ())
    reading = read_columns(table)
    twins = reading.twins
    if twins is None and not whole:
        return None
    fields = {"first": twins.first, "second": twins.second} if twins is not None else {}
    if twins is not None and twins.systems:
        fields |= {"first_system": twins.systems[0], "second_system": twins.systems[1]}
    fields |= {name: column for name in ("story_prompt", "id", "rater") if (column := reading.column(name))}
    if twins is not None and not {"story_prompt", "id"} & {*fields} and (numbers := _pairs_named(reading, fields)):
        fields["id"] = numbers
    fields |= {key: str(value) for key, value in said.items() if key in _FIELDS}
    by_side = {side: _listed(said, side, table.columns) for side in _SIDES}
    criterion = next((key.partition(".")[2] for key in said if key.partition(".")[0] in _SIDES), CRITERION)
    for key in said:
        if key not in _FIELDS and key.partition(".")[0] not in _SIDES:
            allowed = [*_FIELDS, "judges.CRITERION", "people.CRITERION", *_SAID]
            raise SpecError(unknown("column map field", key, allowed))
    if twins is not None and not any(by_side.values()):
        by_side["judges"], by_side["people"] = _sides(twins.verdicts, path)
    for column in (*fields.values(), *by_side["judges"], *by_side["people"]):
        if not is_column(column, table.columns):
            raise DataError(unknown("column", column, table.columns), file=path)
    labels = columns.get("labels") or (twins.codes[0] if twins is not None and len(twins.codes) == 1 else None)
    if labels is None and twins is not None and twins.codes:
        yes, no = (",".join(code) for code in twins.codes)
        options = [Advice("judge import {} {labels}", typed(path), labels=code) for code in (yes, no)]
        raise TwoReadingsError(path, code_question(twins.codes), (options[0], yes), (options[1], no))
    return ComparedMap(
        fields,
        by_side["judges"],
        by_side["people"],
        criterion,
        {**_words(labels), **(twins.words if twins is not None else {})},
        fits("text", table.values(fields["first"])),
        str(columns.get("order", "")).removeprefix("=") == "shown",
        tuple(missing.split(",")) if missing else (),
        sheet,
        reading,
        twins.chosen if twins is not None else {},
    )


def _pairs_named(reading: Reading, fields: Mapping[str, str]) -> str | None:
    """The column that names the pair of each row: one pair of stories for each name, which nobody compares twice."""
    table, rater = reading.table, fields.get("rater")
    pairs = [*zip(*([*map(str, table.values(fields[side]))] for side in ("first", "second")), strict=True)]
    who = [*map(str, table.values(rater))] if rater else [""] * len(pairs)
    for column in table.columns:
        if reading.columns[column].role != "ignored" or not fits("id", table.values(column)):
            continue
        names = [*map(str, table.values(column))]
        if len({*zip(names, pairs, strict=True)}) == len({*names}) and len({*zip(names, who, strict=True)}) == len(
            names
        ):
            return column
    return None


def _listed(said: Mapping[str, Any], side: str, columns: Sequence[str]) -> list[str]:
    """The columns of a side, parted by commas, where a column's own name may hold some."""
    names: list[str] = []
    for value in (str(value) for key, value in said.items() if key.partition(".")[0] == side):
        held = ""
        for part in value.split(","):
            held = f"{held},{part}" if held else part
            if held.strip() in columns:
                names.append(held.strip())
                held = ""
        names += [part.strip() for part in held.split(",")] if held else []
    return names


def _sides(verdicts: Sequence[str], path: Path) -> tuple[list[str], list[str]]:
    """Columns of verdicts by judges and by people. Of those that name neither, one alone beside judges' and those that
    differ in a number, as `author_1`, are people's; DataError where they could be either's."""
    sides = {column: named(column).side for column in verdicts}
    judges = [column for column, side in sides.items() if side == "judge"]
    people = [column for column, side in sides.items() if side == "human"]
    neither = [column for column, side in sides.items() if side is None]
    starts = {_start(column) for column in people} - {""}
    alike = [column for column in neither if _start(column) in starts]
    beside = judges and neither[1:] and len({*map(_start, neither)}) == 1 and _start(neither[0])
    if neither and (len(alike) == len(neither) or beside):
        # Named as people's columns are, by persons whose names are on no list, or alike beside a judge's.
        return judges, [column for column in verdicts if column not in judges]
    stems = [stem(column) for column in neither]
    if judges and neither[1:] and len({re.sub(r"\d+", "#", column) for column in neither}) == 1:
        # Codes that differ in a number are persons', wherever in the name they stand.
        return judges, [column for column in verdicts if column not in judges]
    if judges and all(its is not None and stems.count(its) > 1 for its in stems):
        return judges, [column for column in verdicts if column not in judges]
    if len(neither) > 1 or (neither and people):
        others = [column for column in verdicts if column not in judges]
        words = "say whose verdicts these are: {} {}"
        hint = Advice(
            words,
            Advice("{columns}", columns={f"judges.{CRITERION}": ",".join(judges) or "COLUMN"}),
            Advice(
                "{columns}",
                columns={f"people.{CRITERION}": ",".join(others if judges else others[:1])},
            ),
        )
        names = ", ".join(neither)
        error = UnknownSidesError(f"the verdicts in {names} may be a judge's or a person's", file=path, hint=hint)
        error.judges, error.people = tuple(judges), tuple(others if judges else others[:1])
        raise error
    return judges, people or neither


def _start(column: str) -> str:
    """What stands before the last word of a name: `pref_` of `pref_Kim`."""
    return column[: len(column) - len(re.split(r"[\W_]+", column)[-1])]


def _words(labels: Any) -> Mapping[str, Preferred]:
    if labels is None:
        return WORDS
    given = labels.removeprefix("=").split(",") if isinstance(labels, str) else labels
    words = [" ".join(str(word).casefold().split()) for word in given]
    if len(words) not in (2, 3) or len({*words}) < len(words):
        raise SpecError(Advice("{labels}: verdicts are first,second or first,second,tie", labels=",".join(words)))
    return {code: side for word, side in zip(words, PREFERRED, strict=False) for code in word.split("/")}


def read_compared(path: Path, columns: ComparedMap, name: str, notes: Sequence[str] = ()) -> PreferencesImport:
    """Every verdict of a table of comparisons; an empty cell is a lost one of a judge, and none of a person. Raises
    DataError for a word that is no verdict, with row and column."""
    rows: list[PreferenceRow] = []
    for number, cells in table_rows(path, columns.sheet):
        if no_answer(cells, columns.missing):
            continue
        first, second = (story_in_row(cells, columns, side, path, number) for side in ("first", "second"))
        prompt = text_in_row(cells, columns, "story_prompt") or text_in_row(cells, columns, "id") or f"row {number}"
        rater = text_in_row(cells, columns, "rater")
        judged = rater is not None and named(rater).side == "judge"
        for side, given in (("judges", columns.judges), ("people", columns.people)):
            for column in given:
                value = cell(cells, column)
                empty = is_missing(value, columns.missing)
                by_judge = side == "judges" or judged
                if empty and not by_judge:
                    continue
                preference = None if empty else _verdict(value, cells, columns, path, number, column)
                who = rater if rater is not None and (side == "people") else column
                rows.append(
                    PreferenceRow(
                        number,
                        prompt,
                        first,
                        second,
                        preference=preference,
                        loss="missing" if empty else None,
                        judge=who if by_judge else None,
                        rater=None if by_judge else who,
                    )
                )
    if not {"story_prompt", "id"} & {*columns.fields}:
        notes = [*notes, "no column says what both stories answer: intervals take each pair for independent"]
    return preferences_of(rows, [path], name, columns.criterion, notes, ordered=columns.ordered)


def _verdict(
    value: Any, cells: Mapping[str, Any], columns: ComparedMap, path: Path, row: int, column: str
) -> Preferred:
    first, second = columns.chosen.get(column, (None, None))
    if first is not None and second is not None and value in (cell(cells, first), cell(cells, second)):
        return "first" if value == cell(cells, first) else "second"
    preferred = columns.words.get(verdict_word(label(value)))
    if preferred is None:
        hint = Advice("say which words mean first, second and tie: {labels}", labels="A,B,C")
        allowed = ", ".join(columns.words)
        raise DataError("not a verdict", file=path, row=row, column=column, found=value, allowed=allowed, hint=hint)
    return preferred


def text_in_row(cells: Mapping[str, Any], columns: ComparedMap, name: str) -> str | None:
    value = cell(cells, columns.fields[name]) if name in columns.fields else None
    if isinstance(value, list) and value:
        value = value[0]  # a judge's name, with its prompt's
    return None if is_missing(value, columns.missing) else str(label(value))


def story_in_row(cells: Mapping[str, Any], columns: ComparedMap, side: str, path: Path, row: int) -> LoggedStory:
    """A story by the id that the table gives it; else a hash of prompt and text, or the system's name in its row."""
    value, system = text_in_row(cells, columns, side), text_in_row(cells, columns, f"{side}_system")
    twins = columns.reading.twins if columns.reading is not None else None
    if system is None and twins is not None and twins.called is not None:
        system = twins.called[side != "first"]
    system = system or SYSTEM
    if value is None:
        raise DataError("the cell is empty", file=path, row=row, column=columns.fields[side])
    own = text_in_row(cells, columns, f"{side}_id")
    prompt = text_in_row(cells, columns, "story_prompt") or ""
    if columns.texts:
        return LoggedStory(own or "s-" + digest("\n\n".join((prompt, value)), 6).hex(), system, value)
    if columns.fields.get(f"{side}_system") == columns.fields[side]:
        item = text_in_row(cells, columns, "id") or prompt or str(row)
        return LoggedStory(own or f"{item}~{system}", system)
    return LoggedStory(own or value, system)
