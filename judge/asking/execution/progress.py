"""Progress line of a run on stderr: answers done, rate, time left, share parsed, cost."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Self, TextIO

from judge.answers.parsing import Parser
from judge.answers.parsing.stored_answers import was_read
from judge.base.printing.text_layout import dollars, visible
from judge.base.records import Commission, Request, Response

# Progress display on stderr for a command with several judges: one line per judge, redrawn on a terminal or written
# to a log.

# Columns that a judge's name has at most on a terminal.
_NAME = 26

_BAR = 10
# From this width on each line has a bar.
_WIDE = 100

# Redraws: more cannot be read, and each costs time that requests need.
_PER_SECOND = 4


class Line:
    def __init__(self, board: Board, name: str) -> None:
        self.name = name
        self.shown: Progress | None = None
        self.ended: str | None = None
        self._board = board

    @property
    def live(self) -> bool:
        """Whether the line is redrawn in place; otherwise each state becomes a line of a log."""
        return self._board.live

    def begin(self, shown: Progress) -> None:
        self.shown = shown

    def write(self, text: str) -> None:
        """Write to the log, after the judge's name; nothing where lines are redrawn on a terminal."""
        self._board.write(f"{self.name}: {text}")

    def end(self, how: str) -> None:
        """Mark the judge as finished. `how` says how it ended, such as "done"."""
        self.ended = how
        if not self.live:
            text = f"{self.shown.line()} · {how}" if self.shown is not None else how
            self.write(text)


