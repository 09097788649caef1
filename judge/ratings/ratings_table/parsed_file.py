"""Cache of judgments, `derived/parsed-PARSER.sqlite`, with the state of their journal.

A row is a block: its columns, the names of their codes, and each answer's 16-byte hash; explanations are in a second
table. Hashes show which answers changed in a journal that grew, shrank or was replaced; checksums cover all that is
reused. If it cannot be read or written, answers are parsed again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.answers.parsing.stored_answers import StoredAnswers
from judge.base.fingerprint import fingerprint
from judge.base.records import Answer

# Compact storage of the judgments parsed from a block of answers: columns of numbers, and the explanations as text.

# Columns that hold numbers of names.
NAMES = ("story", "criterion", "eval_prompt", "status", "flags")

COLUMNS = np.dtype([*((name, "<i4") for name in NAMES), ("repeat", "<i4"), ("rating", "<f8")])


class Judged(NamedTuple):
    """One row of the ratings table: one repeat with the judgment parsed from it."""

    story: str
    criterion: str
    eval_prompt: str
    status: str
    flags: str
    repeat: int
    rating: float | None
    explanation: str | None


def judged(answer: Answer, reading: StoredAnswers) -> list[Judged]:
    """The rows of the ratings table from one answer: one for each criterion that it rates."""
    return [
        Judged(
            answer.story,
            criterion,
            answer.eval_prompt,
            judgment.status,
            ";".join(judgment.flags),
            answer.repeat,
            judgment.rating,
            judgment.explanation,
        )
        for criterion, judgment in reading.judgments(answer)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Judgments of one block of answers, one per row. In `rows`, columns of names are indices into `names`; NaN = no
    rating. `explanations` is None where they were not read."""

    rows: NDArray[Any]
    names: dict[str, list[str]]
    explanations: list[str | None] | None

    @classmethod
    def of(cls, judgments: Iterable[Judged]) -> Block:
        """A block of these rows, in order, with names as codes."""
        listed = list(judgments)
        rows = np.empty(len(listed), dtype=COLUMNS)
        names = {}
        for column, name in enumerate(NAMES):
            numbers: dict[str, int] = {}
            rows[name] = [numbers.setdefault(str(row[column]), len(numbers)) for row in listed]
            names[name] = list(numbers)
        rows["repeat"] = [row.repeat for row in listed]
        rows["rating"] = [np.nan if row.rating is None else row.rating for row in listed]
        return cls(rows, names, [row.explanation for row in listed])

    def judged(self) -> list[Judged]:
        """The block's rows, in order, with names as text."""
        columns = [[self.names[name][number] for number in self.rows[name].tolist()] for name in NAMES]
        ratings = [None if rating != rating else rating for rating in self.rows["rating"].tolist()]
        explanations: Sequence[str | None] = self.explanations or [None] * len(self.rows)
        return list(map(Judged, *columns, self.rows["repeat"].tolist(), ratings, explanations))

    def taken(self, chosen: NDArray[np.intp]) -> Block:
        """A block of these rows alone, in this order, with the names that occur in them."""
        rows, names = self.rows[chosen], {}
        for name in NAMES:
            used, rows[name] = np.unique(rows[name], return_inverse=True)
            names[name] = [self.names[name][number] for number in used.tolist()]
        texts = self.explanations
        return Block(rows, names, None if texts is None else [texts[number] for number in chosen.tolist()])


