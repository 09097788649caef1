"""Messages and progress of a training, on stderr, as tables go to stdout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge.execution.progress import Progress


@dataclass(frozen=True, slots=True)
class Telling:
    """Sentences, and a bar with the time that is left; `quiet`: no bar."""

    tell: Callable[[str], None]
    quiet: bool = True

    def progress(self, total: int) -> Progress:
        """A bar over so many steps; a context."""
        return Progress(total, parser=None, quiet=self.quiet)
