"""Stores a study in one SQLite file: texts, raters' lists, and every answer they gave, each on disk before it is
confirmed.

Answers are single and append-only. An answer says which value it replaces; where the file holds another one by then,
given in another tab or on another device, it is kept as late and does not count, and the page is told. The current
value is the last that counts, by the file's own sequence and never by a rater's clock.
"""

from __future__ import annotations

import math
import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, SpecError, unknown
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion
from judge.base.work_file import FileKind, WorkFile, creating, sentences
from judge.lab.people.study import Drawn, Entry, Text

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;  -- JSON; 'people_format' a bare number

CREATE TABLE texts (
    id INTEGER PRIMARY KEY,          -- from 1
    key TEXT NOT NULL,               -- hash of text and story-prompt
    story TEXT NOT NULL,             -- id in its dataset
    story_prompt TEXT NOT NULL,
    system TEXT NOT NULL,
    text TEXT NOT NULL,
    origin INTEGER,                  -- the text that was damaged
    damage TEXT,                     -- perturbation and strength
    practice INTEGER NOT NULL
);

CREATE TABLE raters (
    name TEXT PRIMARY KEY,           -- a pseudonym: r01, r02...
    withdrawn REAL,                  -- seconds since 1970, here and below; NULL = takes part
    erased INTEGER NOT NULL DEFAULT 0  -- how many answers were blanked
) WITHOUT ROWID;

CREATE TABLE lists (
    rater TEXT NOT NULL REFERENCES raters (name),
    place INTEGER NOT NULL,          -- from 0, in reading order
    text INTEGER NOT NULL REFERENCES texts (id),
    use TEXT NOT NULL CHECK (use IN ('rating', 'repeat', 'check', 'practice')),
    of INTEGER,                      -- place of the first reading, or of the whole story
    beside INTEGER REFERENCES texts (id),  -- the text on the right, where two are compared
    PRIMARY KEY (rater, place)
) WITHOUT ROWID;

CREATE TABLE answers (               -- nothing is ever changed or deleted here, but by a withdrawal that erases
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,           -- name that the page gave it; one that is sent again is stored once
    rater TEXT NOT NULL,
    place INTEGER NOT NULL,
    field TEXT NOT NULL,             -- a criterion's name, or 'comment', 'skip', or '' where only time passed
    value REAL,                      -- NULL: taken back
    words TEXT,                      -- of a comment, the reason of a skip, or 'cannot tell' of a label
    late INTEGER NOT NULL,           -- another answer had been given meanwhile: kept, and does not count
    active REAL NOT NULL,            -- seconds in which the rater did something, since the message before
    visible REAL NOT NULL,           -- seconds in which the page was in sight
    wall REAL NOT NULL,              -- seconds by the clock on the wall
    facts TEXT NOT NULL,             -- JSON: client's time, page load, input kind, scrolled to the end, version
    at REAL NOT NULL,
    UNIQUE (rater, message, field),
    FOREIGN KEY (rater, place) REFERENCES lists (rater, place)
);
CREATE INDEX answers_by_place ON answers (rater, place, field, seq);

CREATE TABLE events (                -- consent, breaks, guidelines read, withdrawal
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,
    rater TEXT NOT NULL REFERENCES raters (name),
    kind TEXT NOT NULL,
    facts TEXT NOT NULL,
    at REAL NOT NULL,
    UNIQUE (rater, message)
);
"""
KIND = FileKind("study", "a", "people_format", 2, TABLES, "judge people sample DATASET -o FILE makes a study")
DEFAULT_NAME = "people.sqlite"
COMMENT, SKIP = "comment", "skip"
# Said of a criterion in place of a label: an answer, and no rating.
UNSURE = "cannot tell"
EVENTS = ("consent", "break", "guidelines", "stop")
SKIPS = ("do not want to read this", "cannot be read", "know this story", "other")
_LONGEST = 20_000

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds since a page's message before this: active, with the page in sight, and by the clock."""

    active: float = 0.0
    visible: float = 0.0
    wall: float = 0.0

    def checked(self) -> Spent:
        """These seconds, with 0 for what no clock can have measured (a clock that was set back)."""
        return Spent(*(v if math.isfinite(v) and v >= 0 else 0.0 for v in (self.active, self.visible, self.wall)))


