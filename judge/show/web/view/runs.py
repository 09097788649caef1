"""The runs under a folder, and the results that pages computed for them. Addresses contain a key instead of a path, so
that a request cannot name any other folder."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.asking.run_folder.layout import DEFINITION
from judge.base.errors import JudgeError
from judge.base.fingerprint import fingerprint
from judge.base.whole_file import write_whole
from judge.version import __version__

# Bounds the search where the root is a home folder or a whole disk.
_DEPTH = 4
_SKIPPED = frozenset({"derived", "batches", "shards", "node_modules", "__pycache__"})
# Seconds for which a list is taken as it is: one page asks several times.
_FRESH = 1.0


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run: its key in addresses, and the judges' result folders by name; `definition` is its run.yaml or None."""

    key: str
    name: str
    path: Path
    definition: Path | None
    results: dict[str, ResultFolder]

    @property
    def derived(self) -> Path:
        """Folder of files computed from all judges."""
        return self.path / "derived"


class Runs:
    """All runs under `root`; the list is renewed when older than a second."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._found: dict[str, FoundRun] = {}
        self._looked = -_FRESH
        self._lock = threading.Lock()

    def all(self) -> dict[str, FoundRun]:
        with self._lock:
            if time.monotonic() - self._looked >= _FRESH:
                self._found = {run.key: run for run in _find(self.root)}
                self._looked = time.monotonic()
            return self._found


def _find(root: Path) -> Iterator[FoundRun]:
    # A folder is a run if it has a run.yaml or result folders, or if it is a result folder outside a run.
    taken: set[str] = set()
    for folder in _folders(root, _DEPTH):
        definition = folder / DEFINITION
        results = {child.name: ResultFolder(child) for child in _children(folder) if ResultFolder(child).exists()}
        if not results and ResultFolder(folder).exists():
            if ResultFolder(folder).path != root and _is_run(folder.parent):
                continue
            results = {folder.name: ResultFolder(folder)}
        if not results and not definition.is_file():
            continue
        name = folder.relative_to(root).as_posix() if folder != root else folder.name
        key = _key(name)
        if key in taken:
            key = f"{key}-{fingerprint(name)[3:9]}"
        taken.add(key)
        yield FoundRun(key, name, folder, definition if definition.is_file() else None, results)


def _is_run(folder: Path) -> bool:
    return (folder / DEFINITION).is_file() or any(ResultFolder(child).exists() for child in _children(folder))


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth:
        for child in _children(folder):
            yield from _folders(child, depth - 1)


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir() and e.name not in _SKIPPED and not e.name.startswith(".")]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _key(name: str) -> str:
    """The relative path as one path segment."""
    return "~".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in name.split("/")) or "run"


# Storage of computed results in `derived/` of a run, with the fingerprint of the results they belong to. Where a
# run's folder cannot be written, a temporary folder serves, which is deleted when the server ends.

# Raised when what is kept changes its shape.
FORMAT = 3

INDEX = "judgments.sqlite"
MAP = "map.sqlite"


class Kept:
    """The folders of computed files."""

    def __init__(self) -> None:
        self._own: tempfile.TemporaryDirectory[str] | None = None

    def folder_of(self, folder: Path) -> Path:
        """`derived/` of a folder, not created here, or a temporary folder if it cannot be written."""
        derived = folder / "derived"
        nearest = derived if derived.is_dir() else folder
        if os.access(nearest, os.W_OK):
            return derived
        if self._own is None:
            self._own = tempfile.TemporaryDirectory(prefix="judge-view-")
        return Path(self._own.name) / fingerprint(str(folder))[3:]

    def close(self) -> None:
        if self._own is not None:
            self._own.cleanup()


def state(folder: ResultFolder) -> str:
    """Fingerprint that changes with a folder's answers, definition, the program's version or the files' format. Raises
    RunFolderError where the journal cannot be read."""
    if not folder.journal.is_file():
        file = folder.imported.stat()
        return _word([file.st_size, file.st_mtime_ns])
    with JournalReader(folder.journal) as journal:
        repeats = read_manifest(folder.manifest).get("in_force", {}).get("repeats")
        return _word([journal.last_attempt(), journal.replaced_total(), journal.meta(), repeats])


def run_state(run: FoundRun) -> str:
    """Fingerprint of all results of a run; an unreadable folder counts by its error."""
    states = []
    for name, folder in run.results.items():
        try:
            states.append([name, state(folder)])
        except JudgeError as error:
            states.append([name, str(error)])
    return _word(states)


def read_kept(file: Path) -> dict[str, Any] | None:
    """A stored JSON file; None where there is none, or not of the present format."""
    try:
        data = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def write_kept(file: Path, data: dict[str, Any]) -> None:
    """Write a JSON file, completely or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, orjson.dumps({"format": FORMAT, **data}, option=orjson.OPT_SERIALIZE_NUMPY), follow=False)


def _word(value: Any) -> str:
    return fingerprint([FORMAT, __version__, value])[3:19]
