"""Joins two tables by the stories' ids: people's ratings in one, a judge's in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from judge.base.errors import DataError
from judge.base.fingerprint import sha256_file
from judge.base.wording import Advice, changed, few, listed, typed
from judge.exchange.imported_folder import Import
from judge.exchange.tables.checked_table import Checked, check, fault_notes, missing_notes, read_side, untold
from judge.exchange.tables.column_roles import criteria_of, guess_side, side_of
from judge.exchange.tables.side_columns import joined_ids
from judge.exchange.tables.table_roles import ORDER, GivenColumns, Guessed, as_stated, options_of
from judge.inputs.datasets.files.column_names import OVERALL, Side
from judge.inputs.datasets.files.layouts.workbook import SeveralSheetsError
from judge.inputs.datasets.files.reading import TwoReadingsError
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.table_file import is_column

# People's, and a judge's.
_SIDES = 2
_NAMED = 3
# Number of an answer at the end of a story's id.
_RUN = r"[#_./ -]+(?:run|repeat|rep|try|sample)?[ _-]?\d+$"


def check_files(paths: Sequence[Path], given: GivenColumns) -> Checked:
    """A table with ratings of both sides, or two tables, which may be the two sheets of a workbook. Raises what `check`
    and `check_two` raise."""
    if paths[1:]:
        return check_two(paths, given)
    try:
        return check(paths[0], given)
    except SeveralSheetsError as error:
        if len(error.names) != _SIDES:
            raise
        return check_two([*paths, *paths], given, error.names)


def check_two(paths: Sequence[Path], given: GivenColumns, sheets: Sequence[str] = ()) -> Checked:
    """Two tables, one of people's ratings and one of a judge's, joined by the ids of their stories; notes say how many
    are in both. Raises DataError where it cannot be seen which is whose, where the tables share no story, or where
    their criteria cannot be matched. The tables may be two `sheets` of one workbook."""
    named_sheets: Sequence[str | None] = sheets or [given.sheet if path.suffix == ".xlsx" else None for path in paths]
    tables = [
        TableCells.at(path, sheet, missing=given.missing) for path, sheet in zip(paths, named_sheets, strict=True)
    ]
    people, judged = _sides(tables, given)
    name = people.path.stem
    reads: list[tuple[Guessed, Import]] = []
    sides: tuple[tuple[TableCells, Side], ...] = ((people, "human"), (judged, "judge"))
    same = {} if given.story else joined_ids(people, judged)
    beside = criteria_of(judged, _of(judged, given, "judge"))
    for table, side in sides:
        try:
            together = not reads or "+" in reads[0][0].fields.get("story", "")
            said = _of(table, given, side)
            said = replace(said, story=same[side]) if side in same else said
            guessed = guess_side(table, said, side, together=together, beside=beside)
            if side in same:
                guessed = replace(guessed, guessed=(*guessed.guessed, "story"))
        except TwoReadingsError as doubt:
            raise doubt.beside(table.path, paths) from None
        left_out = [column for column in table.columns if column not in guessed.used]
        try:
            reads.append((guessed, read_side(table.path, guessed, left_out, dataset=name)))
        except DataError as error:
            error.hint = _of_both(error.hint, table.path, paths)
            raise
    (guessed, rated), (by_judge, answers) = reads
    rated_frame = rated.frame[rated.frame["source"] == "rater"]
    judged_frame = answers.frame[answers.frame["source"] == "judge"]
    if rated_frame.empty or judged_frame.empty:
        empty = people if rated_frame.empty else judged
        raise DataError("holds no ratings of the side that the other table lacks", file=empty.path)
    judged_frame = _with_criteria(judged_frame, rated_frame, judged.path, people.path)
    judged_frame = _with_runs(judged_frame, {*map(str, rated_frame["story"])})
    notes = _matched(rated_frame, judged_frame, _shown(people), _shown(judged))
    frame = _facts_shared(pd.concat([judged_frame, rated_frame], ignore_index=True))
    stories = _texts([table for table in (rated.stories, answers.stories) if table is not None])
    imported = replace(rated, frame=frame, judge=answers.judge, stories=stories, sources=[people.path, judged.path])
    both = replace(guessed, judges=by_judge.judges, judge_names=by_judge.judge_names)
    sides_read = ((people, guessed), (judged, by_judge))
    told = tuple(f"{_shown(table)}: {line}" for table, its in sides_read for line in its.lines)
    nothing = [f"{_shown(table)}: {line}" for table, its in sides_read for line in missing_notes(its)]
    return Checked(
        people.path,
        imported,
        both,
        len(people.rows) + len(judged.rows),
        sha256_file(people.path),
        told,
        (*notes, *nothing, *fault_notes(imported)),
        untold(imported),
        options_of(_stated(sides_read, given)),
        judged.path,
    )


def _stated(sides: Sequence[tuple[TableCells, Guessed]], given: GivenColumns) -> GivenColumns:
    """What repeats the readings of both tables: the columns of both sides, and every other that means the same in each
    table that has it. Ids of other names are found by their values again."""
    stated = [as_stated(guessed) for _, guessed in sides]
    alike: dict[str, Any] = {}
    for name in (*ORDER, "labels"):
        told = [options[name] for options in stated if options.get(name) is not None]
        holders = [table for table, _ in sides if told and (name == "labels" or is_column(told[0], table.columns))]
        alike[name] = told[0] if len({*told}) == 1 and (len(told) == len(holders) or name == "labels") else None
    words = [word for table, guessed in sides for word in _own_words(table, guessed)]
    people, judge = sides[0][1], stated[1]["judge"]
    positions = people.positions and not given.human
    return replace(
        given, **alike, human=stated[0]["human"], judge=judge, missing=tuple(dict.fromkeys(words)), positions=positions
    )


def _own_words(table: TableCells, guessed: Guessed) -> list[str]:
    """Words for no rating as those of the columns that hold them: in the other table they may be ratings."""
    columns = [column.column for column in (*guessed.judges, *guessed.people)]
    return [
        word if "=" in word else f"{column}={word}"
        for word in guessed.missing
        for column in ([""] if "=" in word else columns)
        if not column or word in table.written(column)
    ]


def _of_both(hint: str | None, path: Path, paths: Sequence[Path]) -> str | None:
    """A hint about one of two tables: its commands name both."""
    both = " ".join(map(typed, paths))
    return None if hint is None else changed(hint, lambda text: both if text == typed(path) else text)


def _sides(tables: Sequence[TableCells], given: GivenColumns) -> tuple[TableCells, TableCells]:
    """The table of people and that of the judge."""
    first, second = tables
    stated = [{column.rpartition("=")[2] for column in names} for names in (given.human, given.judge)]
    sides: list[Side | None] = []
    for table in tables:
        here = [bool(names & {*table.columns}) for names in stated]
        sides.append("human" if here == [True, False] else "judge" if here == [False, True] else side_of(table))
    if sides in (["human", "judge"], ["human", None], [None, "judge"]):
        return first, second
    if sides in (["judge", "human"], ["judge", None], [None, "human"]):
        return second, first
    message = f"it cannot be seen which of {_shown(first)} and {_shown(second)} holds people's ratings"
    hint = Advice(
        "either judge check {} {} {} {}",
        typed(first.path),
        typed(second.path),
        Advice("{human}", human="COLUMN"),
        Advice("{judge}", judge="COLUMN"),
    )
    raise DataError(message, hint=hint)


def _of(table: TableCells, given: GivenColumns, side: Side) -> GivenColumns:
    """What was said about the columns of one of the tables."""
    kept: dict[str, Any] = {}
    for each in fields(GivenColumns):
        value = getattr(given, each.name)
        if isinstance(value, str) and each.name not in ("labels", "sheet") and not is_column(value, table.columns):
            value = None
        kept[each.name] = value
    kept["judge" if side == "human" else "human"] = ()
    kept["sheet"] = table.sheet
    return GivenColumns(**kept)


def _with_criteria(judged: pd.DataFrame, rated: pd.DataFrame, path: Path, people: Path) -> pd.DataFrame:
    """The judge's ratings with the criteria spelled as people's. Where one table names no criterion, that of the other
    is taken if it is the only one; DataError where no criterion is in both."""
    theirs, own = ([str(name) for name in frame["criterion"].unique()] for frame in (rated, judged))
    spelled = {name.casefold(): name for name in theirs}
    if len(theirs) == len(own) == 1 and OVERALL in (*theirs, *own):
        return judged.assign(criterion=theirs[0])
    common = [name for name in own if name.casefold() in spelled]
    if not common:
        message = f"rates {few(own, _NAMED)}, and {people.name} {few(theirs, _NAMED)}: no criterion is in both"
        words = "give the criteria the same names in both tables"
        persons = Advice("{}; where people's columns are persons: {}", words, _human(theirs))
        raise DataError(message, file=path, hint=persons if theirs[1:] and not own[1:] else words)
    return judged.assign(criterion=[spelled.get(str(name).casefold(), str(name)) for name in judged["criterion"]])


def _with_runs(judged: pd.DataFrame, stories: set[str]) -> pd.DataFrame:
    """The judge's ratings; where its ids are people's with a number behind, as `s1#run0`, these number repeats."""
    own = judged["story"].map(str)
    bare = own.str.replace(_RUN, "", regex=True)
    if own.isin(stories).any() or not bare.isin(stories).all() or judged["repeat"].notna().any():
        return judged
    judged = judged.assign(story=bare)
    numbers = judged.groupby(["judge", "eval_prompt", "criterion", "story"], observed=True).cumcount()
    return judged.assign(repeat=numbers.astype("Int64"))


def _human(names: Sequence[str]) -> str:
    return listed([Advice("{human}", human=name) for name in names], " ")


def _shown(table: TableCells) -> str:
    return table.sheet or table.path.name


def _matched(rated: pd.DataFrame, judged: pd.DataFrame, people: str, judge: str) -> list[str]:
    theirs, own = ({*map(str, frame["story"])} for frame in (rated, judged))
    both = theirs & own
    examples = f"{people}: {few(sorted(theirs), _NAMED)}; {judge}: {few(sorted(own), _NAMED)}"
    if not both:
        raise DataError(f"no story's id is in both tables ({examples})", hint=Advice("{story}", story="COLUMN"))
    notes = [f"joined by id: {len(both):,} of {len(theirs):,} stories of {people} are in {judge}"]
    for name, alone in ((people, theirs - own), (judge, own - theirs)):
        notes += [f"only in {name}: {len(alone):,} stories ({few(sorted(alone), _NAMED)})"] if alone else []
    return notes


def _facts_shared(frame: pd.DataFrame) -> pd.DataFrame:
    """Systems and story-prompts that one table tells, for both tables' rows."""
    for column, unknown in (("system", "-"), ("story_prompt", None)):
        known = frame[frame[column].notna() & (frame[column] != "-")].drop_duplicates("story")
        by_story = dict(zip(known["story"], known[column], strict=True))
        frame[column] = [by_story.get(story, unknown) for story in frame["story"]]
    return frame


def _texts(tables: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    return pd.concat(tables, ignore_index=True).drop_duplicates("story") if tables else None