@dataclass(frozen=True, slots=True)
class State:
    """What counts of a rater's place: criterion -> rating, comment, reason of a skip, active seconds; `seq` is the
    number of the last answer. `late` says which fields of the message at hand came too late to count; `unsure` are
    criteria of which the rater cannot tell the label."""

    values: dict[str, float]
    comment: str = ""
    skip: str = ""
    seconds: float = 0.0
    seq: int = 0
    late: tuple[str, ...] = ()
    unsure: frozenset[str] = frozenset()

    def done(self, criteria: Sequence[str]) -> bool:
        """Whether the place is skipped or every criterion has an answer."""
        return bool(self.skip) or all(name in self.values or name in self.unsure for name in criteria)

    def current(self, name: str) -> Value:
        """What counts of one field; None where nothing was said."""
        said = {COMMENT: self.comment or None, SKIP: self.skip or None} | dict.fromkeys(self.unsure, UNSURE)
        return said.get(name, self.values.get(name))


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A place that a rater has answered, for reports and exports."""

    rater: str
    place: int
    entry: Entry
    text: Text
    state: State


class StudyStore(WorkFile):
    """An open study. All methods may be called from any thread."""

    kind = KIND

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self.study_id = str(self.meta["id"])
        self.criteria = tuple(Criterion.of(record) for record in self.meta["criteria"])
        self.names = tuple(criterion.name for criterion in self.criteria)
        self._by_name = dict(zip(self.names, self.criteria, strict=True))

    @classmethod
    def create(cls, path: Path, drawn: Drawn, consent: str) -> StudyStore:
        """A new study, made whole or not at all. Raises DataError if the file exists."""
        records = [criterion.record() for criterion in drawn.criteria]
        meta = {
            "id": uuid.uuid4().hex[:12],
            "design": drawn.described,
            "criteria": records,
            "guidelines": fingerprint(records),
            "consent": consent,
            "consent_hash": fingerprint(consent),
            "notes": list(drawn.notes),
        }
        width = max(2, len(str(len(drawn.lists))))
        with creating(path, cls.kind) as db:
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, orjson.dumps(v).decode()) for k, v in meta.items()])
            db.executemany(
                "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (i, t.key, t.story, t.story_prompt, t.system, t.text, t.origin, t.damage, int(t.practice))
                    for i, t in enumerate(drawn.texts, start=1)
                ],
            )
            for number, entries in enumerate(drawn.lists, start=1):
                name = f"r{number:0{width}d}"
                db.execute("INSERT INTO raters (name) VALUES (?)", (name,))
                rows = [(name, place, e.text, e.use, e.of, e.beside) for place, e in enumerate(entries)]
                db.executemany("INSERT INTO lists VALUES (?, ?, ?, ?, ?, ?)", rows)
        return cls.open(path)

    @classmethod
    def located(cls, path: Path) -> Path:
        return path / DEFAULT_NAME if path.is_dir() else path

    @property
    def together(self) -> bool:
        """Whether all criteria of a story stand on one page."""
        return bool(self.meta["design"]["options"]["together"])

    @property
    def pairs(self) -> bool:
        """Whether people compare two stories, rather than rate one."""
        return bool(self.meta["design"]["options"]["ask"] == "pairs")

    def may_be_unsure(self, criterion: Criterion) -> bool:
        """Whether one may say that one cannot tell a criterion's label."""
        return bool(criterion.scale.labels) and not self.pairs

    def raters(self) -> list[str]:
        """All raters' pseudonyms, in order."""
        return [str(name) for (name,) in self.select("SELECT name FROM raters ORDER BY name")]

    def withdrawn(self) -> dict[str, int]:
        """Raters who left with their answers -> how many answers were blanked."""
        return {str(n): int(e) for n, e in self.select("SELECT name, erased FROM raters WHERE withdrawn IS NOT NULL")}

    def texts(self) -> dict[int, Text]:
        """All texts by number. Raises DataError where one is not what its hash says: a rating belongs to one text."""
        sql = "SELECT id, key, story, story_prompt, system, text, origin, damage, practice FROM texts ORDER BY id"
        found = {}
        for number, key, story, prompt, system, text, origin, damage, practice in self.select(sql):
            found[int(number)] = Text(story, prompt, system, text, origin, damage, bool(practice))
            if found[int(number)].key != key:
                raise DataError(f"the text of story {story!r} was changed after the study was made", file=self.path)
        return found

    def entries(self, rater: str) -> list[Entry]:
        """A rater's list, in reading order. Raises SpecError for an unknown rater."""
        self.check_rater(rater)
        rows = self.select("SELECT text, use, of, beside FROM lists WHERE rater = ? ORDER BY place", rater)
        return [Entry(int(text), use, of, beside) for text, use, of, beside in rows]

    def check_rater(self, rater: str) -> None:
        """Raise SpecError for a rater that this study does not have."""
        names = self.raters()
        if rater not in names:
            raise SpecError(unknown("rater", rater, names))

    def save(
        self,
        rater: str,
        place: int,
        fields: Mapping[str, Value],
        *,
        message: str,
        before: Mapping[str, Value] | None = None,
        spent: Spent | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> State:
        """What counts of the place after a page's message: `fields` maps criteria, "comment" and "skip" to new values,
        None takes one back. Where the file holds something else than `before` says, or the study is closed, a field
        comes too late: it is kept and does not count. A message that is sent several times is stored once. Raises
        SpecError for a value that the scale does not have, DataError for a place that the rater does not have."""
        for name, value in fields.items():
            self._check(name, value)
        spent = (spent or Spent()).checked()
        with self.transaction() as db:
            state = self._state(db, rater, place)
            known = db.execute("SELECT field, late FROM answers WHERE rater = ? AND message = ?", (rater, message))
            if stored := known.fetchall():
                return _with(state, tuple(str(name) for name, late in stored if late))
            closed = self.closed() is not None
            late = tuple(
                name
                for name, value in fields.items()
                if closed or (before is not None and state.current(name) not in (before.get(name), value))
            )
            times = (spent.active, spent.visible, spent.wall)
            for name, value in (fields or {"": None}).items():
                words = value if isinstance(value, str) else None
                number = None if isinstance(value, str) else value
                row = (message, rater, place, name, number, words, int(name in late), *times, _json(facts), time.time())
                db.execute(_INSERT, row)
                times = (0.0, 0.0, 0.0)
            return _with(self._state(db, rater, place), late)

    def _check(self, name: str, value: Value) -> None:
        if name in (COMMENT, SKIP):
            if value is not None and (not isinstance(value, str) or len(value) > _LONGEST):
                raise SpecError(f"{name} must be a text of at most {_LONGEST} characters")
            return
        if name not in self._by_name:
            raise SpecError(unknown("criterion", name, self.names))
        scale = self._by_name[name].scale
        if value == UNSURE and self.may_be_unsure(self._by_name[name]):
            return
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and scale.on_step(float(value))):
            allowed = ", ".join(f"{point:g}" for point in scale.points())
            raise SpecError(f"{name} was rated {value!r}; allowed: {allowed}, or nothing")

    def closed(self) -> str | None:
        """The day on which the study was closed; None while answers count."""
        rows = self.select("SELECT value FROM meta WHERE key = 'closed'")
        return orjson.loads(rows[0][0]) if rows else None

    def close_study(self, *, closed: bool) -> None:
        """Close the study, after which answers are kept and do not count, or open it again."""
        self.keep("closed", _today() if closed else None)

    def exported(self, sequence: int, file: str) -> None:
        """Keep that answers up to `sequence` were written to a file, so that the report can name later ones."""
        self.keep("export", {"sequence": sequence, "file": file, "date": _today()})

    def state(self, rater: str, place: int) -> State:
        """What counts of a rater's place. Raises DataError for a place that the rater does not have."""
        with self._lock, sentences(self.path, self.kind):
            return self._state(self._db, rater, place)

    def state_in(self, rater: str, place: int) -> State:
        """What counts of a place of the rater's, within `reading`."""
        return _state_of(self.select(_OF_PLACE, rater, place))

    def _state(self, db: sqlite3.Connection, rater: str, place: int) -> State:
        if db.execute("SELECT 1 FROM lists WHERE rater = ? AND place = ?", (rater, place)).fetchone() is None:
            raise DataError(f"has no place {place} for {rater!r}", file=self.path)
        rows = db.execute(_OF_PLACE, (rater, place)).fetchall()
        return _state_of(rows)

    def note(self, rater: str, kind: str, *, message: str, facts: Mapping[str, Any] | None = None) -> None:
        """Keep an event of a rater, once for each message. Raises SpecError for an unknown kind."""
        if kind not in EVENTS:
            raise SpecError(unknown("event", kind, EVENTS))
        with self.transaction() as db:
            sql = "INSERT OR IGNORE INTO events (message, rater, kind, facts, at) VALUES (?, ?, ?, ?, ?)"
            db.execute(sql, (message, rater, kind, _json(facts), time.time()))

    def events(self, rater: str) -> list[tuple[str, dict[str, Any], float]]:
        """Events of a rater: kind, facts, time; oldest first."""
        rows = self.select("SELECT kind, facts, at FROM events WHERE rater = ? ORDER BY seq", rater)
        return [(kind, orjson.loads(facts), at) for kind, facts, at in rows]

    def withdraw(self, rater: str, *, erase: bool) -> int:
        """Take a rater out: no table, export or pack holds the answers any more; with `erase` they are blanked in the
        file as well, and only their number stays. The number of answers is returned."""
        self.check_rater(rater)
        with self.transaction() as db:
            (count,) = db.execute("SELECT count(*) FROM answers WHERE rater = ?", (rater,)).fetchone()
            db.execute("UPDATE raters SET withdrawn = coalesce(withdrawn, ?) WHERE name = ?", (time.time(), rater))
            if erase:
                db.execute("UPDATE raters SET erased = max(erased, ?) WHERE name = ?", (count, rater))
                db.execute("DELETE FROM answers WHERE rater = ?", (rater,))
                db.execute("DELETE FROM events WHERE rater = ?", (rater,))
        if erase:
            with self._lock, sentences(self.path, self.kind):
                # Deleted rows stay readable in the file's free pages until it is written anew.
                self._db.execute("VACUUM")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(count)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The content of a study at one moment: `sequence` is the number of the last answer. `lists` maps rater -> list,
    `answered` are the places of raters who take part, by rater and place; `late` counts answers that came too late."""

    path: Path
    study_id: str
    meta: Mapping[str, Any]
    criteria: tuple[Criterion, ...]
    texts: Mapping[int, Text]
    lists: Mapping[str, tuple[Entry, ...]]
    withdrawn: Mapping[str, int]
    answered: tuple[Answered, ...]
    sequence: int
    late: int
    consented: frozenset[str] = field(default_factory=frozenset)

    @property
    def pairs(self) -> bool:
        """Whether people compare two stories, rather than rate one."""
        return bool(self.meta["design"]["options"]["ask"] == "pairs")

    @property
    def noun(self) -> str:
        """What people give."""
        return "comparisons" if self.pairs else "ratings"

    @property
    def asked(self) -> int:
        """Number of ratings of stories (checks and practice left out) that the design asks of raters who take part."""
        places = [e for r, entries in self.lists.items() if r not in self.withdrawn for e in entries]
        return len(self.criteria) * sum(entry.use == "rating" for entry in places)

    @property
    def given(self) -> int:
        """Number of these ratings that were given; of comparisons, likewise."""
        return sum(len(one.state.values) for one in self.answered if one.entry.use == "rating")


def read_study(path: Path | str) -> Study:
    """The content of a study's file at one moment. Raises DataError if it is none."""
    with StudyStore.open(path, writing=False) as store, store.reading():
        texts = store.texts()
        lists = {name: tuple(store.entries(name)) for name in store.raters()}
        withdrawn = store.withdrawn()
        rows: dict[tuple[str, int], list[Any]] = {}
        for rater, place, *rest in store.select(_ALL):
            rows.setdefault((rater, place), []).append(rest)
        (sequence, late) = store.select("SELECT coalesce(max(seq), 0), coalesce(sum(late), 0) FROM answers")[0]
        answered = tuple(
            Answered(rater, place, lists[rater][place], texts[lists[rater][place].text], _state_of(of_place))
            for (rater, place), of_place in rows.items()
            if rater not in withdrawn
        )
        consented = {str(name) for (name,) in store.select("SELECT rater FROM events WHERE kind = 'consent'")}
        meta, criteria, study_id = store.meta, store.criteria, store.study_id
        path = store.path
    return Study(
        path, study_id, meta, criteria, texts, lists, withdrawn, answered, sequence, late, frozenset(consented)
    )


