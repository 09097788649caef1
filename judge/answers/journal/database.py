"""A journal's SQLite file: its tables, its checked definition and its usage rows. SQLite's errors become sentences with
advice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.answers.journal import at_rest
from judge.base import sqlite_file
from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.foreign import invalid
from judge.base.records import Criterion, Response, Structured
from judge.base.sqlite_file import closed_on_error, strange
from judge.base.wording import Advice

# Checks a journal's stored definition, which says what was asked, before anything is read by it.

_HINT = f"{TELLS_INTACT}; copy the folder again from where it came"


class _Published(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    file: str
    outer: dict[str, str]
    tasks: list[Annotated[list[str], Field(min_length=3, max_length=3)]]


class _Chosen(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    set: str


class _Definition(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
    # Fields by which journals are read; those with None are missing in journals of earlier versions.
    name: str
    dataset: str | None = None
    dataset_name: str
    dataset_hash: str
    criteria_records: list[dict[str, Any]]
    criteria: _Chosen
    published: _Published | None = None
    eval_prompts: dict[str, str]
    eval_prompt_sources: dict[str, str]
    structured: Structured
    scoring: Literal["text", "logprobs"] | None = None
    generation: dict[str, float | int | str | list[str] | None]
    system: str | None
    api: str | None = None
    judge_key: str | None = None
    labels_note: str | None = None
    rater_identity: bool | str | None = None
    people: dict[str, str] | None = None
    rating_patterns: dict[str, str] | None = None
    joint: dict[str, list[str]] | None = None
    orders: str | None = None
    ties: bool | None = None
    writes: bool | None = None
    shard: dict[str, Any] | None = None


def checked_definition(definition: Any, journal: Path) -> Any:
    """The definition as stored. Raises RunFolderError, naming the field, for one by which no answer can be read."""
    try:
        _Definition.model_validate(definition)
        for record in definition["criteria_records"]:
            Criterion.of(record)
        if definition["eval_prompts"].keys() != definition["eval_prompt_sources"].keys():
            raise ValueError("names other Eval-Prompts than it has templates of")
    except ValidationError as error:
        raise RunFolderError(f"{journal}: its definition {invalid(error)}", hint=_HINT) from error
    except (KeyError, TypeError, ValueError) as error:
        wrong = f"a criterion has no {error}" if isinstance(error, KeyError) else f"something in it {error}"
        raise RunFolderError(f"{journal}: its definition cannot be used: {wrong}", hint=_HINT) from error
    return definition


# The journal's tables and format version. Parsed ratings are not stored: answers are parsed when a table is built.

# Raised when a released program can no longer read older journals as they stand; see tests/journals.
FORMAT = 1

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE stories (
    position INTEGER PRIMARY KEY,            -- order in the dataset, from 0
    id TEXT NOT NULL UNIQUE,
    story_prompt TEXT NOT NULL,
    system TEXT NOT NULL,
    text TEXT NOT NULL,
    reference TEXT
);
CREATE INDEX stories_by_prompt ON stories (story_prompt, position);

CREATE TABLE ratings (                       -- people's ratings; rater is NULL where identity is unknown
    story INTEGER NOT NULL REFERENCES stories (position),
    criterion TEXT NOT NULL,
    rater TEXT,
    value REAL NOT NULL
);
CREATE INDEX ratings_by_story ON ratings (story);

CREATE TABLE sessions (                      -- one row for each time a program worked on this journal
    id INTEGER PRIMARY KEY,
    started REAL NOT NULL,                   -- seconds since 1970, here and below
    first_request REAL,
    last_commit REAL,
    executor TEXT NOT NULL,
    ended TEXT                               -- done, interrupted, stopped: SENTENCE; NULL = running or killed
);

CREATE TABLE queries (
    key TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    criterion TEXT NOT NULL,
    eval_prompt TEXT NOT NULL,
    flags TEXT NOT NULL                      -- joined by ';'
) WITHOUT ROWID;

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    query_key TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('answered', 'provider_error', 'timeout', 'filtered')),
    final INTEGER NOT NULL,                  -- 1 = answered, or given up: running again does not ask again
    started REAL NOT NULL,
    seconds REAL NOT NULL,
    session INTEGER NOT NULL,
    status INTEGER,                          -- HTTP status, where there was one
    error_kind TEXT,
    error TEXT
);
CREATE INDEX attempts_by_repeat ON attempts (query_key, repeat);

CREATE TABLE responses (                     -- accepted answers
    query_key TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    text TEXT NOT NULL,
    finish_reason TEXT,
    reasoning TEXT,
    prompt_tokens INTEGER,                   -- of the whole call, on the first of its repeats; likewise the next two
    completion_tokens INTEGER,               -- all that is billed as answer, thinking included
    cached_tokens INTEGER,
    logprobs TEXT,                           -- JSON
    model TEXT,                              -- as the server named it
    UNIQUE (query_key, repeat)
);

CREATE TABLE replaced (                      -- answers that were asked again on demand, kept; same columns
    query_key TEXT NOT NULL, repeat INTEGER NOT NULL, text TEXT NOT NULL, finish_reason TEXT, reasoning TEXT,
    prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, logprobs TEXT, model TEXT
);
"""

