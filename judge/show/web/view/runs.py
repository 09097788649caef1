"""Search for the runs under a folder. Addresses contain a key instead of a path, so that a request cannot name any
other folder."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import DEFINITION
from judge.base.fingerprint import fingerprint

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
