"""`judge ...` as a process that serves pages until it is told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Command:
    """`judge ...` as a process that serves pages; its first line is the address."""

    def __init__(self, *arguments: str | Path, folder: Path) -> None:
        command = [sys.executable, "-m", "judge", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), f"the server did not start: {self.process.wait(10)}"

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        self._close()

    def end(self) -> int:
        """End it as Ctrl-C would, and give its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self._close()
        return code

    def _close(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def command(*arguments: str | Path, folder: Path) -> Iterator[Command]:
    """A serving command for as long as the block lasts."""
    running = Command(*arguments, folder=folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()
