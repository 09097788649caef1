"""Reads a user's table of ratings with the guessed roles of its columns, and collects notes on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from judge.base.errors import DataError
from judge.base.fingerprint import sha256_file
from judge.base.records import Rating, Story
from judge.base.wording import Advice, Note, typed
from judge.exchange.imported_folder import Import
from judge.exchange.ratings_file import read_ratings
from judge.exchange.tables.column_roles import guess
from judge.exchange.tables.table_roles import NO_COLUMN, GivenColumns, Guessed, as_stated, options_of
from judge.inputs.datasets.faults import faults
from judge.inputs.datasets.files.column_evidence import WORDS_ALONE
from judge.inputs.datasets.files.column_names import bare
from judge.inputs.datasets.files.column_words import TITLES_OF_TEXTS
from judge.inputs.datasets.files.layouts.workbook import SeveralSheetsError
from judge.inputs.datasets.files.source_file import is_missing
from judge.inputs.datasets.files.table_cells import TableCells

# Gaps in imported ratings: what data are missing, what cannot be computed without them, and what would supply them.


@dataclass(frozen=True, slots=True)
class Untold:
    """A gap in imported ratings: what is `missing`, what `therefore` cannot be computed, and what `closes` the gap."""

    missing: str
    therefore: str
    closes: str

    @property
    def sentence(self) -> str:
        return f"{self.missing[:1].upper()}{self.missing[1:]}: {self.therefore}."


def untold(imported: Import) -> tuple[Untold, ...]:
    """Gaps in imported data, those with the largest consequences first."""
    frame = imported.frame
    judged, people = frame[frame["source"] == "judge"], frame[frame["source"] == "rater"]
    return (*_of_bars(imported, people), *_of_stories(frame), *_of_judges(judged))


def _of_bars(imported: Import, people: pd.DataFrame) -> Iterator[Untold]:
    if imported.stories is None or not imported.stories["text"].notna().any():
        yield Untold(
            "no texts",
            "there is no control, so it is not known whether the judge does better than one that uses length alone",
            "a column of the stories' texts",
        )
    if people.empty:
        yield Untold("no people's ratings", "agreement with people cannot be computed", "columns of people's ratings")
    elif people["rater"].isna().all():
        yield Untold(
            "no raters' names for people's ratings",
            "one more person cannot be set beside the judge: how well people agree is not known",
            "a column for each person, or a column of raters",
        )
    elif len(people["rater"].unique()) == 1:
        yield Untold(
            "one column of people's ratings",
            "beside one person, or a mean, one more person is not known: how well people agree cannot be told",
            "a column for each person, or a column of raters",
        )


def _of_stories(frame: pd.DataFrame) -> Iterator[Untold]:
    if frame["story_prompt"].isna().all():
        yield Untold(
            "no story-prompts",
            "intervals treat stories as independent, and are too narrow where several answer one prompt",
            "a column of story-prompts, or of what else stories share",
        )
    if len(frame["system"].unique()) < 2:
        yield Untold(
            "no systems",
            "results by system, the systems' order and a judge's preference for one of them cannot be computed",
            "a column of who wrote each story",
        )


def _of_judges(judged: pd.DataFrame) -> Iterator[Untold]:
    lost = int(judged["rating"].isna().sum())
    if lost:
        yield Untold(
            f"why {lost:,} of the judge's {len(judged):,} ratings are empty",
            "a refusal, a cut answer and one that was not understood look alike; all count as without a rating",
            "a column status, or the tool's own log",
        )
    if judged["repeat"].isna().all():
        yield Untold(
            "no repeats",
            "the judge's agreement with itself is not known",
            "several ratings of each story by the same judge",
        )
    if (judged["eval_prompt"] == "-").all():
        yield Untold(
            "no record of how the judge was prompted",
            "model version, prompt, temperature and what failed on the way cannot be reported",
            "the run's own log, or a run of this program",
        )


# Start of a note on what looks wrong.
LOOK = "look at this:"

# Labels at the most, and how often each occurs at the least.
_MOST_LABELS, _LEAST_OF_LABEL = 7, 3
# Criteria that a table of fewer stories may have.
_CRITERIA = 10
# Status of a judge's empty cells: the file does not say why they are.
UNRATED = "no_rating"


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A checked table: ratings, columns' roles, these in sentences (`reading`), notes, and what cannot
    be computed (`untold`). `options` repeat the reading."""

    path: Path
    ratings: Import
    columns: Guessed
    rows: int
    digest: str
    reading: tuple[str, ...]
    notes: tuple[str, ...]
    untold: tuple[Untold, ...]
    options: str
    beside: Path | None = None
    """The second table, which holds the judge's ratings."""

    @property
    def guessed(self) -> bool:
        """Whether the role of any of the table's columns was guessed."""
        return bool(self.columns.guessed)


