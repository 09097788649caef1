"""Current figures on a judge's run, during and after it. Pages do not wait for figures that take long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Counted, count
from judge.answers.parsing.stored_answers import StoredVerdicts
from judge.asking.execution.progress import duration
from judge.asking.in_force.words import stored
from judge.asking.run_folder import Cost, ResultFolder, cost_of, read_manifest, writer_runs
from judge.base.errors import JudgeError
from judge.base.judge_name import JudgeName
from judge.base.wording import PLAIN, written
from judge.ratings.ratings_table.folder_notes import without_effect
from judge.show.web.view.judgments import Asked, asked

# Seconds that a page waits for counts, all together.
_WAIT = 0.15

# The parts of one page need the same counts within one load: they are computed once.
_FRESH = 0.5
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
            if last is not None and time.monotonic() - when < _FRESH:
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
