"""Ctrl-C for the runs of one command: the first ends them in good order, the second at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

from judge.asking.execution.sending.runner import Run

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruption:
    """Handler of Ctrl-C and other signals, for runs that send requests and tasks that still prepare one."""

    def __init__(self) -> None:
        self._pressed = 0
        self._caught = False
        self._runs: list[Run] = []
        self._preparing: set[asyncio.Task[Any]] = set()

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Context manager inside which signals are handled. Entering it again inside changes nothing."""
        if self._caught:
            yield
            return
        loop = asyncio.get_running_loop()
        try:
            heard = [number for number in _SIGNALS if not _kept_from(number)]
            for number in heard:
                loop.add_signal_handler(number, self._press)
        except (ValueError, NotImplementedError, RuntimeError):  # no signals off the main thread, or on Windows
            yield
            return
        self._caught = True
        try:
            yield
        finally:
            self._caught = False
            for number in heard:
                loop.remove_signal_handler(number)

    def prepares(self, task: asyncio.Task[Any]) -> None:
        """Register a task, which the first signal cancels unless its run has begun to send requests."""
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    def asks(self, run: Run) -> None:
        """Register a run that begins to send requests. At the first signal it finishes those in flight."""
        self._preparing.discard(asyncio.current_task())
        self._runs.append(run)
        if self._pressed:
            run.stop("interrupted")

    def _press(self) -> None:
        self._pressed += 1
        if self._pressed == 1:
            sys.stderr.write("\nstopping: waiting for what is in flight (Ctrl-C again: leave it)\n")
            for run in self._runs:
                run.stop("interrupted")
            for task in list(self._preparing):
                task.cancel()
        else:
            for run in self._runs:
                run.abandon()


def _kept_from(number: signal.Signals) -> bool:
    # As under nohup, which keeps a program on when the terminal closes.
    return number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN
