"""Writes the output of an engine's processes to a log file, separate from the progress display. The file is read if the
engine does not start.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def written_to(log: Path) -> Iterator[None]:
    """Context in which stdout and stderr of this process, and of the processes that it starts, go to the file `log`.

    At the end this process's streams are restored; those of the started processes stay redirected.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)


def tail(log: Path) -> str:
    """The last 20,000 characters of a log file; empty if there is no file."""
    try:
        return log.read_text(encoding="utf-8", errors="replace")[-20000:]
    except OSError:
        return ""
