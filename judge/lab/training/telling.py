"""Messages and progress bar of a training. They go to stderr, because tables go to stdout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge.asking.execution.progress import Progress


@dataclass(frozen=True, slots=True)
class Telling:
    """Messages about the progress of a training. `tell` is the function that prints a sentence, and `quiet` switches
    off the progress bar.
    """

    tell: Callable[[str], None]
    quiet: bool = True

    def progress(self, total: int) -> Progress:
        """A context manager that shows a progress bar over `total` steps."""
        return Progress(total, parser=None, quiet=self.quiet)
