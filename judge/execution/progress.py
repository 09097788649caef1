"""What a person sees while a run goes on: done of total, rate, time left, share parsed, cost. Never on stdout."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from judge.dollars import dollars
from judge.parsing import Parser
from judge.parsing.stored_answers import read_response
from judge.records import Query, Response

_EVERY = 5.0
"""Seconds between plain lines where stderr is not a terminal."""

_PARSED_AT_FIRST = 200
_PARSED_LATER = 16
"""Display parses the first answers, then one in so many: parsing is for tables, not for the progress line."""


class Progress:
    """Counts committed answers and shows them. `total` counts repeats; those settled before count as done."""

    def __init__(
        self,
        total: int,
        *,
        parser: Parser | None,
        cost: Callable[[], float | None] | None = None,
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
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._new = 0
        self._seen = 0
        self._tried = 0
        self._parsed = 0
        self._shown = clock()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if not self._quiet and self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(file=self._stream)
            columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=console)
            self._bar.start()
            self._task = self._bar.add_task(self.line(), total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done + self.failed, description=self.line())
            self._bar.stop()
        elif not self._quiet:
            self._stream.write(self.line() + "\n")

    def skipped(self, count: int) -> None:
        """Repeats that were settled in an earlier session."""
        self.done += count

    def watch(self, query: Query, response: Response) -> None:
        """Parse a copy of some answers, so that a prompt that goes wrong is seen at once."""
        self._seen += 1
        if self._parser is None or (self._seen > _PARSED_AT_FIRST and self._seen % _PARSED_LATER):
            return
        self._tried += 1
        if read_response(self._parser, response, query).rating is not None:
            self._parsed += 1
        elif self.unparsed_example is None:
            self.unparsed_example = " ".join(response.text.split())[:120] or "(empty)"

    def committed(self, answered: int, failed: int) -> None:
        """Repeats that are durable now."""
        self.done += answered
        self._new += answered + failed
        self.failed += failed
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done + self.failed, description=self.line())
        elif not self._quiet and self._clock() - self._shown >= _EVERY:
            self._shown = self._clock()
            self._stream.write(self.line() + "\n")
            self._stream.flush()

    @property
    def parsed_share(self) -> float | None:
        """Share of the looked-at answers from which a rating was read; None before the first."""
        return self._parsed / self._tried if self._tried else None

    @property
    def rate(self) -> float:
        """Repeats settled per second in this session."""
        seconds = self._clock() - self._began
        return self._new / seconds if seconds > 0 else 0.0

    def line(self) -> str:
        """The progress line as text."""
        parts = [f"{self.done + self.failed}/{self.total}"]
        if self.rate > 0:
            parts.append(f"{self.rate:.1f}/s")
            left = self.total - self.done - self.failed
            if left > 0:
                parts.append(f"{duration(left / self.rate)} left")
        if self.failed:
            parts.append(f"{self.failed} failed")
        share = self.parsed_share
        if share is not None:
            parts.append(f"{100 * share:.0f} % parsed")
        cost = self._cost() if self._cost is not None else None
        if cost is not None:
            parts.append(dollars(cost))
        if share is not None and share < 0.5 and self.unparsed_example:
            parts.append(f"no rating in: {self.unparsed_example!r}")
        return " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as people say them: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
