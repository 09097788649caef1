"""Checksum of a journal at rest, stored in a file next to it after its log was merged, and compared before it is read.
SQLite has no checksums of pages: a flipped bit in a text would go unnoticed. The checksum holds only for one value of
SQLite's change counter; a journal that was written to since is read without a check."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import RunFolderError
from judge.base.files import write_whole
from judge.base.fingerprint import fingerprint_file
from judge.base.sqlite_file import is_open, read_only

# An SQLite file begins with a header of 100 bytes, whose bytes 24 to 27 count the file's changes.
_HEADER = 100
_LOGS = ("-wal", "-journal")
# Journals whose sum this process found right, as they were then.
_compared: dict[Path, tuple[int, ...]] = {}


def sum_file(path: Path) -> Path:
    """Path of the file that holds a journal's checksum."""
    return path.with_name(f"{path.name}.sum")


def note(path: Path) -> None:
    """Store the checksum of a journal whose log was merged, where its file can be written; the caller holds the
    folder's lock. While the journal is open here or being written elsewhere, an existing checksum is deleted
    instead."""
    if is_open(path):
        forget(path)
        return
    changes = _changes(path)
    with suppress(OSError, sqlite3.DatabaseError):
        if changes is None or _is_written(path):
            forget(path)
            return
        state_noted = {"changes": changes, "created": _created(path), "sum": fingerprint_file(path)}
        write_whole(sum_file(path), orjson.dumps(state_noted) + b"\n", follow=False)


def forget(path: Path) -> None:
    """Delete the checksum of a journal, which is no longer valid."""
    sum_file(path).unlink(missing_ok=True)


def is_noted(path: Path) -> bool:
    """Whether the journal has a stored checksum."""
    return bool(_noted(path))


def check(path: Path) -> None:
    """Raise RunFolderError where a journal's bytes differ from its checksum although its change counter is the same. A
    journal that this process has open was checked before."""
    if is_open(path):
        return
    noted = _noted(path)
    if not noted or _is_written(path) or _changes(path) not in (None, noted.get("changes")):
        return
    status = path.stat()
    state = (status.st_ino, status.st_size, status.st_mtime_ns)
    if _compared.get(path) == state:
        return
    if fingerprint_file(path) == noted.get("sum"):
        _compared[path] = state
    # A writer may have begun meanwhile, or the file is another journal that was put here.
    elif not _is_written(path) and _changes(path) in (None, noted.get("changes")) and not _is_another(path, noted):
        raise RunFolderError(
            f"{path} is damaged: it holds other bytes than were written to it",
            hint=f"restore it from a copy; whoever deletes {sum_file(path).name} reads it with its damage",
        )


def _noted(path: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(sum_file(path).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def _header(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEADER)


def _changes(path: Path) -> int | None:
    header = _header(path)
    return int(struct.unpack(">I", header[24:28])[0]) if len(header) == _HEADER else None


def _is_written(path: Path) -> bool:
    # The header's bytes 18 and 19 are 2 in SQLite's mode that uses a write-ahead log.
    logs = (path.with_name(path.name + end) for end in _LOGS)
    return _header(path)[18:20] == b"\2\2" or any(log.exists() and log.stat().st_size for log in logs)


def _created(path: Path) -> float | None:
    with closing(read_only(path, immutable=True)) as db:
        started: float | None = db.execute("SELECT min(started) FROM sessions").fetchone()[0]
        return started


def _is_another(path: Path, noted: dict[str, Any]) -> bool:
    try:
        created = _created(path)
    except sqlite3.DatabaseError:
        return False
    return created is not None and created != noted.get("created")