def check(path: Path, given: GivenColumns | None = None) -> Checked:
    """A table of ratings by a judge and by people, checked. Raises DataError if no judge or no human rater can be
    identified, a cell holds no rating, or rows contradict each other; SpecError for an option that has no effect in
    combination with the others."""
    given = given or GivenColumns()
    try:
        table = TableCells.at(path, given.sheet, given.labels, missing=given.missing)
    except SeveralSheetsError as error:
        words = (
            "write people's and a judge's ratings in one sheet, or in two that share the stories' ids; or name the "
            "sheet that holds both: judge check {} {sheet}"
        )
        error.hint = Advice(words, typed(path), sheet="NAME")
        raise
    columns = guess(table, given)
    left_out = [name for name in table.columns if name not in columns.used]
    table_read = read_side(path, columns, left_out)
    _ask_about_criteria(table_read, columns)
    return Checked(
        path,
        table_read,
        columns,
        len(table.rows),
        sha256_file(path),
        tuple(_reading(columns, left_out)),
        (*fault_notes(table_read), *_notes(table, columns, given)),
        untold(table_read),
        columns.options,
    )


def _ask_about_criteria(imported: Import, columns: Guessed) -> None:
    """DataError where a column that was guessed to hold the criteria names more of them than there are stories."""
    criteria, stories = (imported.frame[name].nunique() for name in ("criterion", "story"))
    reading, column = columns.reading, columns.fields.get("criterion")
    if reading is None or column is None or "criterion" not in columns.guessed or criteria <= max(stories, _CRITERIA):
        return
    path, said = typed(reading.table.path), replace(columns.given, **as_stated(columns))
    yes = Advice("judge check {} {}", path, options_of(said))
    no = Advice("judge check {} {}", path, options_of(replace(said, criterion=None, comments=column)))
    message = f"names {criteria} criteria of {stories} stories: does it name criteria, and is no remark on a story?"
    raise DataError(message, file=reading.table.path, column=column, hint=Advice("if yes: {}\nif no: {}", yes, no))


def read_side(path: Path, columns: Guessed, left_out: Sequence[str], *, dataset: str | None = None) -> Import:
    """The ratings of a table by the roles of its columns. Errors' hints name options of `judge check`."""
    try:
        return read_ratings(
            path,
            dataset=dataset,
            columns=columns.column_map(),
            leave_out=left_out,
            number_repeats=columns.given.number_repeats,
            unrated=UNRATED,
            # Scores between the points of a scale are one reading too: nobody said that they are means of repeats.
            ratings="single",
        )
    except DataError as error:
        said = error.hint.options.get("columns") if isinstance(error.hint, Advice) else None
        if isinstance(said, Mapping) and len(said) == 1 and said.keys() <= _SENTENCES.keys():
            ((name, value),) = said.items()
            words = str(value).removeprefix("=")
            said_words = options_of(replace(columns.given, labels=None) if name == "labels" else columns.given)
            command = f"judge check {typed(path)}"
            command = Advice("{} {}", command, said_words) if said_words else command
            error.hint = Advice(f"{_SENTENCES[name]}: {{}} {{{name}}}", command, **{name: words})
        raise


# What `judge check` may be told of a cell that is no rating.
_SENTENCES = {
    "missing": "where it means that no rating was given",
    "labels": "where the ratings are labels, say which, the lowest first",
}


def fault_notes(imported: Import) -> list[str]:
    """Notes on what looks wrong in people's ratings, in the judges', and in the texts."""
    frame, texts = imported.frame, {}
    if imported.stories is not None:
        texts = dict(zip(imported.stories["story"], imported.stories["text"], strict=True))
    sentences: dict[str, None] = {}
    for source, who in (("rater", "rater"), ("judge", "judge")):
        rows = frame[(frame["source"] == source) & frame["rating"].notna()]
        given: dict[str, list[Rating]] = {str(story): [] for story in texts}
        for story, criterion, value, name in zip(
            rows["story"], rows["criterion"], rows["rating"], rows[who], strict=True
        ):
            rater = None if pd.isna(name) else str(name)
            given.setdefault(str(story), []).append(Rating(str(criterion), float(value), rater))
        stories = (
            Story(story, "", "-", str(texts.get(story) or ""), ratings=tuple(ratings))
            for story, ratings in given.items()
        )
        sentences |= dict.fromkeys(faults(stories, imported.criteria))
    return [f"{LOOK} {sentence}" for sentence in (*sentences, *_off_peoples_scale(frame))]


# Share of a judge's ratings on people's scale from which on the others are told.
_ON_SCALE = 0.8


