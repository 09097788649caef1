"""Guesses a column map from a table's column names and cells, as a proposal that the user confirms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError, nearest
from judge.base.late_pattern import late
from judge.base.wording import Advice
from judge.inputs.datasets.dataset import is_key
from judge.inputs.datasets.files.pair_table import proposal
from judge.inputs.datasets.files.source_file import RatingPlace, is_missing, ratings_in
from judge.inputs.datasets.files.table_file import cell, has_decimal_commas, table_columns, table_rows

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
_LOOKED_AT = 200

# Field -> names that files give it, likeliest first, in small letters without blanks and marks.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "storyid", "sid", "itemid", "exampleid", "uid", "key"),
    "text": (
        *("text", "story", "storytext", "generatedstory", "generatedtext", "generation", "generated", "output"),
        *("response", "completion", "continuation", "prediction", "candidate", "hypothesis", "content", "body"),
    ),
    "system": ("system", "model", "modelname", "systemname", "modelid", "systemid", "generator", "source", "author"),
    "story_prompt": ("storyprompt", "prompt", "writingprompt", "instruction", "input", "premise", "context", "title"),
    "reference": ("reference", "human", "humanstory", "gold", "goldstory", "goldresponse", "ref", "target"),
    "rater": (
        "rater",
        "raterid",
        "worker",
        "workerid",
        "annotator",
        "annotatorid",
        "participant",
        "userid",
        "user",
        "who",
    ),
    "criterion": ("criterion", "criteria", "aspect", "dimension", "attribute", "metric", "quality"),
    "rating": ("rating", "score", "value", "label", "stars", "likert"),
}

COUNTS = late(
    r"(?:length|words|tokens|chars|time|seconds|year|date|index|idx|seed|votes|len|count|rank)|id$|^age$|^n$|^no$"
)
_NUMBERED = late(r"^(.*?)[ _.-]*(?:\d+|[a-e])$", re.IGNORECASE)
_PERSON = late(r"^(?:rater|worker|annotator|judge|person|human|r|a|w|reader|expert|participant)$", re.IGNORECASE)
# Characters of a story at the least, values of a rating at the most, and how far from 0 a rating lies.
_LONG, _MOST_POINTS, _FARTHEST = 40, 25, 100


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposed map: fields' and criteria's columns. `wanted` are required fields without one, `given` the user's
    entries."""

    columns: Mapping[str, str]
    ratings: Mapping[str, str]
    wanted: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    def as_map(self) -> dict[str, Any]:
        """The proposed column map in the format of run.yaml."""
        return {**self.columns, **({"ratings": dict(self.ratings)} if self.ratings else {})}


def guess(path: Path, sheet: str | None = None, given_columns: Mapping[str, Any] | None = None) -> Guess:
    """A map guessed from column names and the first rows' cells. Columns that the user gave and the table has are
    kept."""
    present = table_columns(path, sheet)
    rows = [cells for _, cells in islice(table_rows(path, sheet), _LOOKED_AT)]
    values = {name: [cell(row, name) for row in rows] for name in present}
    comma = has_decimal_commas(path)
    fields, ratings = _corrected(given_columns or {}, present)
    taken = {*fields.values(), *(name for column in ratings.values() for name in _columns_of(column, present))}
    for name in _NAMES:
        if name in fields or name in ("criterion", "rating"):
            continue
        free = [column for column in present if column not in taken and fits(name, values[column])]
        match = named_column(name, free) or (_longest(free, values) if name == "text" else None)
        if match is not None:
            fields[name] = match
            taken.add(match)
    free = [column for column in present if column not in taken]
    long = {name: named_column(name, free) for name in ("criterion", "rating")}
    if all(long.values()) and not ratings and "rating" not in fields:
        fields |= {name: str(column) for name, column in long.items()}
    elif not ratings and "rating" not in fields:
        ratings = _ratings([column for column in free if _rated(values[column], comma)])
    if any("," in column and not _names_raters(column, present) for column in ratings.values()) and (
        "rater" not in (given_columns or {})
    ):
        # Numbered columns are positions as often as persons; a person must say that they are persons.
        fields["rater"] = "=unknown"
    wanted = tuple(name for name in ("text", "system") if name not in fields)
    grouped = fields.get("rater", "=unknown") != "=unknown" or "criterion" in fields
    wanted += ("id",) if grouped and "id" not in fields else ()
    extra = {key: value for key, value in (given_columns or {}).items() if key in ("missing", "sheet") or is_key(key)}
    return Guess(fields, ratings, wanted, extra)


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
    """Hint with a map to copy; one of comparisons if the table seems to hold pairs and the user gave no columns."""
    pairs = None if given_columns else proposal(table_columns(path, sheet))
    if pairs is not None:
        return Advice("if the table holds stories that people compared, copy: {columns}", columns=pairs)
    return options(guess(path, sheet, given_columns))


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