def _state_of(rows: Iterable[Sequence[Any]]) -> State:
    values: dict[str, float] = {}
    unsure: set[str] = set()
    words = {COMMENT: "", SKIP: ""}
    seconds, last = 0.0, 0
    for seq, name, value, said, late, active in rows:
        seconds, last = seconds + active, seq
        if late or not name:
            continue
        if name in words:
            words[name] = said or ""
            continue
        values.pop(name, None)
        unsure.discard(name)
        if value is not None:
            values[name] = float(value)
        elif said is not None:
            unsure.add(name)
    return State(values, words[COMMENT], words[SKIP], seconds, last, unsure=frozenset(unsure))


def _with(state: State, late: tuple[str, ...]) -> State:
    return replace(state, late=late)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _json(facts: Mapping[str, Any] | None) -> str:
    return orjson.dumps(dict(facts or {}), option=orjson.OPT_SORT_KEYS).decode()


_INSERT = """INSERT INTO answers (message, rater, place, field, value, words, late, active, visible, wall, facts, at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_OF_PLACE = "SELECT seq, field, value, words, late, active FROM answers WHERE rater = ? AND place = ? ORDER BY seq"
_ALL = "SELECT rater, place, seq, field, value, words, late, active FROM answers ORDER BY rater, place, seq"