class Board:
    """The progress lines of a command's judges, in the order of their names on the command line."""

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

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.stop()

    def line_of(self, name: str) -> Line:
        return self._lines[name]

    def write(self, text: str) -> None:
        """Write to the log; nothing on a terminal or where the board is quiet."""
        if not (self.live or self._quiet):
            self._stream.write(text + "\n")
            self._stream.flush()

    def text(self, width: int) -> list[str]:
        """All progress lines, each at most `width` columns wide."""
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
    """The text in at most `most` characters, with an ellipsis in place of its middle."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


# Seconds between plain lines where stderr is not a terminal.
_EVERY = 5.0

_SEPARATOR = " · "
# Answers with a rating from which on it is said that explanations are missing that were asked for.
_ENOUGH = 10
# Seconds of waiting for a limit from which on the line says so.
_WORTH_SAYING = 2.0
# Seconds without an answer from which on the line says so; in a log, again each time that they have doubled.
_SILENT = 10.0
# Seconds between two looks at the time.
_LOOK = 1.0

_PARSED_AT_FIRST = 200
# Display parses the first answers, then one in so many: parsing is for tables, not for the progress line.
_PARSED_LATER = 16


class Progress:
    """Counts and shows stored answers of a run with `total` repeats; those settled in earlier sessions are done."""

    def __init__(
        self,
        total: int,
        *,
        parser: Parser | None,
        cost: Callable[[], float | None] | None = None,
        waits: Callable[[], float] | None = None,
        trouble: Callable[[], str | None] | None = None,
        paused: Callable[[], bool] | None = None,
        judge: str = "the judge",
        board: Line | None = None,
        stream: TextIO | None = None,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.unparsed_example: str | None = None
        self._parser = parser
        self._cost = cost
        self._waits = waits
        self._trouble = trouble
        self._paused = paused
        self._judge = judge
        self._board = board
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._ended: float | None = None
        self._new = 0
        self._seen = 0
        self._tried = 0
        self._parsed = 0
        self._to_explain = 0
        self._explained = 0
        self._shown = clock()
        self._answered = clock()
        self._next_word = _SILENT
        self._entered = False
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        self._entered = True
        if self._board is not None:
            self._board.begin(self)
        elif not self._quiet and self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(file=self._stream)
            columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=console)
            self._bar.start()
            self._task = self._bar.add_task(self.line(), total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = self._clock()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done + self.failed, description=self.line())
            self._bar.stop()
        elif self._board is None and not self._quiet:
            self._stream.write(self.line() + "\n")

    def skipped(self, count: int) -> None:
        self.done += count

    def watch(self, query: Request, response: Response) -> None:
        """Parse the answer if it is one of the first or an n-th, so that a prompt that fails is noticed early."""
        self._seen += 1
        if (
            self._parser is None
            or isinstance(query, Commission)
            or (self._seen > _PARSED_AT_FIRST and self._seen % _PARSED_LATER)
        ):
            return
        self._tried += 1
        rated, explained = was_read(self._parser, response, query)
        if rated and query.asks_explanation:
            self._to_explain += 1
            self._explained += explained
        if rated:
            self._parsed += 1
        elif self.unparsed_example is None:
            self.unparsed_example = " ".join(response.text.split())[:120] or "(empty)"

    def committed(self, answered: int, failed: int) -> None:
        self.done += answered
        self._new += answered + failed
        self.failed += failed
        self._answered, self._next_word = self._clock(), _SILENT
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done + self.failed, description=self.line())
        elif not self._quiet and self._clock() - self._shown >= _EVERY:
            self._shown = self._clock()
            self._write(self.line())

    def waited(self) -> None:
        """Say, after a while, that no answer comes and from whom; to be called again and again."""
        silence = self._silence()
        if silence is None:
            return
        if self._bar is not None:
            self._bar.update(self._task, description=self.line())
        elif not self._quiet and self._clock() - self._answered >= self._next_word:
            self._next_word *= 2
            # What the line counts is not known before the first request is answered.
            self._write(self.line() if self._entered else silence)

    def _silence(self) -> str | None:
        seconds = self._clock() - self._answered
        if seconds < _SILENT or self._ended is not None:
            return None
        return f"no answer from {self._judge} for {duration(seconds)}"

    def changed(self) -> None:
        """Show that the run was steered."""
        if self._bar is not None:
            self._bar.update(self._task, description=self.line())
        elif not self._quiet:
            self._write(self.line())

    def asked_again(self, count: int) -> None:
        """So many repeats that were given up are asked once more."""
        self.failed -= count

    def _write(self, line: str) -> None:
        if self._board is not None:
            if not self._board.live:
                self._board.write(line)
            return
        self._stream.write(line + "\n")
        self._stream.flush()

    @property
    def settled(self) -> int:
        return self.done + self.failed

    @property
    def parsed_share(self) -> float | None:
        """Share of the sampled answers from which a rating or a verdict was parsed."""
        return self._parsed / self._tried if self._tried else None

    @property
    def rate(self) -> float:
        """Repeats settled per second in this session."""
        seconds = (self._clock() if self._ended is None else self._ended) - self._began
        return self._new / seconds if seconds > 0 else 0.0

    def line(self, width: int | None = None) -> str:
        """The progress line; for a narrow `width`, only its most important parts."""
        parts = list(self._parts())
        while width is not None and len(_SEPARATOR.join(text for _, text in parts)) > width and len(parts) > 1:
            parts.remove(max(parts))
        return _SEPARATOR.join(text for _, text in parts)

    def _parts(self) -> Iterator[tuple[int, str]]:
        # (rank, text): on a narrow line, the highest ranks are left out first.
        yield 0, f"{self.settled}/{self.total}"
        left = 0 if self._ended is not None else self.total - self.settled
        if self.rate > 0:
            yield 6, f"{self.rate:.1f}/s"
            if left > 0:
                yield 4, f"{duration(left / self.rate)} left"
        paused = self._ended is None and self._paused is not None and self._paused()
        if paused:
            yield 1, "paused"
        waits = self._waits() if self._waits is not None and left > 0 else 0.0
        if waits > _WORTH_SAYING:
            yield 1, f"waits {duration(waits)} for its limit"
        trouble = self._trouble() if self._trouble is not None and left > 0 else None
        if trouble is not None:
            yield 1, f"no answers: {' '.join(visible(trouble).split())[:160]}"
        elif left > 0 and waits <= _WORTH_SAYING and not paused and (silence := self._silence()) is not None:
            yield 1, silence
        if self.failed:
            yield 2, f"{self.failed} failed"
        share = self.parsed_share
        bad = share is not None and share < 0.5
        if share is not None:
            yield 1 if bad else 5, f"{100 * share:.0f} % parsed"
        if self._to_explain >= _ENOUGH and self._explained < self._to_explain / 2:
            yield 2, f"only {100 * self._explained / self._to_explain:.0f} % explained"
        cost = self._cost() if self._cost is not None else None
        if cost is not None:
            yield 3, dollars(cost)
        if bad and self.unparsed_example:
            yield 7, f"no rating in: {self.unparsed_example!r}"


@contextlib.asynccontextmanager
async def watched(progress: Progress) -> AsyncIterator[None]:
    """Context manager inside which the progress says when no answer comes."""

    async def look() -> None:
        while True:
            await asyncio.sleep(_LOOK)
            progress.waited()

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def duration(seconds: float) -> str:
    """A number of seconds as text: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