def _bare(column: str) -> str:
    # Crowd-sourcing files have the prefixes `Input.` and `Answer.`.
    last = re.sub(r"^(?:input|answer)\.", "", column, flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9]", "", last.rpartition(".")[2].lower())


def named_column(name: str, columns: Sequence[str]) -> str | None:
    """The first column with a usual name for the field, the more usual names first."""
    for usual_name in _NAMES[name]:
        for column in columns:
            if _bare(column) == usual_name:
                return column
    return None


def fits(name: str, values: Sequence[Any]) -> bool:
    """Whether cells may be values of the field `name`: story texts are long strings, and names are short."""
    given = [value for value in values if not is_missing(value, ())]
    if not given or any(isinstance(value, Mapping | list) for value in given):
        return False
    size = sum(len(str(value)) for value in given) / len(given)
    if name == "text":
        return all(isinstance(value, str) for value in given) and size >= _LONG
    if name in ("story_prompt", "reference"):
        return all(isinstance(value, str) for value in given)
    return size < _LONG


def _longest(columns: Sequence[str], values: Mapping[str, Sequence[Any]]) -> str | None:
    return max(columns, key=lambda column: sum(len(str(value)) for value in values[column]), default=None)


def _rated(values: Sequence[Any], comma: bool) -> bool:
    # Few distinct numbers of small size, or lists of them.
    numbers: set[float] = set()
    rating_place = RatingPlace(Path(), 0, "", ("NA", "nan"), comma)
    try:
        for value in values:
            numbers.update(number for _, number in ratings_in(value, rating_place) if number is not None)
    except DataError:
        return False
    return bool(numbers) and len(numbers) <= _MOST_POINTS and all(abs(number) <= _FARTHEST for number in numbers)


def _ratings(columns: Sequence[str]) -> dict[str, str]:
    # Names that differ only in a number at the end belong to one criterion.
    stems: dict[str, list[str]] = {}
    for column in columns:
        if COUNTS.search(_bare(column)) or _bare(column) in _NAMES["id"] or not _bare(column):
            continue
        numbered = _NUMBERED.match(column)
        stem = numbered[1] if numbered and numbered[1] else column
        stems.setdefault(stem, []).append(column)
    columns_by_criterion: dict[str, str] = {}
    for stem, many in stems.items():
        whole = stem if len(many) > 1 else many[0]
        parts = [part for part in whole.strip(" _.-").split(".") if not part.isdigit()]
        plain = parts[-1] if parts else whole
        overall = _PERSON.match(plain) or _bare(plain) in _NAMES["rating"]
        columns_by_criterion["Overall" if overall else criterion_name(plain)] = ",".join(many)
    return columns_by_criterion


def criterion_name(column: str) -> str:
    """Criterion (HANNA's, or overall quality) of a ratings column, by name, abbreviation or at least 3 first letters;
    else `column`."""
    from judge.inputs.criteria import load_criteria

    bare = _bare(column)
    for named in ("hanna", "overall"):
        for criterion in load_criteria(named).criteria:
            if bare in (criterion.name.lower(), criterion.abbreviation.lower()) or (
                len(bare) > 2 and criterion.name.lower().startswith(bare)
            ):
                return criterion.name
    return column
