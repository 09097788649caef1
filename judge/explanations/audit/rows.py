"""Conversion between rows of the audit file and Python objects."""

from __future__ import annotations

import math
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, SpecError, unknown
from judge.explanations.audit.database import RECEIVED
from judge.explanations.audit.items import (
    Form,
    Item,
    PracticeItem,
    Subject,
    criterion_json,
    criterion_of,
    facts_json,
    facts_of,
)

# Classes for annotators' answers, and checks of their values.

# Names head columns of printed tables and are part of links.
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's answer on one category of an item: 1 = the error is present, 0 = not. `at` is in seconds since
    1970. `done`: the annotator has answered all categories of the item."""

    annotator: str
    item: int
    category: str
    value: int
    at: float
    done: bool


@dataclass(frozen=True, slots=True)
class ItemState:
    """Current answers of an annotator on an item: category -> 0 or 1; `seconds` is None if not measured. `done`: all
    categories are answered. `revision` counts the annotator's changes to the item."""

    values: dict[str, int]
    note: str
    seconds: float | None
    done: bool
    revision: int = 0


def clean_name(annotator: str) -> str:
    """The name with trimmed and merged blanks, in Unicode's form NFC. Raises SpecError for an invalid name."""
    name = unicodedata.normalize("NFC", " ".join(str(annotator).split()))
    if not name:
        raise SpecError("an annotator needs a name")
    if len(name) > _LONGEST_NAME:
        raise SpecError(f"an annotator's name has at most {_LONGEST_NAME} characters, this one {len(name)}")
    if not name.isprintable():
        raise SpecError(f"annotator {name!r} has characters that cannot be printed")
    return name


def check_values(
    values: Mapping[str, int | None], categories: Sequence[str], seconds: float | None = None
) -> dict[str, int | None]:
    """`values`, unchanged. SpecError for an unknown category, a value other than 0, 1, None, or invalid seconds."""
    for key, value in values.items():
        if key not in categories:
            raise SpecError(unknown("category", str(key), categories))
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1)):
            raise SpecError(f"category {key!r} was answered {value!r}; allowed: 1 (the error is there), 0, or nothing")
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise SpecError(f"{seconds!r} is no number of seconds")
    return dict(values)


ITEMS = """SELECT id, key, dataset, story, system, story_prompt, text, reference, criterion, explanation, facts
           FROM items ORDER BY id"""
ITEM = ITEMS.replace("ORDER BY id", "WHERE id = ?")


def item_of(row: tuple[Any, ...]) -> Item:
    """Item of an audit, built from a row of the query `ITEMS`."""
    number, key, dataset, story, system, story_prompt, text, reference, criterion, explanation, facts = row
    for value in (story, dataset, system, story_prompt, text, reference):
        text_in(value, none=True)
    subject = Subject(
        explanation=text_in(explanation),
        story=story,
        dataset=dataset,
        system=system,
        story_prompt=story_prompt,
        text=text,
        reference=reference,
        criterion=criterion_of(criterion),
        facts=facts_of(facts),
    )
    return Item(int(number), str(key), subject)


def text_in(value: Any, *, none: bool = False) -> str:
    """The value, which must be a text or, with `none`, null; else TypeError. SQLite keeps any value in any column."""
    if not isinstance(value, str) and not (none and value is None):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return str(value)


def practice_json(practice_item: PracticeItem) -> str:
    subject = asdict(practice_item.subject)
    subject["criterion"] = criterion_json(practice_item.subject.criterion)
    return orjson.dumps(
        {"subject": subject, "expected": practice_item.expected, "feedback": practice_item.feedback}
    ).decode()


def practice_of(number: int, text: str) -> PracticeItem:
    """Practice item with this number, read from its JSON in the audit file."""
    record = orjson.loads(text)
    subject = dict(record["subject"])
    criterion = criterion_of(subject.pop("criterion"))
    facts = facts_of(orjson.dumps(subject.pop("facts")).decode())
    for value in subject.values():
        text_in(value, none=True)
    expected = {text_in(key): int(value) for key, value in record["expected"].items()}
    return PracticeItem(
        number, Subject(**subject, criterion=criterion, facts=facts), expected, text_in(record["feedback"])
    )


def insert_form(db: sqlite3.Connection, form: Form, blind: Sequence[str]) -> None:
    """Write the categories and practice items of a new audit, worded for the hidden facts `blind`."""
    asked = [
        (i, c.key, c.label, c.asked(blind), c.press, c.column, int(c.inverted)) for i, c in enumerate(form.categories)
    ]
    db.executemany("INSERT INTO categories VALUES (?, ?, ?, ?, ?, ?, ?)", asked)
    db.executemany(
        "INSERT INTO practice VALUES (?, ?)",
        [(practice_item.id, practice_json(practice_item)) for practice_item in form.practice],
    )


