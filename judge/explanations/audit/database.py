"""The SQLite file of an audit: its tables, and where it lies."""

from __future__ import annotations

from pathlib import Path

from judge.base.errors import DataError
from judge.base.work_file import FileKind

# SQL tables of an audit file, and the version number of its format.

# Raised when a released program can no longer read older audits as they stand.
FORMAT = 1

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;   -- JSON; 'audit_format' a bare number

CREATE TABLE categories (
    position INTEGER PRIMARY KEY,            -- order on the page, from 0
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    question TEXT NOT NULL,                  -- asked so that yes = 1 = the error is there
    press TEXT NOT NULL UNIQUE,              -- the key to press
    export_column TEXT NOT NULL UNIQUE,      -- its column in the CSV export
    inverted INTEGER NOT NULL CHECK (inverted IN (0, 1))  -- that column holds 1 where the error is absent
);

CREATE TABLE items (
    id INTEGER PRIMARY KEY,                  -- from 1, in the order of the sample
    key TEXT NOT NULL UNIQUE,                -- hash of all that follows, by which other files name the item
    dataset TEXT,
    story TEXT,                              -- the story's id in its dataset
    system TEXT,
    story_prompt TEXT,
    text TEXT,                               -- the story; NULL where an imported file does not hold it
    reference TEXT,
    criterion TEXT,                          -- JSON: name, abbreviation, definition, scale, guidelines; NULL = unknown
    explanation TEXT NOT NULL,
    facts TEXT NOT NULL                      -- JSON: what is not shown unless the audit says so; see items.Facts
);

CREATE TABLE practice (
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL                       -- JSON; see practice.PracticeItem
);

CREATE TABLE annotators (
    name TEXT PRIMARY KEY,
    since REAL NOT NULL,                     -- seconds since 1970, here and below
    origin TEXT NOT NULL                     -- 'here', or the name of the file that was imported
) WITHOUT ROWID;

CREATE TABLE answers (                       -- round 1: annotation; round 2: adjudication
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    annotator TEXT NOT NULL REFERENCES annotators (name),
    item INTEGER NOT NULL REFERENCES items (id),
    category TEXT NOT NULL REFERENCES categories (key),
    value INTEGER NOT NULL CHECK (value IN (0, 1)),       -- 1 = the error is there, in every category
    at REAL NOT NULL,
    PRIMARY KEY (round, annotator, item, category)
) WITHOUT ROWID;
CREATE INDEX answers_by_item ON answers (item, round);
CREATE UNIQUE INDEX one_final_answer ON answers (item, category) WHERE round = 2;

CREATE TABLE remarks (                       -- what an annotator wrote of an item, and the time spent on it
    round INTEGER NOT NULL CHECK (round IN (1, 2)),
    annotator TEXT NOT NULL REFERENCES annotators (name),
    item INTEGER NOT NULL REFERENCES items (id),
    note TEXT NOT NULL,
    seconds REAL,                            -- NULL where nobody measured
    PRIMARY KEY (round, annotator, item)
) WITHOUT ROWID;

CREATE TABLE history (                       -- every change, so that it can be undone; nothing is ever deleted here
    id INTEGER PRIMARY KEY,
    round INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    item INTEGER NOT NULL,
    before TEXT NOT NULL,                    -- JSON: {"values": {...}, "note": ...}
    after TEXT NOT NULL,
    at REAL NOT NULL,
    undone REAL                              -- when it was undone; NULL = it stands
);
CREATE INDEX history_by_annotator ON history (annotator, round, id);

CREATE TABLE practice_answers (
    annotator TEXT NOT NULL REFERENCES annotators (name),
    practice INTEGER NOT NULL REFERENCES practice (id),
    category TEXT NOT NULL REFERENCES categories (key),
    value INTEGER NOT NULL CHECK (value IN (0, 1)),
    at REAL NOT NULL,
    PRIMARY KEY (annotator, practice, category)
) WITHOUT ROWID;
"""

# Made with the first message: audits of earlier versions have no such table.
RECEIVED = """
CREATE TABLE IF NOT EXISTS received (        -- messages of pages, so that one that is sent again changes nothing
    message TEXT NOT NULL,
    round INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    item INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (annotator, message)
) WITHOUT ROWID;
"""


# What an audit is called that lies beside its run's definition.
DEFAULT_NAME = "audit.sqlite"

KIND = FileKind("audit", "an", "audit_format", FORMAT, TABLES, "judge audit sample RUN -o FILE makes an audit")


def audit_file(path: Path) -> Path:
    """The audit file of a run's folder, run.yaml or result folder; other paths are returned unchanged. Raises DataError
    if the run has no audit."""
    if path.is_dir():
        folder = path
    elif path.is_file() and path.suffix in (".yaml", ".yml"):
        folder = path.parent
    else:
        return path
    for candidate in (folder, folder.parent):
        if (candidate / DEFAULT_NAME).is_file() and (candidate == folder or (candidate / "run.yaml").is_file()):
            return candidate / DEFAULT_NAME
    raise DataError("holds no audit", file=path, hint=f"judge audit sample {path} makes one")
