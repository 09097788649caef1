"""Interface that all log readers share: the options of a reader, and the description of a tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from judge.exchange.logs.places import Places, Record
from judge.exchange.logs.row import LogFacts, LogRow, Loss, Value
from judge.exchange.reader.look import Look

Judged = Literal["outputs", "inputs"]
"""What was judged: the texts that the log's model wrote, or those that it was shown, so that it is the judge."""

CODE = "code"
"""Prefix of the name of a scorer that asks no model."""

UNNAMED = "unnamed"
"""Prefix of the criterion's name where a log names no judge."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of the reader of a tool's log: the paths of fields in a record (`places`), and whether the judged texts
    are a model's outputs or its inputs (`judged`).
    """

    places: Places = field(default_factory=Places)
    judged: Judged = "outputs"


Read = Callable[[Path, Asked, LogFacts], Iterator[LogRow]]


@dataclass(frozen=True, slots=True)
class Tool:
    """An evaluation tool whose logs can be read.

    Attributes
    ----------
    name : the tool's own name
    text : one line on what is read of its logs
    fits : function that takes a look at a file and returns whether it is a log of the tool
    read : function that reads a log of the tool
    identified : map from field to a printed description of where the log's reader takes the field from
    tried : the tool's version whose log the tests read, and what was not tested
    judged : kinds of text that may have been judged, the usual kind first
    """

    name: str
    text: str
    fits: Callable[[Look], bool]
    read: Read
    identified: Mapping[str, str]
    tried: str
    judged: tuple[Judged, ...] = ("outputs",)


def scored(row: LogRow, score: Any, log_facts: LogFacts) -> Iterator[LogRow]:
    """Yield a log's row with its score as in the log. For a missing score, yield the row marked as lost.

    A value that is not a single score yields no row; it is counted in `log_facts`.
    """
    if score is None or (isinstance(score, float) and math.isnan(score)):
        yield lost(row, "missing")
    elif isinstance(score, bool | int | float | str):
        yield replace(row, value=_plain(score))
    else:
        log_facts.untold["scores of several numbers, or of objects, were left out: name one by its path"] += 1


def lost(row: LogRow, loss: Loss) -> LogRow:
    """A log's row without a score, marked with the reason why the score was lost."""
    return replace(row, value=None, loss=loss)


def with_people(rows: Iterator[LogRow], record: Record, places: Places) -> Iterator[LogRow]:
    """Yield the rows of one record of a log, then a human rating of the same story for each criterion, if the user gave
    the path of the human rating in the record.
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
    """Name for a judge that the log does not name: unnamed/CRITERION. Scores without a judge's name are counted in
    `log_facts`.
    """
    log_facts.untold["scores name no judge, which is called unnamed/CRITERION here"] += 1
    return f"{UNNAMED}/{criterion}"


def _plain(score: bool | float | str) -> Value:
    return score if isinstance(score, bool | str) else float(score)