class Blocks:
    """Blocks of judgments as they are read, in memory."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []

    def put(self, block: Block) -> None:
        self._blocks.append(block)

    def clear(self) -> None:
        """Forget all blocks."""
        self._blocks.clear()

    def parts(self) -> Iterator[list[Block]]:
        """Lists of blocks that together hold all rows on their stories."""
        yield self._blocks


# Raised when what is kept changes its shape or its meaning.
FORMAT = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS blocks (
    identity TEXT NOT NULL, number INTEGER NOT NULL, count INTEGER NOT NULL, checksum BLOB NOT NULL,
    names BLOB NOT NULL, columns BLOB NOT NULL, explained BLOB NOT NULL, known BLOB NOT NULL, contents BLOB NOT NULL,
    PRIMARY KEY (identity, number)
);
CREATE TABLE IF NOT EXISTS explanations (
    identity TEXT NOT NULL, number INTEGER NOT NULL, texts BLOB NOT NULL, PRIMARY KEY (identity, number)
);
CREATE TABLE IF NOT EXISTS states (identity TEXT PRIMARY KEY, state TEXT NOT NULL, checksum TEXT NOT NULL,
    settled INTEGER NOT NULL);
"""
_BLOCK = "SELECT checksum, names, columns, explained, known FROM blocks WHERE identity = ? AND number = ?"
_CONTENTS = "SELECT contents FROM blocks WHERE identity = ? AND number = ?"
_TEXTS = "SELECT texts FROM explanations WHERE identity = ? AND number = ?"
# Seconds to wait for another process that writes the file.
_WAIT = 10.0

# What comes of values that are of another kind than was kept.
_DAMAGED = (ValueError, TypeError, AttributeError, OverflowError)

_Found = TypeVar("_Found")


