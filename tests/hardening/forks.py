"""Commands in forks of this process: with limits, streams and folders of their own, and nothing imported again."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Said:
    """What a command left: its exit code, and what it wrote on each stream."""

    code: int
    out: bytes
    error: bytes

    @property
    def text(self) -> str:
        """Both streams as text."""
        return (self.out + self.error).decode("utf-8", "replace")


def _nothing() -> None:
    pass


def forked(
    folder: Path, *arguments: object, before: Callable[[], None] = _nothing, encoding: str = "utf-8", tty: int = 0
) -> Said:
    """A command in that folder, after `before`. With `tty`, both streams are that terminal, and nothing is read."""
    files = [folder / f".said-{number}" for number in (1, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        if tty:
            return Said(child, b"", b"")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = [file.read_bytes() for file in files]
        for file in files:
            file.unlink()
        return Said(code, *said)
    code = 70
    try:
        for number, file in zip((1, 2), files, strict=True):
            told = tty or os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(told, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding=encoding, closefd=False)
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        os.chdir(folder)
        from judge.cli.main import main

        before()
        try:
            main([str(one) for one in arguments])
            code = 0
        except SystemExit as left:
            code = int(left.code or 0)
        except BaseException:  # noqa: BLE001  whatever it is, the parent is told
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def files_end_at(size: int) -> Callable[[], None]:
    """No file may be longer, as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def memory_ends_at(megabytes: int) -> Callable[[], None]:
    """So much memory more than there is in use, and 30 seconds of CPU."""

    def limit() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + 30, used + 30))

    return limit