# Made when the first shard is merged, so that journals without shards stay as they were.
SHARDS = """
CREATE TABLE IF NOT EXISTS shards (          -- files of attempts merged into this journal; only where there were any
    name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL,                   -- attempts it brought
    merged REAL NOT NULL
)
"""

# Made when the first rating with a panel is stored, so that journals without panels stay as they were.
PANELS = """
CREATE TABLE IF NOT EXISTS panels (          -- panels of people's ratings; only where some rating has one
    story INTEGER NOT NULL REFERENCES stories (position),
    place INTEGER NOT NULL,                  -- the rating's place among those of its story, from 0
    panel TEXT NOT NULL,
    PRIMARY KEY (story, place)
) WITHOUT ROWID
"""

USAGE = """
CREATE TABLE usage (                         -- what a server said of a call beyond its tokens; only where it did
    attempt INTEGER PRIMARY KEY,             -- the first repeat's
    reasoning_tokens INTEGER,                -- the part of completion_tokens that was thinking
    cache_write_tokens INTEGER,              -- the part of prompt_tokens that went into the provider's cache
    cost REAL                                -- dollars, as the server named them
)
"""

PAIRS = """
CREATE TABLE IF NOT EXISTS pairs (           -- what a run compares, in the order in which it is asked; else no table
    position INTEGER PRIMARY KEY,            -- from 0; a pair that is shown in both orders has two rows
    number INTEGER NOT NULL,                 -- of the pair, from 0: a limit counts pairs
    pair TEXT NOT NULL,
    first TEXT NOT NULL,                     -- stories' ids, as they are shown
    second TEXT NOT NULL
)
"""

COMPARISONS = """
CREATE TABLE IF NOT EXISTS comparisons (     -- queries that compare: queries.story was shown first
    query_key TEXT PRIMARY KEY,
    pair TEXT NOT NULL,
    second TEXT NOT NULL                     -- the story that was shown second
) WITHOUT ROWID
"""

PREFERENCES = """
CREATE TABLE IF NOT EXISTS preferences (     -- people's; rater is NULL where identity is unknown
    pair TEXT NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    criterion TEXT NOT NULL,
    rater TEXT,
    value TEXT NOT NULL                      -- first, second or tie
)
"""

# Like the three before it, and `shards`: made on first use, so that journals which need none stay as they were.
COMMENTS = """
CREATE TABLE IF NOT EXISTS comments (        -- what people wrote about their ratings
    story INTEGER NOT NULL,
    place INTEGER NOT NULL,                  -- of the rating among the story's, from 0
    comment TEXT NOT NULL,
    PRIMARY KEY (story, place)
) WITHOUT ROWID
"""

# Additions to format 1, numbered from 1, which older programs do not see. PRAGMA user_version counts those made.
#
# Each is made when the first row needs it, so that journals which need none stay as they were.
MIGRATIONS = (USAGE,)


def create(path: Path) -> sqlite3.Connection:
    """A connection that can write a new journal, which must not exist yet."""
    refuse_link(path)
    at_rest.forget(path)
    with sentences(path), closed_on_error(_connect(path)) as connection:
        connection.executescript("BEGIN IMMEDIATE;" + TABLES)
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        connection.commit()
        return connection


def _refuse_cut(path: Path) -> None:
    # SQLite reads missing pages as zeros. With a write-ahead log they may still be in the log. A file open in this
    # process was checked before, and reading it would take the connection's locks away.
    if sqlite_file.is_open(path):
        return
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return
    with path.open("rb") as stream:
        header = stream.read(32)
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    if header.startswith(b"SQLite format 3\0") and path.stat().st_size < pages * (65536 if size == 1 else size):
        raise RunFolderError(f"{path} is cut short: its end is missing", hint="restore it from a copy")


def is_blank(path: Path) -> bool:
    """Whether a file has no tables yet: its writer was stopped, or found the disk full, before the first commit."""
    if at_rest.is_noted(path):
        return False
    try:
        with closing(sqlite_file.read_only(path)) as db:
            return bool(db.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])
    except sqlite3.DatabaseError:
        return False


def open_writing(path: Path) -> sqlite3.Connection:
    refuse_link(path)
    at_rest.check(path)
    _refuse_cut(path)
    with sentences(path), closed_on_error(sqlite_file.connect(path, autocommit=True, shared=True)) as connection:
        _check_format(connection, path)
        sqlite_file.use_wal(connection, "FULL")
        if connection.execute("SELECT 1 FROM meta WHERE key = 'texts_left_out'").fetchone():
            raise RunFolderError(
                f"{path} holds no texts of its stories: no more requests can be made from it",
                hint="go on in the run that the bundle was made from",
            )
        return connection


def open_reading(path: Path) -> sqlite3.Connection:
    """A read-only connection. It works beside a process that writes the journal, and in a read-only folder."""
    if not path.is_file():
        raise RunFolderError(f"{path} does not exist", hint="judge run RUN makes it")
    with sentences(path):
        at_rest.check(path)
        _refuse_cut(path)
        return sqlite_file.open_reading(path, lambda connection: _check_format(connection, path), shared=True)


