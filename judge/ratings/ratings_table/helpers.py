"""Helper processes that parse shares of a long journal in parallel.

If a helper fails, the result does not change: the calling process parses every block that the helpers did not store.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson

_STALLED = 60.0
"""Seconds without a block after which nobody waits for others any more."""

_PAUSE = 0.05

# With our own path of imports: the folder that we work in is not to be searched for modules.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from judge.ratings.ratings_table.share import main; main()"
)


class Helpers:
    """Context manager that starts helper processes: one fewer than there are processor cores.

    Each helper parses a share of a folder's blocks of answers.
    """

    def __init__(self, folder: Path, parser: str, identity: str) -> None:
        self._words = [str(folder), parser, identity]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def shares(self) -> int:
        """Number of shares into which the blocks are divided, one for each process; the calling process takes the
        first.
        """
        return 1 + len(self._processes)

    def __enter__(self) -> Helpers:
        others = _cores() - 1 if sys.executable and not getattr(sys, "frozen", False) else 0
        path = orjson.dumps(sys.path).decode()
        nobody = subprocess.DEVNULL
        for share in range(1, others + 1):
            words = [
                sys.executable,
                "-P",
                "-c",
                _CODE,
                path,
                *self._words,
                str(share),
                str(others + 1),
                str(os.getpid()),
            ]
            try:
                self._processes.append(subprocess.Popen(words, stdin=nobody, stdout=nobody, stderr=nobody))
            except OSError:
                break
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes = []

    def wait(self, count: Callable[[], int], tell: Callable[[int], object]) -> None:
        """Wait until all processes have ended, or until the number of stored judgments has not changed for 60 seconds.

        `count` returns the number of answers whose judgments are stored; `tell` is called with each new number.
        """
        before, since = -1, time.monotonic()
        while any(process.poll() is None for process in self._processes):
            now = count()
            if now != before:
                before, since = now, time.monotonic()
                tell(now)
            if time.monotonic() - since > _STALLED:
                return
            time.sleep(_PAUSE)


def _cores() -> int:
    """Number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
