"""Looks for keys in files before they are given away: values of the environment, and what looks like a key.

Never prints, stores or returns a key: only where one was found.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

SUFFIXES = ("_API_KEY", "_TOKEN", "_SECRET")
"""Endings of names of environment variables whose values are keys."""

LEAST = 8
"""Shorter values are words that stand in any text."""

_PIECE = 1 << 20
_OVERLAP = 512
_LOOKS = {
    "an Authorization header": re.compile(rb"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[\w.~+/=-]{8,}"),
    "what looks like an API key (sk-...)": re.compile(rb"(?<![\w-])sk-(?=[\w-]*\d)[A-Za-z0-9_-]{20,}"),
    "what looks like a Hugging Face token (hf_...)": re.compile(rb"(?<!\w)hf_[A-Za-z0-9]{30,}"),
}


def find_key(path: Path) -> str | None:
    """A sentence on the first key in a file, or None. SQLite files are read row by row too: pages part long texts."""
    looks = _known()
    for piece in _pieces(path):
        if found := _first(piece, looks):
            return found
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            for table, text in _texts(db):
                if found := _first(text, looks):
                    return f"{found}, in table {table}"
    return None


def _known() -> list[tuple[str, re.Pattern[bytes]]]:
    values = {
        f"the value of {name}": re.compile(re.escape(value.encode()))
        for name, value in sorted(os.environ.items())
        if name.endswith(SUFFIXES) and len(value) >= LEAST
    }
    return [*values.items(), *_LOOKS.items()]


def _first(text: bytes, looks: list[tuple[str, re.Pattern[bytes]]]) -> str | None:
    return next((what for what, look in looks if look.search(text)), None)


def _pieces(path: Path) -> Iterator[bytes]:
    """The file a piece at a time; pieces overlap, so that nothing hides at a seam."""
    before = b""
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield before + piece
            before = piece[-_OVERLAP:]


def _texts(db: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """The texts of every table, many rows at once."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        quoted = table.replace('"', '""')
        cursor = db.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608  a name out of the file itself, quoted
        while rows := cursor.fetchmany(2000):
            yield table, "\n".join(v for row in rows for v in row if isinstance(v, str)).encode()
