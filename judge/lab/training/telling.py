"""Messages and progress bar of a training. They go to stderr, because tables go to stdout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge.asking.execution.progress import Progress


@dataclass(frozen=True, slots=True)
class Telling:
    """Messages about a training; `quiet` switches off the progress bar."""

    tell: Callable[[str], None]
    quiet: bool = True

    def progress(self, total: int) -> Progress:
        """Context manager with a progress bar over `total` steps."""
        return Progress(total, parser=None, quiet=self.quiet)
