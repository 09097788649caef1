"""Progress bar on stderr while a large run's answers are parsed for the first time; only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reading_bar(answers: int) -> Iterator[Callable[[int], None]]:
    """Context with a bar, which yields a function of the number read so far; for `read(..., telling=reading_bar)`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    # Where stderr is a file, a bar that is gone would leave an empty line.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading answers", total=answers)
        yield lambda done: progress.update(task, completed=done)
