"""Shared interface of the log readers: options of a reader, description of a tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from judge.exchange.logs.places import Places, Record
from judge.exchange.logs.row import LogFacts, LogRow, Loss, Value

Judged = Literal["outputs", "inputs"]
"""What was judged: the texts that the log's model wrote, or those that it was shown, so that it is the judge."""

CODE = "code"
"""Prefix of the name of a scorer that asks no model."""

UNNAMED = "unnamed"
"""Prefix of the criterion's name where a log names no judge."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of a log reader: paths of fields, and the kind of text that was judged."""

    places: Places = field(default_factory=Places)
    judged: Judged = "outputs"


Read = Callable[[Path, Asked, LogFacts], Iterator[LogRow]]


@dataclass(frozen=True, slots=True)
class Tool:
    """An evaluation tool whose logs can be read.

    Attributes
    ----------
    name : as the tool is called
    read : its reader
    identified : field -> what it is taken from, in words, as a command prints it
    tried : which version wrote the log that the tests read, and what was not tried
    judged : what may have been judged, the usual first
    """

    name: str
    read: Read
    identified: Mapping[str, str]
    tried: str
    judged: tuple[Judged, ...] = ("outputs",)


def scored(row: LogRow, score: Any, log_facts: LogFacts) -> Iterator[LogRow]:
    """Yield the row with its score as the log gives it. A value that is not a single score yields no row and is
    counted.
    """
    if score is None or (isinstance(score, float) and math.isnan(score)):
        yield lost(row, "missing")
    elif isinstance(score, bool | int | float | str):
        yield replace(row, value=_plain(score))
    else:
        log_facts.untold["scores of several numbers, or of objects, were left out: name one by its path"] += 1


def lost(row: LogRow, loss: Loss) -> LogRow:
    """The row without a score, marked with the kind of loss."""
    return replace(row, value=None, loss=loss)


def with_people(rows: Iterator[LogRow], record: Record, places: Places) -> Iterator[LogRow]:
    """The rows, followed for each of their criteria by a person's rating of the same story, where the rating's path was
    given.
    """
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
    """A judge that the log does not name."""
    log_facts.untold["scores name no judge, which is called unnamed/CRITERION here"] += 1
    return f"{UNNAMED}/{criterion}"


def _plain(score: bool | float | str) -> Value:
    return score if isinstance(score, bool | str) else float(score)
