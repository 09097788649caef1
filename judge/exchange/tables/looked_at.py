"""First look of `judge check` at one table or several: a judge's ratings beside people's, or what else they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judge.base.errors import SpecError
from judge.exchange.imported_folder import Import
from judge.exchange.tables.checked_table import Checked, read_side
from judge.exchange.tables.column_roles import ComparedTableError, PeopleAloneError, guess_side
from judge.exchange.tables.counted import Counted, of_people, people_alone
from judge.exchange.tables.counted_verdicts import compared_counts, label_counts, rank_counts
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_files
from judge.inputs.datasets.files.column_labels import RankedTableError, UnorderedLabelsError
from judge.inputs.datasets.files.column_names import named
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.layouts.survey_rows import shared_ends
from judge.inputs.datasets.files.table_cells import TableCells

# People's, and a judge's.
_MOST_TABLES = 2


def looked_at(paths: Sequence[Path], given: GivenColumns) -> Checked | Counted:
    """A table of ratings by a judge and by people, or two; else what a table without these holds. Raises what
    `check_files` raises for a table that is none of these, and SpecError for more tables than are joined."""
    if paths[1:] and (alone := _one_a_rater(paths, given)) is not None:
        return alone
    if len(paths) > _MOST_TABLES:
        words = "people's and a judge's; several of people's alone have the same columns and a rater each"
        raise SpecError(f"{len(paths)} tables: judge check takes one, or {words}")
    try:
        if given.labels and not any(map(str.isalpha, given.labels)):
            return compared_counts(paths[0], given)  # codes of verdicts
        return check_files(paths, given)
    except PeopleAloneError as alone_error:
        return people_alone(paths[0], alone_error.guessed)
    except (ComparedTableError, UnorderedLabelsError, RankedTableError) as error:
        if paths[1:]:
            raise
        if isinstance(error, UnorderedLabelsError):
            return label_counts(error, given)
        return rank_counts(error, given) if isinstance(error, RankedTableError) else compared_counts(paths[0], given)


# A file for each rater, whose name the file's name tells.


def _one_a_rater(paths: Sequence[Path], given: GivenColumns) -> Counted | None:
    """Files with the same columns, none a judge's or of raters' names, and the same stories; None for others."""
    tables = [TableCells.at(path, given.sheet, missing=given.missing) for path in paths]
    if len({table.columns for table in tables}) > 1 or given.judge or given.rater:
        return None
    readings = [read_columns(table) for table in tables]
    for reading in readings:
        sided = {column.side for column in reading.ratings()}
        if reading.column("rater") is not None or sided - {None} or reading.column("id") is None:
            return None
    names = _different_names(paths)
    if any(named(name).side == "judge" for name in names) or len({*names}) < len(paths):
        return None
    imports: list[Import] = []
    lines: list[str] = []
    guessed = None
    for table, name in zip(tables, names, strict=True):
        guessed = guess_side(table, given, "human")
        lines = guessed.lines
        guessed = replace(guessed, fields={**guessed.fields, "rater": f"={name}"})
        left_out = [column for column in table.columns if column not in guessed.used]
        imports.append(read_side(table.path, guessed, left_out, dataset=paths[0].stem))
    if guessed is None:
        return None
    stories = [{*imported.frame["story"]} for imported in imports]
    if not set.intersection(*stories):
        return None
    frame = pd.concat([imported.frame for imported in imports], ignore_index=True)
    lines = [f"a file is a rater's, by its name: {', '.join(names)}", *lines]
    notes = [f"joined by {guessed.fields['story']}: {len(set.intersection(*stories)):,} stories are in every file"]
    return of_people(paths, replace(imports[0], frame=frame), lines, notes, guessed)


def _different_names(paths: Sequence[Path]) -> list[str]:
    stems = [path.stem for path in paths]
    start, end = shared_ends(stems)
    names = [stem[start : len(stem) - end].strip(" _-.()") for stem in stems]
    return [name or stem for name, stem in zip(names, stems, strict=True)]
