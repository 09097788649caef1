"""The runs under a folder, and the results that pages computed for them. Addresses contain a key instead of a path, so
that a request cannot name any other folder."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Counted, count
from judge.answers.parsing.stored_answers import StoredVerdicts
from judge.asking.execution.progress import duration
from judge.asking.in_force.words import stored
from judge.asking.run_folder import Cost, ResultFolder, cost_of, read_manifest, writer_runs
from judge.asking.run_folder.layout import DEFINITION
from judge.base.credentials.providers import JudgeName
from judge.base.errors import JudgeError
from judge.base.files import write_whole
from judge.base.fingerprint import fingerprint
from judge.base.wording import PLAIN, written
from judge.ratings.ratings_table.folder_notes import without_effect
from judge.show.web.view.judgments import Asked, asked
from judge.version import __version__

# Seconds that a page waits for counts, all together.
_WAIT = 0.15

# The parts of one page need the same counts within one load: they are computed once.
_LIVE_FRESH = 0.5
# Newest attempts that are parsed for the share that carries a rating, or a verdict.
_SAMPLE = 100

# Seconds without a commit after which a session whose process is not seen here (killed, or elsewhere) is stopped.
_QUIET = 15.0


@dataclass(frozen=True, slots=True)
class Standing:
    """One judge's current figures; `counted` is None while counting, all are unknown with a `problem`. `sample` newest
    answers were examined; `parsed` is the share of their judgments with a rating or preference, or None."""

    judge: str
    counted: Counted | None = None
    stories: int = 0
    planned: int = 0
    running: bool = False
    imported: bool = False
    parsed: float | None = None
    sample: int = 0
    cost: Cost | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None
    hint: str | None = None
    compares: bool = False

    @property
    def word(self) -> str:
        """The state in short, such as "running"."""
        if self.problem:
            return "cannot be read"
        if self.imported:
            return "imported"
        if self.counted is None:
            return "being counted"
        if self.running:
            return "running"
        if self.counted.settled >= self.planned:
            return "done" if not self.counted.failed else "done, some given up"
        return "stopped" if self.counted.attempt else "not started"

    @property
    def left(self) -> str | None:
        """Time left at the present rate, as text; None where not in progress or unknown."""
        if not self.running or self.counted is None or not self.counted.rate:
            return None
        return duration(max(0, self.planned - self.counted.settled) / self.counted.rate)


class Live:
    """Judges' figures by result folder, updated in separate threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="view-live")
        self._known: dict[Path, tuple[float, Standing]] = {}
        self._pending: dict[Path, Future[Standing]] = {}
        self._lock = threading.Lock()

    def standings(self, folders: Iterable[ResultFolder], *, wait: float = _WAIT) -> list[Standing]:
        """Figures of each folder in order, at most half a second old, or older after `wait` seconds."""
        asked_for = list(folders)
        began = time.monotonic()
        futures = [self._begun(folder) for folder in asked_for]
        standings = []
        for folder, future in zip(asked_for, futures, strict=True):
            with suppress(Late):
                if future is not None:
                    future.result(timeout=max(0.0, wait - (time.monotonic() - began)))
            standings.append(self._known.get(folder.path, (0.0, Standing(folder.path.name)))[1])
        return standings

    def _begun(self, folder: ResultFolder) -> Future[Standing] | None:
        """A task in progress or new; None where the last figures are recent enough."""
        with self._lock:
            when, last = self._known.get(folder.path, (0.0, None))
            if last is not None and time.monotonic() - when < _LIVE_FRESH:
                return None
            future = self._pending.get(folder.path)
            if future is None:
                before = last.counted if last else None
                future = self._pending[folder.path] = self._pool.submit(self._count, folder, before)
            return future

    def _count(self, folder: ResultFolder, before: Counted | None) -> Standing:
        last = self._known.get(folder.path, (0.0, None))[1]
        try:
            standing = _standing(folder, before, last)
        except JudgeError as error:
            sentence, hint = written(error.sentence, PLAIN), written(error.hint or "", PLAIN)
            standing = Standing(folder.path.name, problem=sentence, hint=hint or None)
        except (OSError, ValueError, KeyError, TypeError) as error:  # a file that is not what its name says
            standing = Standing(folder.path.name, problem=f"{folder.path.name} is no result folder of ours: {error}")
        with self._lock:
            self._known[folder.path] = (time.monotonic(), standing)
            self._pending.pop(folder.path, None)
        return standing

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _standing(folder: ResultFolder, before: Counted | None, last: Standing | None) -> Standing:
    if not folder.journal.is_file():
        manifest = read_manifest(folder.manifest)
        notes = ("ratings were imported; no request was made here", *map(str, manifest.get("notes", ())))
        return Standing(str(manifest.get("judge", folder.path.name)), imported=True, notes=notes)
    counted = count(folder.journal, before)
    with JournalReader(folder.journal) as journal:
        run = asked(folder, journal)
        compares = journal.compares
        stories, planned = journal.story_count(), journal.subject_count() * run.plan.queries_per_subject
        if last is not None and last.counted is not None and last.counted.attempt == counted.attempt:
            parsed, sample = last.parsed, last.sample
        else:
            parsed, sample = _parsed(journal, run, counted.attempt)
    return Standing(
        run.judge,
        counted,
        stories,
        planned * run.repeats,
        _running(folder, counted),
        parsed=parsed,
        sample=sample,
        cost=cost_of(counted.spending, run.manifest),
        notes=notes_of(run),
        compares=compares,
    )


def _parsed(journal: JournalReader, run: Asked, last: int) -> tuple[float | None, int]:
    answers = [tried for tried in journal.answers_tried(max(0, last - _SAMPLE), last) if tried.response is not None]
    if not answers:
        return None, 0
    if journal.compares:
        keys = {answer.query_key for answer in answers}
        compared = {key: comparison for key in keys if (comparison := journal.comparison(key)) is not None}
        verdicts = StoredVerdicts.of_run(run.definition, compared, journal.text_of)
        rated = [verdicts.verdict(answer).preference is not None for answer in answers]
    else:
        rated = [judgment.rating is not None for tried in answers for _, judgment in run.reading.judgments(tried)]
    return fmean(rated), len(answers)


def notes_of(run: Asked) -> tuple[str, ...]:
    """Notes with a judge's figures, such as that it is a control."""
    force = run.manifest.get("in_force", {})
    name = JudgeName.of(run.judge)
    notes = [f"{run.judge} is a control, not a language model"] if name.is_control else []
    if name.is_scripted:
        notes.append(f"{run.judge} gives scripted answers: figures about it say nothing about any judge")
    notes += [str(force["note"])] if force.get("note") else []
    notes += [str(note) for note in (force.get("server") or {}).get("notes", ())]
    notes += without_effect(run.judge, stored(run.manifest), probe_notes=notes)
    notes += [str(run.definition["labels_note"])] if run.definition.get("labels_note") else []
    return tuple(notes)


def _running(folder: ResultFolder, counted: Counted) -> bool:
    # The run's lock is not tried: holding it even briefly could prevent a run from starting.
    if counted.ended is not None or counted.executor is None:
        return False
    if counted.last_commit is not None and time.time() - counted.last_commit < _QUIET:
        return True
    return writer_runs(folder.path)


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

    def all(self, *, again: bool = False) -> dict[str, FoundRun]:
        """Key -> run; `again` looks anew, however young the list is."""
        with self._lock:
            if again or time.monotonic() - self._looked >= _FRESH:
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
FORMAT = 4

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
