"""Progress display on stderr for a command with several judges: one line per judge, redrawn on a terminal or written to
a log.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

_NAME = 26
"""Columns that a judge's name has at most on a terminal."""

_BAR = 10
_WIDE = 100
"""From this width on each line has a bar."""

_PER_SECOND = 4
"""Redraws: more cannot be read, and each costs time that requests need."""


class Shown(Protocol):
    """Object whose progress a line shows, such as `Progress`."""

    total: int

    @property
    def settled(self) -> int:
        """Number of repeats that need no further requests."""
        ...

    def line(self, width: int | None = None) -> str:
        """Text of the progress line, at most `width` terminal columns wide; None: not shortened."""
        ...


class Line:
    """Progress line of one judge."""

    def __init__(self, board: Board, name: str) -> None:
        self.name = name
        self.shown: Shown | None = None
        self.ended: str | None = None
        self._board = board

    @property
    def live(self) -> bool:
        """Whether the judge's line is redrawn in place; otherwise each state becomes a line of a log."""
        return self._board.live

    def begin(self, shown: Shown) -> None:
        """Set the object whose progress the judge's line shows from now on."""
        self.shown = shown

    def write(self, text: str) -> None:
        """Write a text to the log, after the judge's name. Nothing is written where lines are redrawn on a terminal."""
        self._board.write(f"{self.name}: {text}")

    def end(self, how: str) -> None:
        """Mark the judge as finished. `how` says how it ended, such as "done"."""
        self.ended = how
        if not self.live:
            text = f"{self.shown.line()} · {how}" if self.shown is not None else how
            self.write(text)


class Board:
    """The progress lines of all judges of a command, in the order of their names on the command line."""

    def __init__(self, names: Sequence[str], *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._lines = {name: Line(self, name) for name in names}
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self.live = not quiet and self._stream.isatty()
        self._screen: Any = None

    def __enter__(self) -> Self:
        if self.live:
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text

            console = Console(file=self._stream)

            def drawn() -> Text:
                return Text("\n".join(self.text(console.width)), no_wrap=True, overflow="ellipsis")

            self._screen = Live(console=console, refresh_per_second=_PER_SECOND, get_renderable=drawn)
            self._screen.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen is not None:
            self._screen.stop()

    def line_of(self, name: str) -> Line:
        """The progress line of the judge with this name."""
        return self._lines[name]

    def write(self, text: str) -> None:
        """Write a line to the log; nothing is written on a terminal or where the board is quiet."""
        if not (self.live or self._quiet):
            self._stream.write(text + "\n")
            self._stream.flush()

    def text(self, width: int) -> list[str]:
        """All progress lines in their current state, each at most `width` terminal columns wide."""
        names = [cut(name, _NAME) for name in self._lines]
        column = max(map(len, names))
        return [
            f"{name.ljust(column)}  {_state(line, width - column - 2)}"
            for name, line in zip(names, self._lines.values(), strict=True)
        ]


def _state(line: Line, width: int) -> str:
    if line.shown is None:
        return cut(line.ended or "starts", width)
    bar = ""
    if width >= _WIDE - _NAME:
        full = _BAR * line.shown.settled // max(line.shown.total, 1)
        bar = "━" * full + " " * (_BAR - full) + "  "
    ended = f" · {line.ended}" if line.ended is not None else ""
    return cut(f"{bar}{line.shown.line(width - len(bar) - len(ended))}{ended}", width)


def cut(text: str, most: int) -> str:
    """The text, shortened to at most `most` characters with an ellipsis in place of its middle."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
