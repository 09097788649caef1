"""Checksum of a journal that no process writes: stored when its log is folded in, compared before it is read.

SQLite keeps no sums of its pages: a bit that flips in a stored text is another text. The sum lies in a file beside the
journal. It counts for the journal as it was folded, known by SQLite's own count of changes: whatever was written since,
by a run that was killed or by another program, has no sum and is read as it is.
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson

from judge.errors import RunFolderError
from judge.fingerprint import fingerprint_file
from judge.sqlite_file import read_only
from judge.whole_file import write_whole

# An SQLite file begins with a header of 100 bytes, whose bytes 24 to 27 count the file's changes.
_HEADER = 100
_LOGS = ("-wal", "-journal")
_compared: dict[Path, tuple[int, ...]] = {}
"""Journals whose sum this process found right, as they were then."""


def sum_file(path: Path) -> Path:
    """Path of the file that holds a journal's checksum."""
    return path.with_name(f"{path.name}.sum")


def note(path: Path) -> None:
    """Write the checksum of a journal whose log was folded into it. None is written while another process writes the
    journal, or where the file cannot be written.

    The caller holds the folder.
    """
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
    """Raise RunFolderError for a journal whose bytes have changed since its log was folded, although no writer changed
    it.
    """
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
    """SQLite's count of changes; None where the file is too short to hold one."""
    header = _header(path)
    return int(struct.unpack(">I", header[24:28])[0]) if len(header) == _HEADER else None


def _is_written(path: Path) -> bool:
    """Whether a log may hold more than the file, or may come to."""
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
