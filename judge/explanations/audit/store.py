"""Stores one audit in one SQLite file: items, annotators, answers and the history of all changes.

Every change is on disk before the method returns, so `kill -9` loses no answer. Several programs and threads may use
one file at once. There is one row for each (round, annotator, item, category), with 1 if the error is present and 0 if
not. An item is done for an annotator once every category is answered.

    store = AuditStore.open(path)
    store.register("Ada")
    for item in store.order("Ada"):                       # ids, in this annotator's own seeded order
        store.answer("Ada", item, {"poor_syntax": 0}, seconds=4.2)

Round 2 settles disagreements (`adjudication`): one answer for each (item, category).
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, JudgeError, SpecError
from judge.base.fingerprint import digest
from judge.base.foreign import reading
from judge.base.work_file import WorkFile, creating, sentences
from judge.explanations.audit import database, rows
from judge.explanations.audit.items import Category, Form, Item, PracticeItem, Subject, check_blind, load_form
from judge.explanations.audit.rows import Answer, ItemState, check_values, clean_name

ANNOTATION, ADJUDICATION = 1, 2
_AUDIT = "an audit"


class ChangedElsewhereError(JudgeError):
    """An answer that was given in another tab or on another device, and that this one had not seen; `state` is what
    the file holds."""

    def __init__(self, state: ItemState) -> None:
        super().__init__("this was answered in another tab or on another device meanwhile")
        self.state = state


class AuditStore(WorkFile):
    """An open audit file. All methods may be called from any thread."""

    kind = database.KIND

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self.audit_id: str = rows.text_in(self.meta["id"])
        """By which other files name this audit."""
        self.seed: int = int(self.meta["seed"])
        self.blind: tuple[str, ...] = check_blind([rows.text_in(name) for name in self.meta["blind"]])
        """Facts that annotators must not see, of `items.BLINDABLE`; `items.visible_facts` gives the others."""
        self.categories: tuple[Category, ...] = tuple(
            Category(
                rows.text_in(key),
                rows.text_in(label),
                rows.text_in(question),
                rows.text_in(press),
                rows.text_in(column),
                bool(inverted),
            )
            for key, label, question, press, column, inverted in self.select(
                "SELECT key, label, question, press, export_column, inverted FROM categories ORDER BY position"
            )
        )
        self.practice: tuple[PracticeItem, ...] = tuple(
            rows.practice_of(*row) for row in self.select("SELECT id, item FROM practice ORDER BY id")
        )
        """Items to practise on; they are shipped texts, and no part of what is audited."""

    @classmethod
    def create(
        cls,
        path: Path,
        subjects: Iterable[Subject],
        *,
        form: Form | None = None,
        seed: int = 1,
        blind: Sequence[str] = (),
        sampling: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> AuditStore:
        """A new audit of the explanations `subjects`, numbered from 1; `form` defaults to the shipped categories.

        `seed` determines each annotator's order, `blind` names facts that annotators do not see, `sampling` is plain
        data of `sample.sampling`, and `notes` are printed under every table. The file is created completely or not at
        all. Raises DataError if it exists or an explanation occurs twice, and SpecError for an empty audit.
        """
        form = form or load_form()
        meta = {
            "id": uuid.uuid4().hex[:12],
            "created": time.time(),
            "seed": seed,
            "blind": check_blind(blind),
            "sampling": dict(sampling or {}),
            "notes": list(notes),
        }
        with creating(path, cls.kind) as db:
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, orjson.dumps(v).decode()) for k, v in meta.items()])
            rows.insert_form(db, form, check_blind(blind))
            rows.insert_items(db, subjects, path)
        return cls.open(path)

    @classmethod
    def located(cls, path: Path) -> Path:
        return database.audit_file(path)

    @property
    def notes(self) -> list[str]:
        """Sentences about the sample and about imported files, oldest first."""
        row = self.select("SELECT value FROM meta WHERE key = 'notes'")[0]
        with reading(self.path, _AUDIT):
            return [str(note) for note in orjson.loads(row[0])]

    def add_note(self, note: str) -> None:
        """Add a sentence to the audit's `notes`, unless it is already there."""
        with self.transaction() as db:
            notes = orjson.loads(db.execute("SELECT value FROM meta WHERE key = 'notes'").fetchone()[0])
            if note not in notes:
                db.execute("UPDATE meta SET value = ? WHERE key = 'notes'", (orjson.dumps([*notes, note]).decode(),))

    def hide(self, names: Sequence[str]) -> None:
        """Hide only the facts in `names` from now on; a note says so if answers were given under another choice."""
        chosen = check_blind(names)
        if set(chosen) == set(self.blind):
            return
        if self.select("SELECT 1 FROM answers LIMIT 1"):
            before = ", ".join(self.blind) or "nothing"
            self.add_note(f"answers before {time.strftime('%Y-%m-%d')} were given with {before} hidden from annotators")
        with self.transaction() as db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'blind'", (orjson.dumps(chosen).decode(),))
        self.blind = chosen

    @property
    def item_count(self) -> int:
        """Number of items; they are numbered from 1."""
        return int(self.select("SELECT count(*) FROM items")[0][0])

    def item(self, number: int) -> Item:
        """One item with all its texts. Raises DataError for an unknown number."""
        records = self.select(rows.ITEM, number)
        if not records:
            raise DataError(f"has no item {number}", file=self.path, allowed=f"1 to {self.item_count}")
        with reading(self.path, _AUDIT):
            return rows.item_of(records[0])

    def items(self) -> list[Item]:
        """All items with all their texts, by number."""
        with reading(self.path, _AUDIT):
            return [rows.item_of(row) for row in self.select(rows.ITEMS)]

    def order(self, annotator: str) -> list[int]:
        """Item numbers in this annotator's order: random, and always the same for one annotator."""
        # The order depends only on the audit's seed, the annotator's name and the items, through a hash.
        name = clean_name(annotator)
        keyed = self.select("SELECT id, key FROM items")
        return [i for _, i in sorted((digest(f"{self.seed}|{name}|{key}"), i) for i, key in keyed)]

    def register(self, annotator: str, *, origin: str = "here") -> str:
        """The name as stored (blanks trimmed and merged), registered if it was not; `origin` is "here" or an imported
        file. Raises SpecError for a name that is empty, longer than 80 characters or not printable, or differs from a
        registered one only in case, because one person would then be counted as two raters."""
        name = clean_name(annotator)
        if self.select("SELECT 1 FROM annotators WHERE name = ?", name):
            return name
        with self.transaction() as db:
            for (existing,) in db.execute("SELECT name FROM annotators"):
                if existing != name and existing.casefold() == name.casefold():
                    raise SpecError(f"annotator {name!r} is known as {existing!r}", hint=f"go on as {existing!r}")
            db.execute("INSERT OR IGNORE INTO annotators VALUES (?, ?, ?)", (name, time.time(), origin))
        return name

    def annotators(self, round_no: int = ANNOTATION) -> list[str]:
        """Annotators with at least one answer in a round, in the order in which they registered."""
        sql = "SELECT name FROM annotators WHERE name IN (SELECT annotator FROM answers WHERE round = ?)"
        return [str(name) for (name,) in self.select(f"{sql} ORDER BY since, name", round_no)]

    def registered(self) -> list[str]:
        """Names of all annotators, with or without answers, in the order in which they registered."""
        return [str(name) for (name,) in self.select("SELECT name FROM annotators ORDER BY since, name")]

    def answer(
        self,
        annotator: str,
        item: int,
        values: Mapping[str, int | None],
        *,
        note: str | None = None,
        seconds: float | None = None,
        round_no: int = ANNOTATION,
        message: str | None = None,
        seen: Mapping[str, int | None] | None = None,
        seen_note: str | None = None,
    ) -> ItemState:
        """An annotator's answers on an item after storing `values`: 1 (error), 0, or None, which deletes an answer.

        A new annotator is registered. Categories without an entry keep their value. `note` "" empties the note, None
        keeps it; `seconds` are added to the total. A `message` that a page sends several times is stored once. `seen`
        and `seen_note` are what the page showed before: where the file holds something else, nothing is stored, and
        ChangedElsewhereError has what it holds. Raises SpecError for an unknown category or another value, and
        DataError for an unknown item and, in round 2, for a category that somebody else has settled.
        """
        name = self.register(annotator)
        changed = check_values(values, [c.key for c in self.categories], seconds)
        with self.transaction() as db:
            before = self._state(db, name, item, round_no)
            if message is not None and not rows.first_time(db, message, (round_no, name, item)):
                return before
            for key, value in changed.items():
                if seen is not None and before.values.get(key) not in (seen.get(key), value):
                    raise ChangedElsewhereError(before)
            if None not in (note, seen_note) and before.note not in (note, seen_note):
                raise ChangedElsewhereError(before)
            rows.change(db, self.path, (round_no, name, item), before, changed, note, seconds)
            return self._state(db, name, item, round_no)

    def state(self, annotator: str, item: int, *, round_no: int = ANNOTATION) -> ItemState:
        """Current answers of the annotator on the item in a round. Raises DataError for an unknown item."""
        with self._lock, sentences(self.path, self.kind):
            return self._state(self._db, clean_name(annotator), item, round_no)

    def answers(self, *, round_no: int = ANNOTATION) -> list[Answer]:
        """All answers of a round (1 = annotation, 2 = settled disagreements), sorted by annotator and item."""
        sql = "SELECT annotator, item, category, value, at FROM answers WHERE round = ? ORDER BY annotator, item"
        records = self.select(sql, round_no)
        given: dict[tuple[str, int], int] = {}
        for name, item, *_ in records:
            given[name, item] = given.get((name, item), 0) + 1
        total = len(self.categories)
        return [
            Answer(name, item, key, value, at, given[name, item] == total) for name, item, key, value, at in records
        ]

    def remarks(self, *, round_no: int = ANNOTATION) -> dict[tuple[str, int], tuple[str, float | None]]:
        """Notes and times of a round: (annotator, item) -> (note, seconds), where there is a note or a time."""
        records = self.select("SELECT annotator, item, note, seconds FROM remarks WHERE round = ?", round_no)
        return {(name, item): (note, seconds) for name, item, note, seconds in records}

    def done_count(self, annotator: str) -> int:
        """Number of items that an annotator has finished in round 1."""
        sql = "SELECT item FROM answers WHERE round = 1 AND annotator = ? GROUP BY item HAVING count(*) = ?"
        return len(self.select(sql, clean_name(annotator), len(self.categories)))

    def _state(self, db: sqlite3.Connection, name: str, item: int, round_no: int) -> ItemState:
        return rows.state(db, self.path, len(self.categories), name, item, round_no)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Answers and remarks of one round; `annotators` have at least one answer, in the order of registration. `answers`
    are sorted by annotator and item. `remarks` maps (annotator, item) to (note, seconds), if there is either."""

    annotators: tuple[str, ...]
    answers: tuple[Answer, ...]
    remarks: Mapping[tuple[str, int], tuple[str, float | None]]

    def note(self, annotator: str, item: int) -> str:
        """Note of the annotator on the item; empty if there is none."""
        return self.remarks.get((annotator, item), ("", None))[0]

    def seconds(self, annotator: str, item: int) -> float | None:
        """Time that the annotator spent on the item; None if it was not measured."""
        return self.remarks.get((annotator, item), ("", None))[1]


@dataclass(frozen=True, slots=True, eq=False)
class AuditSnapshot:
    """The content of an audit file at one moment; `notes` are sentences about the sample and imported files. `sampling`
    says how the items were drawn, {} if not by this program. `practised`: annotator -> item -> category -> value."""

    path: Path
    audit_id: str
    seed: int
    blind: tuple[str, ...]
    sampling: Mapping[str, Any]
    notes: tuple[str, ...]
    categories: tuple[Category, ...]
    practice: tuple[PracticeItem, ...]
    items: tuple[Item, ...]
    registered: tuple[str, ...]
    annotation: Round
    adjudication: Round
    practised: Mapping[str, Mapping[int, Mapping[str, int]]]


def snapshot(store: AuditStore) -> AuditSnapshot:
    """The current content of an open audit, read in one transaction."""
    with store.reading():
        return AuditSnapshot(
            path=store.path,
            audit_id=store.audit_id,
            seed=store.seed,
            blind=store.blind,
            sampling=store.meta["sampling"],
            notes=tuple(store.notes),
            categories=store.categories,
            practice=store.practice,
            items=tuple(store.items()),
            registered=tuple(store.registered()),
            annotation=_round(store, ANNOTATION),
            adjudication=_round(store, ADJUDICATION),
            practised=_practised(store),
        )


def read_audit(path: Path | str) -> AuditSnapshot:
    """The current content of an audit file or of a run's audit. Raises DataError if it is not an audit."""
    with AuditStore.open(path, writing=False) as store:
        return snapshot(store)


def _round(store: AuditStore, number: int) -> Round:
    return Round(tuple(store.annotators(number)), tuple(store.answers(round_no=number)), store.remarks(round_no=number))


def _practised(store: AuditStore) -> dict[str, dict[int, dict[str, int]]]:
    answers: dict[str, dict[int, dict[str, int]]] = {}
    for name, practice, category, value in store.select(
        "SELECT annotator, practice, category, value FROM practice_answers ORDER BY annotator, practice, category"
    ):
        answers.setdefault(name, {}).setdefault(practice, {})[category] = value
    return answers
