"""Progress bar on stderr, shown while the answers of a large run are parsed for the first time. It is not shown if
stderr is a file or a pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reading_bar(answers: int) -> Iterator[Callable[[int], None]]:
    """Context manager that shows a progress bar while `answers` answers are read, and removes it at the end. It yields
    a function that is to be called with the number of answers read so far.

    Meant for `read(..., telling=reading_bar)`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    # Where stderr is a file, a bar that is gone would leave an empty line.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading answers", total=answers)
        yield lambda done: progress.update(task, completed=done)