def _off_peoples_scale(frame: pd.DataFrame) -> Iterator[str]:
    """Sentences on the few ratings of a judge that lie off the scale on which people, and mostly the judge, rate."""
    rated = frame[frame["rating"].notna()]
    people = rated[rated["source"] == "rater"]
    for (judge, criterion), rows in rated[rated["source"] == "judge"].groupby(["judge", "criterion"], sort=False):
        theirs = people.loc[people["criterion"] == criterion, "rating"]
        if theirs.empty:
            continue
        low, high = math.floor(theirs.min()), math.ceil(theirs.max())
        off = rows.loc[(rows["rating"] < low) | (rows["rating"] > high), "rating"]
        if 0 < len(off) <= (1 - _ON_SCALE) * len(rows):
            values = ", ".join(f"{value:g}" for value in sorted({*off})[:3])
            scale = f"people's scale of {criterion} ({low:g}-{high:g})"
            yield f"{len(off):,} of {len(rows):,} ratings by {judge} lie off {scale}: {values}"


def missing_notes(columns: Guessed) -> list[str]:
    """A note on the words and numbers that were taken for no rating."""
    return [f"read as no rating: {', '.join(map(repr, columns.missing))}"] if columns.missing else []


def label_notes(columns: Guessed) -> Iterator[str]:
    """Notes on columns of few words that raters gave to each story beside their ratings: labels without an order."""
    rater, story, reading = columns.fields.get("rater"), columns.fields.get("story"), columns.reading
    if rater is None or story is None or reading is None:
        return
    table = reading.table
    for column, read in reading.columns.items():
        words = Counter(str(value) for value in table.values(column) if not is_missing(value, ()))
        few = 1 < len(words) <= _MOST_LABELS and min(words.values()) >= _LEAST_OF_LABEL
        if column in columns.used or read.because != WORDS_ALONE or not few:
            continue
        given: dict[str, dict[str, str]] = {}
        for item, who, word in zip(table.values(story), table.values(rater), table.values(column), strict=True):
            given.setdefault(str(item), {})[str(who)] = str(word)
        several = [list(its.values()) for its in given.values() if len(its) > 1]
        if sum(map(len, given.values())) < len(table.rows) or all(len({*its}) == 1 for its in several):
            continue  # of the story, and not of who rated it
        if len({(who, word) for its in given.values() for who, word in its.items()}) == len(
            {who for its in given.values() for who in its}
        ):
            continue  # of the rater
        same = sum(len({*its}) == 1 for its in several)
        counts = ", ".join(f"{word} {count:,}" for word, count in words.most_common())
        yield (
            f"{column} holds {words.total():,} labels without an order by {rater}: {counts}; all who labelled a story "
            f"agree on {same:,} of {len(several):,}; they are counted here alone"
        )


def _reading(columns: Guessed, left_out: Sequence[str]) -> Iterator[str]:
    """What the columns were taken for; every one that is not read is named."""
    yield from columns.lines
    if columns.reading is None and left_out:
        yield f"not read: {', '.join(left_out)}"
    if any(f"({WORDS_ALONE})" in line for line in columns.lines):
        names = {"by": "COLUMN", "story": "COLUMN", "rater": "COLUMN"}
        yield Advice("{by}, {story} or {rater} names what is in a column of words", **names)


def _notes(table: TableCells, columns: Guessed, given: GivenColumns) -> list[str]:
    notes = []
    twice = table.repeated_rows(sorted(columns.used)) if columns.form == "columns" else 0
    if twice:
        meaning = (
            "they count once" if "story" in columns.fields else "each is a story of its own, as no column holds ids"
        )
        notes.append(f"{twice:,} of {len(table.rows):,} rows equal another row in every column that is read: {meaning}")
    if columns.form == "columns" and "story" not in columns.fields:
        notes.append("no column holds an id for each story: stories are numbered by rows")
    prompt = columns.fields.get("prompt", "")
    if "prompt" in columns.guessed and bare(prompt) in TITLES_OF_TEXTS:
        advice = Advice("where stories do not answer it: {prompt}", prompt=NO_COLUMN)
        notes.append(Note(f"{prompt} is read as the story-prompt", advice, joint="; "))
    if columns.positions and not given.positions:
        notes.append("in every row people's columns are in order: they hold sorted answers, not one person each")
    elif not columns.positions and "rater" not in columns.fields and len({column.who for column in columns.people}) > 1:
        meaning = "each column of people's ratings is read as one person's"
        advice = Advice("where columns are the first, second, ... answer and not persons: {positions}", positions=True)
        notes.append(Note(meaning, advice, joint="; "))
    return [*notes, *label_notes(columns), *missing_notes(columns)]
