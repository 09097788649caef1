"""One audit in one SQLite file: items, annotators, answers, undo. Every answer is a person's.

Every change is committed to disk before the method returns, so `kill -9` costs nothing that was answered. Several
programs and threads may work on one file at once. Values are 1 = the error is there, 0 = it is not; there is one row
for each (annotator, item, category). An item is done for an annotator when every category is answered, and not before.

    store = AuditStore.open(path)
    store.register("Ada")
    for item in store.order("Ada"):                       # ids, in this annotator's own seeded order
        store.answer("Ada", item, {"poor_syntax": 0}, seconds=4.2)
    store.undo("Ada")

Practice answers are kept apart (`judge.audit.sample.practice`), and so is the second round, in which what annotators
disagree about is settled (`judge.audit.results.adjudication`): its answers are rows of `round` 2, one for each (item,
category).
"""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from judge.audit.file import database, rows
from judge.audit.file.answers import Answer, ItemState, Progress, Undone, check_values, clean_name
from judge.audit.file.categories import Category, Form, PracticeItem, load_form
from judge.audit.file.items import Item, Subject, check_blind
from judge.errors import DataError, SpecError
from judge.fingerprint import digest

ANNOTATION, ADJUDICATION = 1, 2


class AuditStore:
    """An open audit. All methods may be called from any thread; close it when done, or use it in a `with`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._lock = threading.RLock()
        self.meta: dict[str, Any] = {
            key: orjson.loads(value)
            for key, value in self.select("SELECT key, value FROM meta WHERE key != 'audit_format'")
        }
        self.audit_id: str = self.meta["id"]
        """By which other files name this audit."""
        self.seed: int = self.meta["seed"]
        self.blind: tuple[str, ...] = tuple(self.meta["blind"])
        """Facts that annotators must not see, of `items.BLINDABLE`; `items.visible_facts` gives the others."""
        self.categories: tuple[Category, ...] = tuple(
            Category(key, label, question, press, column, bool(inverted))
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
        """Make an audit of these subjects, numbered from 1, and open it; `form` defaults to the shipped categories.

        `sampling` is plain data about how they were drawn (`judge.audit.sample.sampling` writes it), `notes` are
        sentences that stand under every table. The file is there whole or not at all. Raises DataError where it exists
        already, or where a subject comes twice, SpecError for an empty audit.
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
        with database.creating(path) as db:
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, orjson.dumps(v).decode()) for k, v in meta.items()])
            rows.insert_form(db, form, check_blind(blind))
            rows.insert_items(db, subjects, path)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path | str, *, writing: bool = True) -> AuditStore:
        """Open an existing audit, or that of a run's folder; without `writing` its folder may be read-only.

        DataError, a sentence, for a file that is missing, no audit, or of another format.
        """
        path = database.audit_file(Path(path))
        connection = database.open_file(path, writing=writing)
        try:
            with database.sentences(path):
                return cls(path, connection)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Close the file; what was answered is on disk already."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> AuditStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def notes(self) -> list[str]:
        """Sentences about the sample and about imported files, oldest first."""
        row = self.select("SELECT value FROM meta WHERE key = 'notes'")[0]
        return [str(note) for note in orjson.loads(row[0])]

    def add_note(self, note: str) -> None:
        """Add a sentence to `notes`, once."""
        with self.transaction() as db:
            notes = orjson.loads(db.execute("SELECT value FROM meta WHERE key = 'notes'").fetchone()[0])
            if note not in notes:
                db.execute("UPDATE meta SET value = ? WHERE key = 'notes'", (orjson.dumps([*notes, note]).decode(),))

    @property
    def item_count(self) -> int:
        """Number of items in the audit; they are numbered 1 to this."""
        return int(self.select("SELECT count(*) FROM items")[0][0])

    def item(self, number: int) -> Item:
        """One item with all its texts; DataError where there is none of that number."""
        records = self.select(rows.ITEM, number)
        if not records:
            raise DataError(f"has no item {number}", file=self.path, allowed=f"1 to {self.item_count}")
        return rows.item_of(records[0])

    def items(self) -> list[Item]:
        """All items with all their texts, by number."""
        return [rows.item_of(row) for row in self.select(rows.ITEMS)]

    def order(self, annotator: str) -> list[int]:
        """The items' numbers in this annotator's own order, the same each time and different for each annotator.

        It depends on the audit's seed, the name and the items alone: a hash decides, so no library's shuffle does.
        """
        name = clean_name(annotator)
        keyed = self.select("SELECT id, key FROM items")
        return [i for _, i in sorted((digest(f"{self.seed}|{name}|{key}"), i) for i, key in keyed)]

    def register(self, annotator: str, *, origin: str = "here") -> str:
        """Make an annotator known, once; returns the name as it is kept (blanks trimmed and joined).

        SpecError for a name that is empty, longer than 80 characters or not printable, or that differs from a known
        one in upper and lower case only: two people by one name would be counted as two raters.
        """
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
        """Names of those who answered anything in the round, in the order in which they came."""
        sql = "SELECT name FROM annotators WHERE name IN (SELECT annotator FROM answers WHERE round = ?)"
        return [str(name) for (name,) in self.select(f"{sql} ORDER BY since, name", round_no)]

    def registered(self) -> list[str]:
        """Names of all annotators, with answers or without, in the order in which they came."""
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
    ) -> ItemState:
        """Commit answers of an annotator (made known if new) about an item, and say how the item now stands.

        Parameters
        ----------
        values : mapping
            Category -> 1 (the error is there), 0 (it is not) or None (take the answer back). Categories that are not
            named stay as they are; nothing is filled in.
        note : str, optional
            Replaces the annotator's note about the item; "" empties it, None leaves it.
        seconds : float, optional
            Time spent since the last call about this item; it is added up.

        Raises
        ------
        SpecError
            For an unknown category or a value other than 0, 1 and None.
        DataError
            For an unknown item; in round 2, for a category that somebody else has settled.
        """
        name = self.register(annotator)
        changed = check_values(values, [c.key for c in self.categories], seconds)
        with self.transaction() as db:
            before = self._state(db, name, item, round_no)
            rows.change(db, self.path, (round_no, name, item), before, changed, note, seconds)
            return self._state(db, name, item, round_no)

    def undo(self, annotator: str, *, round_no: int = ANNOTATION) -> Undone | None:
        """Take back the annotator's last change that stands (call again for the one before); None where there is none.

        Values and note become what they were; the time that was spent stays.
        """
        name = clean_name(annotator)
        with self.transaction() as db:
            sql = "SELECT id, item, before FROM history WHERE annotator = ? AND round = ? AND undone IS NULL"
            row = db.execute(f"{sql} ORDER BY id DESC LIMIT 1", (name, round_no)).fetchone()
            if row is None:
                return None
            step, item, before = row[0], int(row[1]), orjson.loads(row[2])
            rows.put(db, self.path, (round_no, name, item), before["values"], before["note"])
            db.execute("UPDATE history SET undone = ? WHERE id = ?", (time.time(), step))
            return Undone(item, self._state(db, name, item, round_no))

    def state(self, annotator: str, item: int, *, round_no: int = ANNOTATION) -> ItemState:
        """Answers of the annotator on the item so far; DataError for an unknown item."""
        with self._lock, database.sentences(self.path):
            return self._state(self._db, clean_name(annotator), item, round_no)

    def answers(self, *, round_no: int = ANNOTATION) -> list[Answer]:
        """Every answer of a round, by annotator and item; `done` where its item is done for its annotator."""
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
        """(annotator, item) -> (note, seconds), where there is either."""
        records = self.select("SELECT annotator, item, note, seconds FROM remarks WHERE round = ?", round_no)
        return {(name, item): (note, seconds) for name, item, note, seconds in records}

    def progress(self, annotator: str) -> Progress:
        """Progress of an annotator in round 1: done, begun and open items, in the annotator's order."""
        name = clean_name(annotator)
        sql = "SELECT item, count(*) FROM answers WHERE round = 1 AND annotator = ? GROUP BY item"
        given = dict(self.select(sql, name))
        total = len(self.categories)
        order = self.order(name)
        done = [i for i in order if given.get(i, 0) == total]
        begun = [i for i in order if 0 < given.get(i, 0) < total]
        following = next((i for i in order if given.get(i, 0) < total), None)
        return Progress(len(order), done, begun, following)

    def select(self, sql: str, *values: Any) -> list[Any]:
        """Records that a query finds; for the modules of this package."""
        with self._lock, database.sentences(self.path):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Context in which all reads see the audit at one moment, whatever others write meanwhile."""
        with self._lock, database.sentences(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Context of a transaction, on disk as a whole when the block ends or not at all; for the modules of this
        package.
        """
        with self._lock, database.sentences(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _state(self, db: sqlite3.Connection, name: str, item: int, round_no: int) -> ItemState:
        return rows.state(db, self.path, len(self.categories), name, item, round_no)
