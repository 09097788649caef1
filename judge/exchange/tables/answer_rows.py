"""Tables whose rows are a judge's answers, whom a column names, and tables whose rows are errors that people found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from judge.base.errors import DataError
from judge.exchange.ratings_rows import OWN, is_parsed, story_columns
from judge.exchange.tables.side_columns import answered
from judge.exchange.tables.table_roles import GivenColumns, Guessed, RatingColumn, distinct
from judge.inputs.datasets.files.column_evidence import REPEATS
from judge.inputs.datasets.files.column_names import bare, named, named_column, without_means
from judge.inputs.datasets.files.column_reader import read_columns
from judge.inputs.datasets.files.reading import Reading, Role
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells
from judge.ratings.ratings_table import COLUMNS

# Names of columns of errors' severities, and the weights that scores customarily take.
_SEVERITIES = frozenset(("severity", "severities", "schwere", "gravite", "gravedad"))
_WEIGHTS: Mapping[str, int] = {"critical": 25, "major": 5, "minor": 1}
# Kinds of raters at the most.
_MOST_KINDS = 4
# Eval-Prompts at the most that a column names.
_MOST_ASKED = 12

_OURS = frozenset({"story", "criterion", "rating", "source"})


def parsed(table: TableCells, fields: dict[str, str], given: GivenColumns) -> Guessed:
    """The interpretation of a table of parsed answers: a judge's ratings in rows, and people's in columns that were
    passed through."""
    known = {column: column for column in fields.values()}
    reading = read_columns(table, {"id": fields["story"]}, known)
    more: tuple[Role, ...] = ("system", "story_prompt", "text")
    for name in more:
        column = reading.column(name)
        if name not in fields and column is not None and column not in known:
            if name == "system" and answered(table, column, fields["story"]):
                fields |= {} if {"judge", "rater"} & {*fields} else {"judge": column}
            else:
                fields[name] = column
    used = {*fields.values()}
    criteria = {str(value).casefold() for value in table.values("criterion")} if "criterion" in fields else set()
    people = without_means([c for c in reading.ratings() if c.side == "human" and c.column not in used])
    owns = [c.criterion if c.criterion and c.criterion.casefold() in criteria else OWN for c in people]
    columns = [RatingColumn(c.column, own, c.who) for c, own in zip(people, owns, strict=True)]
    rated = tuple(distinct(columns))
    missing = table.words_for_nothing([column.column for column in rated])
    labels = _labels_of(table) if "label" in table.columns else None
    kept = GivenColumns(sheet=given.sheet, number_repeats=given.number_repeats, labels=labels)
    if labels is None and "label" in fields:
        del fields["label"]
    return Guessed("ours", fields, kept, people=rated, missing=missing, reading=reading)


def _labels_of(table: TableCells) -> str | None:
    """The labels of parsed answers, which stand beside their codes; None where some code never occurs."""
    pairs = zip(table.values("rating"), table.values("label"), strict=True)
    words = {float(code): str(word) for code, word in pairs if not is_missing(code, ()) and not is_missing(word, ())}
    codes = sorted(words)
    return ",".join(words[code] for code in codes) if codes == [float(at) for at in range(len(codes))] != [] else None


def ours(table: TableCells) -> dict[str, str]:
    """Columns of a table that `judge ratings` or `judge parse` wrote; empty where neither did."""
    is_answers = is_parsed(table.columns)
    if not is_answers and not {*table.columns} >= _OURS:
        return {}
    fields = {name: name for name in (*COLUMNS, "panel", "label", "text") if name in table.columns}
    fields |= story_columns(table.path, table.columns) if is_answers else {}
    return fields if "story" in fields else {}


def by_kind(table: TableCells, rater: str) -> tuple[str, ...]:
    """The raters that a column beside their names calls a model's, where it calls others people: `llm` and `human`."""
    for column in table.columns:
        if column == rater or table.holds_ratings(column):
            continue
        kinds: dict[str, set[str]] = {}
        for who, kind in zip(table.values(rater), table.values(column), strict=True):
            if not is_missing(who, ()):
                kinds.setdefault(str(who), set()).add(str(kind).strip())
        words = set().union(*kinds.values()) if kinds else set()
        if not 1 < len(words) <= _MOST_KINDS or any(len(kind) > 1 for kind in kinds.values()):
            continue
        sides = {word: named(word).side for word in words}
        plain = all(not any(map(str.isdigit, word)) for word in words)
        if plain and {*sides.values()} == {"judge", "human"} and len(kinds) > len(words) - 1:
            return tuple(who for who, kind in kinds.items() if sides[next(iter(kind))] == "judge")
    return ()