def refuse_link(path: Path) -> None:
    """Raise RunFolderError for a symbolic link: a journal is never written through one."""
    if path.is_symlink():
        raise RunFolderError(
            f"{path} is a link, and nothing is written through it", hint="put the journal itself in its place"
        )


def migrate(connection: sqlite3.Connection, number: int) -> None:
    """Apply the missing schema additions up to number `number`. The caller has begun a transaction."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for each in range(version + 1, number + 1):
        connection.execute(MIGRATIONS[each - 1])
        connection.execute(f"PRAGMA user_version = {each}")


def has_usage(connection: sqlite3.Connection) -> bool:
    """Whether the journal has reasoning tokens, cache-write tokens and costs as servers report them."""
    return has_table(connection, "usage")


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the journal has a table `name`. Some are created only on first use."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def fold(path: Path) -> None:
    """Fold SQLite's write-ahead log into the file, which then holds everything, and leave WAL mode, so that readers
    work in a read-only folder. While another process reads, only the log is folded. A symbolic link is left alone,
    because its target may belong to somebody else, and a damaged journal, because writing would record its checksum."""
    try:
        refuse_link(path)
        at_rest.check(path)
    except RunFolderError:
        return
    with sentences(path), closing(_connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA journal_mode = DELETE")
    at_rest.note(path)


def _connect(path: Path) -> sqlite3.Connection:
    # Statements run on the event loop's thread and commits on another, never both at once: see JournalWriter.
    with closed_on_error(sqlite_file.connect(path, autocommit=True, shared=True)) as connection:
        sqlite_file.use_wal(connection, "FULL")
        return connection


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        row = None
    if row is None and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise RunFolderError(
            f"{path} is empty: what wrote it was stopped before its first commit, and no answer is lost",
            hint=Advice(
                "give the command that wrote it again (judge run, judge run {merge}), which begins it anew", merge=True
            ),
        )
    if row is None:
        raise RunFolderError(f"{path} is a SQLite file but not a journal", hint="give the result folder of a run")
    if str(row[0]) != str(FORMAT):
        raise RunFolderError(
            f"{path} is a journal of format {row[0]}; this program reads format {FORMAT}",
            hint="install the version of storyjudge that the folder's manifest.json names",
        )
    for kind, name in strange(connection):
        raise RunFolderError(
            f"{path} holds a {kind} {name!r}, which no journal of this program does: nothing was read from it",
            hint="it was changed by another program; take a copy from where it was made",
        )


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Context manager that turns SQLite's errors about `path` into `RunFolderError`s with advice."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text:
            raise RunFolderError(
                f"{path}: the disk is full; everything answered before is kept",
                hint="free some space and run the same command again: it asks only what is missing",
            ) from error
        if "readonly" in text or "unable to open" in text:
            raise RunFolderError(
                f"{path} cannot be written: the folder is read-only or does not exist",
                hint=Advice("check the folder's permissions, or choose another with {output}"),
            ) from error
        if "locked" in text:
            raise RunFolderError(f"{path} is being written by another process", hint="wait for it to finish") from error
        if "not a database" in text or "malformed" in text:
            raise RunFolderError(f"{path} is not a readable journal ({text})", hint="restore it from a copy") from error
        if isinstance(error, sqlite3.OperationalError):
            raise RunFolderError(
                f"{path}: writing or reading failed ({text}); everything answered before is kept",
                hint="check the disk, then run the same command again: it asks only what is missing",
            ) from error
        raise


@contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Context manager that commits what it spans, or takes it back after an error; SQLite's errors are sentences."""
    with sentences(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if db.in_transaction:  # a full disk may have ended it
                db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


# Journal table of the reasoning tokens, cache-write tokens and cost of a call. It exists only where a server reports
# any of them.

# Reasoning tokens, cache-write tokens, cost.
Usage = tuple[int | None, int | None, float | None]

KEYS = ("reasoning_tokens", "cache_write_tokens", "cost")


def usage_in(row: Mapping[str, Any]) -> Usage:
    """Usage of an attempt in a row of another journal; None for each value that the server did not report."""
    return row.get("reasoning_tokens"), row.get("cache_write_tokens"), row.get("cost")


def reported(response: Response) -> Usage | None:
    """Usage that the server reported with an answer; None where it reported none."""
    counts = (response.reasoning_tokens, response.cache_write_tokens, response.cost)
    return None if counts == (None, None, None) else counts


def keep(db: sqlite3.Connection, rows: Iterable[tuple[int, *Usage]]) -> None:
    """Store reported usage of the attempts inserted next in this transaction, as (position among them, *usage)."""
    rows = list(rows)
    if not rows:
        return
    migrate(db, 1)
    # Attempts have one writer, and SQLite numbers a new row one above the highest.
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
    values = [(last + 1 + index, *counts) for index, *counts in rows]
    db.executemany("INSERT INTO usage VALUES (?, ?, ?, ?)", values)
