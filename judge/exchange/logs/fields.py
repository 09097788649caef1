"""Paths of fields in a record of a tool's log: those that the user gives, otherwise the reader's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import orjson

from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Criterion, Scale, Status
from judge.base.wording import Advice
from judge.exchange.reader import Look, as_object, lines, starts_lines, whole
from judge.inputs.datasets.dataset import LabelScales

# Types of rows for logs of scores: a score, or a placeholder for one that was lost, and facts that the log lacks.

# A score as a log has it.
Value = float | bool | str

# Reasons for which a log lacks a rating that it should have.
Loss = Literal[
    "error",
    "filtered",
    "truncated",
    "unparsed",
    "refused",
    "empty",
    "no_answer",
    "missing",
    "defaulted",
    "out_of_range",
]

# The status of a rating that was lost for a reason, and the reason in words.
LOSSES: Mapping[Loss, tuple[Status, str]] = {
    "error": ("not_answered", "the judge, or the tool, failed"),
    "filtered": ("filtered", "a content filter stopped the answer, which is no rating"),
    "truncated": ("truncated", "the answer was cut off"),
    "unparsed": ("no_rating", "no score could be read from the answer"),
    "refused": ("refused", "the judge refused"),
    "empty": ("empty", "the answer was empty"),
    "no_answer": ("no_rating", "the scorer found no answer to score"),
    "missing": ("not_answered", "the log holds neither a score nor a reason"),
    "defaulted": ("not_answered", "the tool wrote a default score in place of the judge's"),
    "out_of_range": ("out_of_scale", "the score lies outside the range that was to be rescaled"),
}


@dataclass(frozen=True, slots=True)
class LogRow:
    """One score (`value`), or why it was lost (`loss`); `judge` is None for human ratings. `number` is the record's
    position from 1. `repeat` is None where the log does not number repeats. `beside`: a human rating was part of the
    record of a judge's score. `rating` is the score converted to the criterion's scale, once all rows are read."""

    number: int
    story: str
    criterion: str
    value: Value | None = None
    loss: Loss | None = None
    judge: str | None = None
    rater: str | None = None
    people: bool = False
    repeat: int | None = None
    eval_prompt: str | None = None
    story_prompt: str | None = None
    system: str | None = None
    text: str | None = None
    explanation: str | None = None
    beside: bool = False
    rating: float | None = None


@dataclass(slots=True)
class LogFacts:
    """Facts on a log: version, scales of labels, and sentences on missing data with the number of records."""

    version: str | None = None
    labels: dict[str, Scale] = field(default_factory=dict)
    untold: Counter[str] = field(default_factory=Counter)


def loss_of(words: str) -> Loss:
    """Loss that an error message indicates: ``filtered`` (content filter), ``truncated``, or ``error`` for others."""
    from judge.backends.refusal_kinds import read_refusal

    kind = read_refusal(400, {}, orjson.dumps({"error": {"message": words}})).kind
    return "filtered" if kind == "filtered" else "truncated" if kind == "truncated" else "error"


# Fields that may be said to stand elsewhere; `people` is a person's rating of the record's story.
FIELDS = ("story", "story_prompt", "system", "text", "judge", "eval_prompt", "rating", "explanation", "people")

Record = Mapping[str, Any]
_PEOPLE_FIELDS = ("story_prompt", "system", "text")
_TEXT_FIELDS = (*_PEOPLE_FIELDS, "judge", "eval_prompt", "explanation")
_NOTHING = object()
# Fields of a record that a message lists: enough to see how it is built.
_NAMED = 12


@dataclass(slots=True)
class Places:
    """Where to find each field in a record: `given` maps it to a dotted path, or to `=TEXT` for a constant.
    `fields_found` had a value in some record; `seen` has examples of a record's paths for those that were missing
    there."""

    given: Mapping[str, str] = field(default_factory=dict)
    fields_found: set[str] = field(default_factory=set)
    seen: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise SpecError for a path of an unknown field."""
        for name in self.given:
            if name not in FIELDS:
                raise SpecError(unknown("field", name, FIELDS))

    def value(self, name: str, record: Record, otherwise: Any = None) -> Any:
        """The field at the path that the user gave (None: nothing there); `otherwise` without a path."""
        path = self.given.get(name)
        if path is None:
            return otherwise
        if path.startswith("="):
            self.fields_found.add(name)
            return path[1:]
        held = at(record, path)
        if held is _NOTHING:
            self.seen.setdefault(name, sorted(paths(record))[:_NAMED])
            return None
        self.fields_found.add(name)
        return held

    def text(self, name: str, record: Record, otherwise: Any = None) -> str | None:
        """`value` as text."""
        return as_text(self.value(name, record, otherwise))

    def check(self, file: Path) -> None:
        """Raise DataError if no record had a value at a path that the user gave."""
        for name, path in self.given.items():
            if name not in self.fields_found and name in self.seen:
                examples = ", ".join(self.seen[name])
                raise DataError(f"no record has {path!r} (for {name})", file=file, allowed=f"such as {examples}")


def at(record: Any, path: str) -> Any:
    """Value at a dotted path, also through keys that contain dots; `_NOTHING` without one."""
    if path == "":
        return record
    if isinstance(record, Mapping):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        while rest:
            if head in record:
                inner = at(record[head], rest)
                if inner is not _NOTHING:
                    return inner
            more, _, rest = rest.partition(".")
            head = f"{head}.{more}"
    elif isinstance(record, Sequence) and not isinstance(record, str):
        head, _, rest = path.partition(".")
        if head.isdecimal() and int(head) < len(record):
            return at(record[int(head)], rest)
    return _NOTHING