class ParsedFile:
    """Cache of judgments. `identity` is a hash of what determines them besides the answers; only those with it are
    used."""

    def __init__(self, path: Path | None, identity: str) -> None:
        self.identity = identity
        self.path = path
        self.writable = False
        self._db: sqlite3.Connection | None = None
        if path is not None:
            self._open(path)

    def __enter__(self) -> ParsedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db, self.writable = None, False

    @property
    def there(self) -> bool:
        """Whether the cache file is open for reading."""
        return self._db is not None

    def _open(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_WAIT)
            # A power failure may cost the file, never an answer: checksums tell what was lost.
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.executescript(_TABLES)
            self.writable = True
        except (OSError, sqlite3.OperationalError):
            self.close()
            with suppress(OSError, sqlite3.Error):
                self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
                self._db.execute("SELECT count(*) FROM blocks").fetchone()
                return
            self.close()
        except sqlite3.DatabaseError:
            self._begin_anew(path)

    def _begin_anew(self, path: Path) -> None:
        # It is not SQLite or is damaged.
        self.close()
        with suppress(OSError, sqlite3.Error):
            for suffix in ("", "-journal"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_WAIT)
            self._db.executescript("PRAGMA synchronous = OFF;" + _TABLES)
            self.writable = True

    def believed(self, state: str | None, put: Callable[[Block], None], *, explanations: bool) -> int | None:
        """Number of settled repeats, after `put` of each cached block; None if not stored for exactly this state."""
        return None if state is None else self._try(lambda db: self._believed(db, state, put, explanations))

    def _believed(
        self, db: sqlite3.Connection, state: str, put: Callable[[Block], None], explanations: bool
    ) -> int | None:
        db.execute("BEGIN")
        try:
            stored = db.execute("SELECT * FROM states WHERE identity = ?", (self.identity,)).fetchone()
            checksums = self._checksums(db)
            if stored is None or stored[1] != state or stored[2] != _over(state, stored[3], checksums):
                return None
            for number, _ in checksums:
                block = self._block(db, number, explanations)
                if block is None:
                    return None
                put(block[1])
        finally:
            db.rollback()
        return int(stored[3])

    def block(self, number: int) -> tuple[bytes, bytes, Block] | None:
        """A block's hashes of answers, checksum and judgments; None if it is missing or damaged."""

        def read(db: sqlite3.Connection) -> tuple[bytes, bytes, Block] | None:
            db.execute("BEGIN")
            try:
                stored = self._block(db, number, explanations=True)
                contents = db.execute(_CONTENTS, (self.identity, number)).fetchone()
            finally:
                db.rollback()
            if stored is None or _hash(contents[0]) != stored[2]:
                return None
            return contents[0], stored[0], stored[1]

        return self._try(read)

    def _block(self, db: sqlite3.Connection, number: int, explanations: bool) -> tuple[bytes, Block, bytes] | None:
        row = db.execute(_BLOCK, (self.identity, number)).fetchone()
        texts = db.execute(_TEXTS, (self.identity, number)).fetchone() if explanations else None
        if row is None or (explanations and texts is None):
            return None
        checksum, names, columns, explained, contents_hash = row
        try:
            if checksum != _hash(names, columns, explained, contents_hash) or (texts and explained != _hash(texts[0])):
                return None
        except _DAMAGED:
            return None
        levels: dict[str, Any] = orjson.loads(names)
        rows = np.frombuffer(columns, dtype=COLUMNS)
        return (
            checksum,
            Block(rows, {name: levels[name] for name in NAMES}, texts and orjson.loads(texts[0])),
            contents_hash,
        )

    def put(self, number: int, contents: bytes, block: Block, answers: int) -> bytes | None:
        """Store a block, completely or not at all; its checksum, or None. `contents` are the 16-byte hashes of the
        answer behind each judgment, concatenated."""
        if not self.writable:
            return None
        try:
            names, texts = orjson.dumps(block.names), orjson.dumps(block.explanations)
        except TypeError:  # text that is no Unicode, from another's parser
            self.writable = False
            return None
        columns = block.rows.tobytes()
        explained, contents_hash = _hash(texts), _hash(contents)
        checksum = _hash(names, columns, explained, contents_hash)
        row = (self.identity, number, answers, checksum, names, columns, explained, contents_hash, contents)

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            db.execute("INSERT OR REPLACE INTO explanations VALUES (?, ?, ?)", (self.identity, number, texts))

        self._write(write)
        return checksum

    def finish(self, state: str, settled: int, checksums: dict[int, bytes]) -> None:
        """Record that exactly the blocks in `checksums` belong to this state, and delete all others."""

        def write(db: sqlite3.Connection) -> None:
            for table in ("blocks", "explanations", "states"):
                db.execute(f"DELETE FROM {table} WHERE identity != ?", (self.identity,))  # noqa: S608  our own words
            gone = [(self.identity, number) for number, _ in self._checksums(db) if number not in checksums]
            for table in ("blocks", "explanations"):
                db.executemany(f"DELETE FROM {table} WHERE identity = ? AND number = ?", gone)  # noqa: S608
            row = (self.identity, state, _over(state, settled, sorted(checksums.items())), settled)
            db.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", row)

        self._write(write)

    def count(self) -> int:
        """The number of answers whose judgments are stored."""
        sql = "SELECT coalesce(sum(count), 0) FROM blocks WHERE identity = ?"
        return self._try(lambda db: int(db.execute(sql, (self.identity,)).fetchone()[0])) or 0

    def _checksums(self, db: sqlite3.Connection) -> list[tuple[int, bytes]]:
        sql = "SELECT number, checksum FROM blocks WHERE identity = ? ORDER BY number"
        return db.execute(sql, (self.identity,)).fetchall()

    def _try(self, read: Callable[[sqlite3.Connection], _Found]) -> _Found | None:
        if self._db is None:
            return None
        try:
            return read(self._db)
        except sqlite3.Error as error:
            self._failed(error)
        except _DAMAGED:
            pass
        return None

    def _write(self, write: Callable[[sqlite3.Connection], None]) -> None:
        if self._db is None or not self.writable:
            return
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                write(self._db)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.rollback()
                raise
        except sqlite3.Error as error:
            self.writable = False
            self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        # A damaged file is replaced by an empty one; other errors (full disk, lock) are ignored.
        broken = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if broken and self.path is not None:
            self._begin_anew(self.path)


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _over(state: str, settled: int, checksums: Iterable[tuple[int, bytes]]) -> str:
    return fingerprint([state, settled, [[number, checksum.hex()] for number, checksum in checksums]])
