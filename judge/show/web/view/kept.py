"""Storage of computed results in `derived/` of a run, with the fingerprint of the results they belong to. Where a run's
folder cannot be written, a temporary folder serves, which is deleted when the server ends."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import JudgeError
from judge.base.fingerprint import fingerprint
from judge.base.whole_file import write_whole
from judge.show.web.view.runs import FoundRun
from judge.version import __version__

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