def judges_in_a_column(reading: Reading, used: Collection[str]) -> str | None:
    """The column that names the judge of each row, where no column names persons: its name and all of its cells are a
    language model's, and rows of one story have several."""
    table, story = reading.table, reading.column("id")
    if story is None or reading.column("rater") is not None:
        return None
    for column, read in reading.columns.items():
        if column in used or read.role != "ignored" or read.named.side != "judge" or table.holds_ratings(column):
            continue
        names = {str(value) for value in table.values(column)}
        if all(named(name).side == "judge" for name in names) and answered(table, column, story):
            return column
    return None


def with_judges_in_a_column(guessed: Guessed, reading: Reading) -> Guessed:
    """The interpretation of a table whose rows are a judge's answers, with people's ratings repeated beside them: who
    answered, to which Eval-Prompt, and in which repeat."""
    table, story = reading.table, guessed.fields.get("story")
    column = judges_in_a_column(reading, guessed.used) if guessed.judges else None
    if column is None or story is None or "criterion" in guessed.fields or "rater" in guessed.fields:
        return guessed
    if len({rated.criterion for rated in guessed.judges}) < len(guessed.judges):
        return guessed
    fields = {**guessed.fields, "judge": column}
    known = [story, column]
    repeat = next((c for c in table.columns if bare(c) in REPEATS and c not in guessed.used), None)
    others = [
        c
        for c in table.columns
        if c not in guessed.used | {column, repeat} and reading.columns[c].role == "ignored" and _few_words(table, c)
    ]
    for asked in (None, *others):
        keys = [*known, *filter(None, (asked, repeat))]
        cells = [[*map(str, table.values(key))] for key in keys]
        if len({*zip(*cells, strict=True)}) == len(table.rows):
            fields |= {"eval_prompt": asked} if asked is not None else {}
            fields |= {"repeat": repeat} if repeat is not None else {}
            break
    else:
        guessed = replace(guessed, given=replace(guessed.given, number_repeats=True))
    return replace(guessed, fields=fields, guessed=(*guessed.guessed, "repeat", "eval_prompt"))


def called_by_a_column(guessed: Guessed, reading: Reading) -> Guessed:
    """The interpretation with the judge's name from a column that is the same in every row, names a model, and is named
    as the judge's columns are: `llm_name` beside `llm_style`."""
    names = {named(column.column).who for column in guessed.judges}
    criteria = [column.criterion for column in guessed.judges]
    if "judge" in guessed.fields or len(names) != 1 or len({*criteria}) < len(criteria):
        return guessed
    for column, read in reading.columns.items():
        words = {str(value).strip() for value in reading.table.values(column)}
        if read.role != "ignored" or len(words) != 1 or read.named.who not in names:
            continue
        (word,) = words
        if named(word).side == "judge" and not word.replace(".", "").isdigit():
            return replace(guessed, judges=tuple(replace(judge, who=word) for judge in guessed.judges))
    return guessed


def _few_words(table: TableCells, column: str) -> bool:
    values = [str(value) for value in table.values(column) if not is_missing(value, ())]
    return len(values) == len(table.rows) and 1 < len({*values}) <= _MOST_ASKED and not table.holds_ratings(column)


def errors_in_rows(reading: Reading) -> DataError | None:
    """The error for a table with a row for each error that a person found, whose severities are words."""
    table = reading.table
    severity = next((c for c in table.columns if bare(c) in _SEVERITIES and not table.holds_ratings(c)), None)
    if severity is None:
        return None
    words = {str(value).strip() for value in table.values(severity) if not is_missing(value, ())}
    if not {word.casefold() for word in words} & {"major", "minor"}:
        return None
    ids = [c for c in table.columns if named_column("id", [c]) or bare(c).endswith("id")]
    keys = list(dict.fromkeys(filter(None, (reading.column("rater"), reading.column("system"), *ids))))
    scores = table.path.with_suffix(".scores.csv").name
    weights = ", ".join(f"{word!r}: {_WEIGHTS.get(word.casefold(), 0)}" for word in sorted(words))
    message = (
        f"a row is an error that was found (severities {', '.join(sorted(words))} in {severity}). No column holds a "
        "rating: a score takes weights, customarily Major 5 and Minor 1, summed for each rater and text"
    )
    separator = "\\t" if table.path.suffix == ".tsv" else ","
    code = (
        f"import pandas as pd; d = pd.read_csv({str(table.path)!r}, sep={separator!r}, quoting=3); "
        f"d['penalty'] = d[{severity!r}].map({{{weights}}}); "
        f"d.groupby({keys}, as_index=False).penalty.sum().to_csv({scores!r}, index=False)"
    ).replace("'\\\\t'", "'\\t'")
    hint = f'with these weights: python -c "{code}", then judge check {scores}'
    return DataError(message, file=table.path, hint=hint)