def paths(record: Any, depth: int = 3, before: str = "") -> Iterable[str]:
    """Dotted paths to the values in a record, down to `depth` levels, for an error message."""
    if isinstance(record, Mapping) and depth and record:
        for key, value in record.items():
            yield from paths(value, depth - 1, f"{before}.{key}" if before else str(key))
    elif before:
        yield before


def as_text(value: Any) -> str | None:
    """Objects and lists as JSON, null and the empty text as None."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else orjson.dumps(value, default=str).decode()


# Interface that all log readers share: the options of a reader, and the description of a tool.

# What was judged: the texts that the log's model wrote, or those that it was shown, so that it is the judge.
Judged = Literal["outputs", "inputs"]

# Prefix of the name of a scorer that asks no model.
CODE = "code"

# Prefix of the criterion's name where a log names no judge.
UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Options of the conversion of a log. `judged`: whether the judged texts are a model's outputs or its inputs;
    `names` maps a criterion's name in the log to a new one. `scale` is for numbers for which neither the log nor other
    fields give one. `rescale` and `rescale_people` are the ends of the range of judges' and people's scores; None: not
    rescaled."""

    places: Places = field(default_factory=Places)
    judged: Judged = "outputs"
    criteria: Sequence[Criterion] = ()
    labels: LabelScales = field(default_factory=LabelScales)
    scale: Scale | None = None
    rescale: tuple[float, float] | None = None
    rescale_people: tuple[float, float] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    leave_out: Sequence[str] = ()
    notes: Sequence[str] = ()


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Tool(Generic[Row]):
    """A tool whose logs of scores or of preferences can be read. `identified` describes where each field is taken from;
    `tried` is the version whose log the tests read, and what was not tested; `judged` are the kinds of text that may
    have been judged, the usual first; `orders`: whether a log of preferences records which text was shown first."""

    name: str
    text: str
    fits: Callable[[Look], bool]
    read: Callable[[Path, LogOptions, LogFacts], Iterator[Row]]
    identified: Mapping[str, str]
    tried: str
    judged: tuple[Judged, ...] = ("outputs",)
    orders: Literal["both", "not told"] = "both"


def records(file: Path, inner: Callable[[Any], Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(position, record) of a log in JSON Lines or, by `inner`, which gives the list in a single JSON value."""
    if starts_lines(file):
        yield from lines(file)
        return
    for number, item in enumerate(inner(whole(file)), start=1):
        yield number, as_object(item, file, number)


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a log, with its position from 1."""

    file: Path
    number: int
    held: Record
    places: Places
    log_facts: LogFacts

    def beside(self, name: str, inner: Record) -> Entry:
        """The entry of one score (`inner`) of this record, which paths find under `name`."""
        return replace(self, held={**self.held, name: inner})

    def row(
        self, criterion: str, story: Any, *, people: bool = False, eval_prompt_is: str | None = None, **own: Any
    ) -> LogRow:
        """A row without a score; each field is what the user's path gives, otherwise the tool's `own`. A person's
        rating has no judge, Eval-Prompt or explanation; `eval_prompt_is` stands in place of any path. DataError where
        nothing names the story."""
        story_id = self.places.text("story", self.held, story)
        if story_id is None:
            path = self.places.given.get("story")
            hint = Advice("give the path of the story's id: {columns}", columns={"story": "PATH"})
            raise DataError("nothing names the story", file=self.file, row=self.number, column=path, hint=hint)
        names = _PEOPLE_FIELDS if people else _TEXT_FIELDS
        texts: dict[str, Any] = {
            name: self.places.text(name, self.held, own.get(name))
            for name in names
            if eval_prompt_is is None or name != "eval_prompt"
        }
        if eval_prompt_is is not None:
            texts["eval_prompt"] = eval_prompt_is
        return LogRow(self.number, story_id, criterion, people=people, **texts)

    def value(self, score: Any) -> Any:
        """The score at the user's path, otherwise `score`."""
        return self.places.value("rating", self.held, score)

    def scored(self, row: LogRow, score: Any) -> Iterator[LogRow]:
        """The row with its score, or marked as lost. A value that is no single score yields none and is counted."""
        if score is None or (isinstance(score, float) and math.isnan(score)):
            yield lost(row, "missing")
        elif isinstance(score, bool | int | float | str):
            yield replace(row, value=_plain(score))
        else:
            self.log_facts.untold["scores of several numbers, or of objects, were left out: name one by its path"] += 1

    def with_people(self, rows: Iterator[LogRow]) -> Iterator[LogRow]:
        """The rows, then human ratings of the same story for each criterion, if the user gave their path."""
        criteria: dict[tuple[str, str | None], LogRow] = {}
        for row in rows:
            criteria.setdefault((row.criterion, row.eval_prompt), row)
            yield row
        rating = self.places.value("people", self.held)
        if rating is None or isinstance(rating, list | dict):
            return
        for row in criteria.values():
            bare = replace(row, judge=None, repeat=None, explanation=None, loss=None)
            yield replace(bare, value=_plain(rating), people=True, beside=True)

    def unnamed(self, criterion: str) -> str:
        """unnamed/CRITERION, for a judge that the log does not name; counted."""
        self.log_facts.untold["scores name no judge, which is called unnamed/CRITERION here"] += 1
        return f"{UNNAMED}/{criterion}"


def lost(row: LogRow, loss: Loss) -> LogRow:
    return replace(row, value=None, loss=loss)


def _plain(score: bool | float | str) -> Value:
    return score if isinstance(score, bool | str) else float(score)
