"""Paths of fields in a record of a tool's log: those that the user gives, otherwise the reader's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Scale, Status
from judge.base.wording import Advice
from judge.exchange.reader import Look

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

STATUS: Mapping[Loss, Status] = {
    "error": "not_answered",
    "filtered": "filtered",
    "truncated": "truncated",
    "unparsed": "no_rating",
    "refused": "refused",
    "empty": "empty",
    "no_answer": "no_rating",
    "missing": "not_answered",
    "defaulted": "not_answered",
    "out_of_range": "out_of_scale",
}

WORDS: Mapping[Loss, str] = {
    "error": "the judge, or the tool, failed",
    "filtered": "a content filter stopped the answer, which is no rating",
    "truncated": "the answer was cut off",
    "unparsed": "no score could be read from the answer",
    "refused": "the judge refused",
    "empty": "the answer was empty",
    "no_answer": "the scorer found no answer to score",
    "missing": "the log holds neither a score nor a reason",
    "defaulted": "the tool wrote a default score in place of the judge's",
    "out_of_range": "the score lies outside the range that was to be rescaled",
}


@dataclass(frozen=True, slots=True)
class LogRow:
    """One score (`value`), or why it was lost (`loss`); `judge` is None for human ratings. `number` is the record's
    position from 1. `repeat` is None where the log does not number repeats. `beside`: a human rating was part of the
    record of a judge's score."""

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


@dataclass(slots=True)
class LogFacts:
    """Facts on a log: version, scales of labels, and sentences on missing data with the number of records."""

    version: str | None = None
    labels: dict[str, Scale] = field(default_factory=dict)
    untold: Counter[str] = field(default_factory=Counter)


def loss_of(words: str) -> Loss:
    """Loss that an error message indicates: ``filtered`` (content filter), ``truncated``, or ``error`` for others."""
    import orjson

    from judge.backends.refusal_kinds import read_refusal

    kind = read_refusal(400, {}, orjson.dumps({"error": {"message": words}})).kind
    return "filtered" if kind == "filtered" else "truncated" if kind == "truncated" else "error"


# Fields that may be said to stand elsewhere; `people` is a person's rating of the record's story.
FIELDS = ("story", "story_prompt", "system", "text", "judge", "eval_prompt", "rating", "explanation", "people")

Record = Mapping[str, Any]
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

    def __contains__(self, name: str) -> bool:
        return name in self.given

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

    def story(self, record: Record, otherwise: Any, file: Path, number: int) -> str:
        """The story's id; DataError where the record has none, because every row needs one."""
        name = self.text("story", record, otherwise)
        if name is None:
            path = self.given.get("story")
            hint = Advice("give the path of the story's id: {columns}", columns={"story": "PATH"})
            raise DataError("nothing names the story", file=file, row=number, column=path, hint=hint)
        return name

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
class Asked:
    """The fields' paths, and whether the judged texts are a model's outputs or its inputs."""

    places: Places = field(default_factory=Places)
    judged: Judged = "outputs"


Read = Callable[[Path, Asked, LogFacts], Iterator[LogRow]]


@dataclass(frozen=True, slots=True)
class Tool:
    """An evaluation tool whose logs can be read. `identified` describes where each field is taken from; `tried` is the
    version whose log the tests read, and what was not tested; `judged` are the kinds of text that may have been judged,
    the usual first."""

    name: str
    text: str
    fits: Callable[[Look], bool]
    read: Read
    identified: Mapping[str, str]
    tried: str
    judged: tuple[Judged, ...] = ("outputs",)


def scored(row: LogRow, score: Any, log_facts: LogFacts) -> Iterator[LogRow]:
    """The row with its score, or marked as lost. A value that is no single score yields none and is counted."""
    if score is None or (isinstance(score, float) and math.isnan(score)):
        yield lost(row, "missing")
    elif isinstance(score, bool | int | float | str):
        yield replace(row, value=_plain(score))
    else:
        log_facts.untold["scores of several numbers, or of objects, were left out: name one by its path"] += 1


def lost(row: LogRow, loss: Loss) -> LogRow:
    return replace(row, value=None, loss=loss)


def with_people(rows: Iterator[LogRow], record: Record, places: Places) -> Iterator[LogRow]:
    """The rows, then human ratings of the same story for each criterion, if the user gave their path."""
    criteria: dict[tuple[str, str | None], LogRow] = {}
    for row in rows:
        criteria.setdefault((row.criterion, row.eval_prompt), row)
        yield row
    if "people" not in places:
        return
    rating = places.value("people", record)
    if rating is None or isinstance(rating, list | dict):
        return
    for row in criteria.values():
        bare = replace(row, judge=None, repeat=None, explanation=None, loss=None)
        yield replace(bare, value=_plain(rating), people=True, beside=True)


def unnamed(criterion: str, log_facts: LogFacts) -> str:
    """unnamed/CRITERION, for a judge that the log does not name; counted in `log_facts`."""
    log_facts.untold["scores name no judge, which is called unnamed/CRITERION here"] += 1
    return f"{UNNAMED}/{criterion}"


def _plain(score: bool | float | str) -> Value:
    return score if isinstance(score, bool | str) else float(score)