def insert_items(db: sqlite3.Connection, subjects: Iterable[Subject], path: Path) -> None:
    """Write the explanations, numbered from 1. Raises DataError if one occurs twice, SpecError if there is none."""
    numbers: dict[str, int] = {}
    for number, s in enumerate(subjects, start=1):
        key = s.key
        if key in numbers:
            raise DataError(f"items {numbers[key]} and {number} are the same explanation", file=path)
        numbers[key] = number
        texts = (s.dataset, s.story, s.system, s.story_prompt, s.text, s.reference)
        row = (number, key, *texts, criterion_json(s.criterion), s.explanation, facts_json(s.facts))
        db.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    if not numbers:
        raise SpecError("there is no explanation to audit", hint="judge coverage RUN says what was answered")


def state(db: sqlite3.Connection, path: Path, categories: int, name: str, item: int, round_no: int) -> ItemState:
    """Answers of `name` on an item in a round, with the audit's number of categories. DataError for an unknown item."""
    if db.execute("SELECT 1 FROM items WHERE id = ?", (item,)).fetchone() is None:
        raise DataError(f"has no item {item}", file=path)
    key = (round_no, name, item)
    values = dict(db.execute(_VALUES, key).fetchall())
    note, seconds = db.execute(_REMARK, key).fetchone() or ("", None)
    (revision,) = db.execute(_REVISION, key).fetchone()
    return ItemState(values, note, seconds, len(values) == categories, revision)


# Round, annotator, item.
Key = tuple[int, str, int]


def change(
    db: sqlite3.Connection,
    path: Path,
    key: Key,
    before: ItemState,
    values: Mapping[str, int | None],
    note: str | None,
    seconds: float | None,
) -> None:
    """Update answers (None deletes one) and note (None keeps it), and keep the state before and after in the history.
    `seconds` is added to the time spent. `key` is (round, annotator, item), and `before` the state before the change.
    """
    after = {k: v for k, v in {**before.values, **values}.items() if v is not None}
    new_note = before.note if note is None else note
    if after != before.values or new_note != before.note:
        _put(db, path, key, before.values, after)
        db.execute(_NOTE, (*key, new_note))
        db.execute(_STEP, (*key, _said(before.values, before.note), _said(after, new_note), time.time()))
    if seconds is not None:
        db.execute(_SECONDS, (*key, seconds))


def _put(db: sqlite3.Connection, path: Path, key: Key, old: Mapping[str, int], values: Mapping[str, int]) -> None:
    (round_no, name, item), now = key, time.time()
    db.executemany(_TAKE_BACK, [(*key, category) for category in old.keys() - values.keys()])
    changed = [(*key, category, value, now) for category, value in values.items() if old.get(category) != value]
    try:
        db.executemany(_ANSWER, changed)
    except sqlite3.IntegrityError as error:
        other = db.execute(
            "SELECT annotator FROM answers WHERE round = 2 AND item = ? AND annotator != ?", (item, name)
        ).fetchone()
        if round_no == 1 or other is None:
            raise
        raise DataError(f"item {item} is settled by {other[0]!r} already", file=path) from error


def _said(values: Mapping[str, int], note: str) -> str:
    return orjson.dumps({"values": dict(values), "note": note}, option=orjson.OPT_SORT_KEYS).decode()


def first_time(db: sqlite3.Connection, message: str, key: Key) -> bool:
    """Whether this is the first message of this name, which is recorded. `key` is (round, annotator, item)."""
    db.execute(RECEIVED)
    return db.execute(_RECEIVE, (message, *key, time.time())).rowcount > 0


_RECEIVE = "INSERT OR IGNORE INTO received VALUES (?, ?, ?, ?, ?)"
_REVISION = "SELECT count(*) FROM history WHERE round = ? AND annotator = ? AND item = ?"
_VALUES = "SELECT category, value FROM answers WHERE round = ? AND annotator = ? AND item = ?"
_REMARK = "SELECT note, seconds FROM remarks WHERE round = ? AND annotator = ? AND item = ?"
_TAKE_BACK = "DELETE FROM answers WHERE round = ? AND annotator = ? AND item = ? AND category = ?"
_ANSWER = """INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (round, annotator, item, category)
             DO UPDATE SET value = excluded.value, at = excluded.at"""
_NOTE = """INSERT INTO remarks VALUES (?, ?, ?, ?, NULL) ON CONFLICT (round, annotator, item)
           DO UPDATE SET note = excluded.note"""
_SECONDS = """INSERT INTO remarks VALUES (?, ?, ?, '', ?) ON CONFLICT (round, annotator, item)
              DO UPDATE SET seconds = coalesce(seconds, 0) + excluded.seconds"""
_STEP = "INSERT INTO history (round, annotator, item, before, after, at) VALUES (?, ?, ?, ?, ?, ?)"
