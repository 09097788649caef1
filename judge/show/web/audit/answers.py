"""Checks of the answers that the pages of an audit of explanations send. Answers are committed to the audit's file, and
confirmed after the commit.

Each message holds the answers that an annotator changed now (null takes one back), perhaps the note, and the seconds
spent since the message before. Other answers stay as they are, so that two tabs do not undo each other: the order in
which messages arrive decides. A message has a name, and is stored once; sending it again changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.explanations.audit.file.answers import ItemState
from judge.explanations.audit.file.snapshot import snapshot
from judge.explanations.audit.file.store import ADJUDICATION, ANNOTATION, AuditStore
from judge.explanations.audit.results.adjudication import adjudicate, disputes
from judge.explanations.audit.sample.practice import practise

_Value = Annotated[int, Field(ge=0, le=1)]


class RefusedError(Exception):
    """Error: a message with answers to an audit is refused, with an HTTP status and a sentence for the annotator."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    audit: str
    annotator: str = Field(min_length=1, max_length=200)
    own: str = Field(default="", max_length=200)
    round: Literal[1, 2]


class _ItemMessage(_Message):
    message: str = Field(min_length=1, max_length=100)
    item: int = Field(ge=1, lt=2**31)
    values: dict[str, _Value | None]
    note: str | None = Field(default=None, max_length=20_000)
    seconds: float = Field(ge=0, le=1e7, allow_inf_nan=False)


class _PracticeMessage(_Message):
    practice: int = Field(ge=1, lt=2**31)
    values: dict[str, _Value]


Owns = Callable[[str, str], bool]
"""Whether a key is that of a name."""


def save_answers(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """Store an annotator's answers to one item in round 1 of an audit. `text` is the message that holds them. `owns` is
    a function that says whether the key in the message is the personal key of the annotator's name. Returns what is
    stored of the item now.
    """
    message = _read(_ItemMessage, store, owns, text, ANNOTATION)
    state = store.answer(
        message.annotator,
        message.item,
        message.values,
        note=message.note,
        seconds=message.seconds,
        message=message.message,
    )
    return _stored(message.item, state, done=state.done)


def save_settled(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """Store an adjudicator's answers to one item in round 2 of an audit, in which disputed categories are settled.
    `text` is the message that holds them. `owns` is a function that says whether the key in the message is the personal
    key of the adjudicator's name. Returns what is stored of the item now.
    """
    message = _read(_ItemMessage, store, owns, text, ADJUDICATION)
    disputed = next((dispute.disputed for dispute in disputes(snapshot(store)) if dispute.item == message.item), ())
    state = adjudicate(
        store,
        message.annotator,
        message.item,
        message.values,
        note=message.note,
        seconds=message.seconds,
        message=message.message,
    )
    return _stored(message.item, state, done=set(disputed) <= state.values.keys())


def _stored(item: int, state: ItemState, *, done: bool) -> dict[str, Any]:
    """What is stored of an item, as the page is told it. `revision` is the number of the annotator's changes to it."""
    return {
        "item": item,
        "done": done,
        "values": dict(state.values),
        "note": state.note,
        "seconds": state.seconds or 0,
        "revision": state.revision,
    }


def save_practice(store: AuditStore, owns: Owns, text: bytes) -> dict[str, Any]:
    """Store an annotator's answers to a practice item of an audit. `text` is the message that holds them. `owns` is a
    function that says whether the key in the message is the personal key of the annotator's name. Returns the item's
    number and whether all answers are given.
    """
    message = _read(_PracticeMessage, store, owns, text, ANNOTATION)
    values = dict.fromkeys((category.key for category in store.categories), None) | message.values
    return {"practice": message.practice, "done": practise(store, message.annotator, message.practice, values).complete}


def status_of(error: Exception) -> int:
    """HTTP status for an error in storing answers: 400 for a mistake in the message, and 503 where the audit's file
    could not be written. After 503 the page sends the message again.
    """
    return 503 if isinstance(error.__cause__, (sqlite3.OperationalError, OSError)) else 400


_M = TypeVar("_M", bound=_Message)


def _read(kind: type[_M], store: AuditStore, owns: Owns, text: bytes, round_no: int) -> _M:
    try:
        message = kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RefusedError(400, f"{where + ': ' if where else ''}{first['msg']}") from error
    if message.audit != store.audit_id:
        raise RefusedError(409, "This server holds another audit now. Your answers stay in this browser.")
    if message.round != round_no:
        raise RefusedError(400, f"round: answers of round {message.round} do not belong here")
    if not owns(message.annotator, message.own):
        raise RefusedError(403, f"Answers of {message.annotator} come from the page of that person's own link alone.")
    return message
