"""Consistent copies of a journal or an audit file, with or without texts, while another process may write the
source."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import orjson

from judge.answers.journal import at_rest, database
from judge.base.errors import RunFolderError
from judge.base.fingerprint import sha256_text
from judge.base.sqlite_file import connect, open_reading, read_only, strange

# Key of `meta` and name of the table in a journal without texts.
LEFT_OUT = "texts_left_out"

_TABLE = f"""
CREATE TABLE {LEFT_OUT} (                    -- what stood in stories: SHA-256 of UTF-8, and the text's words
    position INTEGER PRIMARY KEY,
    story_prompt TEXT NOT NULL,
    text TEXT NOT NULL,
    reference TEXT,
    words INTEGER NOT NULL
)
"""


def snapshot(source: Path, target: Path) -> None:
    """Copy an SQLite file as of one moment, without a log file; equal content gives equal bytes. Raises RunFolderError
    for an unreadable source."""
    with database.sentences(source), closing(_reading(source)) as before, closing(connect(target)) as after:
        # All pages in one step: one read transaction, beside which a writer goes on in its log.
        before.backup(after, pages=-1)
        after.execute("PRAGMA journal_mode = DELETE")


def leave_out_texts(journal: Path, notes: Sequence[str] = ()) -> None:
    """Empty the stories' texts in a copy of a journal; a table keeps their hashes and word counts. Story-prompts become
    hashes, which keeps their groups. No more requests can be made from the copy. `notes` are stored sentences that only
    the texts could give. Freed space is overwritten."""
    with database.sentences(journal), closing(connect(journal, autocommit=True)) as db:
        db.create_function("sha256", 1, _sha256, deterministic=True)
        db.create_function("words", 1, lambda text: len(text.split()), deterministic=True)
        db.execute("PRAGMA secure_delete = ON")
        db.execute("BEGIN IMMEDIATE")
        db.execute(_TABLE)
        db.execute(
            "INSERT INTO texts_left_out"
            " SELECT position, sha256(story_prompt), sha256(text), sha256(reference), words(text)"
            " FROM stories ORDER BY position"
        )
        db.execute(
            "UPDATE stories SET text = '', reference = CASE WHEN reference IS NULL THEN NULL ELSE '' END,"
            " story_prompt = CASE story_prompt WHEN '' THEN '' ELSE sha256(story_prompt) END"
        )
        db.execute("INSERT INTO meta VALUES (?, ?)", (LEFT_OUT, orjson.dumps({"notes": list(notes)}).decode()))
        db.execute("COMMIT")
        db.execute("VACUUM")


def check_plain(path: Path) -> list[str]:
    """Faults that make a foreign SQLite file unsafe to read, as phrases to follow its name: it is unreadable, or it
    holds triggers or views, which SQLite could execute."""
    with closing(read_only(path, immutable=True)) as db:
        try:
            strangers = strange(db)
        except sqlite3.DatabaseError as error:
            return [f"not a readable SQLite file ({error})"]
    return [f"holds a {kind} {name!r}, which no file of this program does" for kind, name in strangers]


def _reading(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise RunFolderError(f"{path} does not exist", hint="judge run RUN makes it")
    at_rest.check(path)
    return open_reading(path, lambda db: db.execute("SELECT count(*) FROM sqlite_master").fetchone())


def _sha256(text: str | None) -> str | None:
    return None if text is None else sha256_text(text)
