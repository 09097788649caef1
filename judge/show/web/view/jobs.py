"""A queue of background jobs for pages, which run one after the other in a separate process. A page requests the job
for a missing result and shows "being computed"; requesting it again does not start it twice. A failed job is repeated
only when the run's results have changed, or after a minute."""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Pages load themselves again every few seconds: work that failed is not repeated at each load.
_AGAIN = 60.0
# Seconds that the ended process has to leave before the server goes without it.
_PATIENCE = 5.0
# Exit code of a piece of work that could not be done, for a reason said on stderr.
SENTENCE = 4
# Characters kept of what a failed piece of work said.
_ERRORS = 2_000


@dataclass(slots=True)
class Work:
    """One background job; `state` is the results' fingerprint for which it computes. `failure` is the sentence of its
    error, or None."""

    kind: str
    arguments: tuple[str, ...]
    state: str
    running: bool = False
    done: bool = False
    failure: str | None = None
    ended: float = 0.0
    began: float = 0.0


@dataclass(slots=True)
class Jobs:
    """A queue of background jobs; kinds in `first` go before others, because pages need their results."""

    first: tuple[str, ...] = ("index", "map")
    _known: dict[tuple[str, ...], Work] = field(default_factory=dict)
    _queue: queue.PriorityQueue[tuple[int, int, Work | None]] = field(default_factory=queue.PriorityQueue)
    _number: itertools.count[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None
    _process: subprocess.Popen[bytes] | None = None
    _closed: bool = False

    def want(self, kind: str, arguments: Sequence[str | Path], state: str, *, again: bool = False) -> Work:
        """Request a job for a state, without waiting; one done for it is repeated only with `again`."""
        named = tuple(map(str, arguments))
        with self._lock:
            before = self._known.get((kind, *named))
            if before is not None:
                if not before.ended:
                    if not before.running:
                        before.state = state
                    return before
                lately = time.monotonic() - before.ended < _AGAIN
                if before.state == state and ((before.done and not again) or (before.failure and lately)):
                    return before
            work = self._known[kind, *named] = Work(kind, named, state)
            if not self._closed:
                self._queue.put((kind not in self.first, next(self._number), work))
                if self._thread is None:
                    self._thread = threading.Thread(target=self._serve, name="view-jobs", daemon=True)
                    self._thread.start()
            return work

    def busy(self) -> bool:
        """Whether any job is running or waiting."""
        with self._lock:
            return any(not work.ended for work in self._known.values())

    def close(self) -> None:
        """Terminate the running job and start no other."""
        with self._lock:
            self._closed = True
            process, thread = self._process, self._thread
            self._queue.put((-1, -1, None))
        if process is not None and process.poll() is None:
            process.terminate()
        if thread is not None:
            thread.join(_PATIENCE)

    def _serve(self) -> None:
        while True:
            work = self._queue.get()[2]
            if work is None or self._closed:
                return
            with self._lock:
                work.running, work.began = True, time.monotonic()
            work.failure = self._run(work)
            work.done, work.running, work.ended = work.failure is None, False, time.monotonic()

    def _run(self, work: Work) -> str | None:
        """None, or why it failed."""
        command = [sys.executable, "-m", "judge.show.web.view.work", work.kind, work.state, *work.arguments]
        with self._lock:
            if self._closed:
                return "the server is ending"
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=_environment()
            )
        errors = self._process.communicate()[1].decode("utf-8", "replace").strip()
        if self._process.returncode == 0:
            return None
        if self._process.returncode == SENTENCE and errors:
            return errors[-_ERRORS:]
        return (
            f"the work ended with code {self._process.returncode}: {errors.splitlines()[-1] if errors else 'no reason'}"
        )


def _environment() -> dict[str, str]:
    package = str(Path(__file__).parents[4])
    path = os.environ.get("PYTHONPATH")
    # One thread for numpy, so that jobs do not occupy the whole machine.
    return {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": f"{package}{os.pathsep}{path}" if path else package}
