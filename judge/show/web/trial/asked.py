"""Trials that were started from the page of `judge try`. They run in the background, and are kept in memory until newer
trials replace them.

All trials use one back-end, opened for the first of them, so that a model's weights are loaded once. Answers are saved
only if the command line gave an output file.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from judge.asking.execution.session import settings_of
from judge.asking.run_definition.spec import RunSpec
from judge.backends import Backend, open_backend
from judge.base.errors import JudgeError
from judge.base.wording import PLAIN, written
from judge.lab.trial.answers import Answered, Trial, budget_of
from judge.lab.trial.questions import Questions
from judge.lab.trial.saved import append, record
from judge.lab.trial.sheet import Sheet, sheet

AT_ONCE = 2
"""Trials that are asked at the same time."""

# Ended trials stay for a page that is loaded again; the oldest go, so that memory stays bounded.
_KEPT = 16
_STOPPED = "stopped from the page"


@dataclass(slots=True)
class Asked:
    """One trial that was started from the page. `control` holds the answers of the control (a surface-feature baseline)
    by key of the query; None where the judge itself is the control. `began` and `ended` are times of a monotonic clock.
    `trouble` is the sentence of an error, "" without one.
    """

    trial: Trial
    control: dict[str, Answered] | None
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    trouble: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def seconds(self) -> float:
        """Duration of the trial in seconds: so far or, once it has ended, in all."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def sheet(self) -> Sheet:
        """Sheet with the answers of the trial so far."""
        return sheet(self.trial.questions, self.trial.answers, self.control)


class Busy(Exception):  # noqa: N818  not an error of anybody's
    """Error: the maximum number of simultaneous trials is in progress."""


class Trials:
    """All trials of one server, which it starts, stops and keeps in memory."""

    def __init__(self, spec: RunSpec, output: Path | None) -> None:
        self.opening = False
        self._spec = spec
        self._output = output
        self._budget = budget_of(spec)
        self._known: OrderedDict[str, Asked] = OrderedDict()
        self._backend: Backend | None = None
        self._lock = asyncio.Lock()

    def get(self, name: str) -> Asked | None:
        """A trial by its name; None for an unknown trial or one that is no longer kept."""
        return self._known.get(name)

    def check_room(self) -> None:
        """Raise Busy where the maximum number of trials is in progress."""
        if sum(trial.ended is None for trial in self._known.values()) >= AT_ONCE:
            raise Busy

    def begin(self, questions: Questions, control: dict[str, Answered] | None) -> str:
        """Start a trial in the background and return its name, which is random. `control` holds the answers of the
        control (a surface-feature baseline), None where the judge is the control. Raises Busy where the maximum number
        of trials is in progress.
        """
        self.check_room()
        name = secrets.token_urlsafe(16)
        asked = Asked(Trial(questions, budget=self._budget), control)
        asked.task = asyncio.create_task(self._ask(asked))
        self._known[name] = asked
        while len(self._known) > _KEPT:
            oldest = next(key for key, trial in self._known.items() if trial.ended is not None)
            del self._known[oldest]
        return name

    async def stop(self, asked: Asked) -> None:
        """Stop a trial, so that no more queries are sent."""
        asked.trial.stop(_STOPPED)
        if asked.task is not None:
            await asyncio.wait({asked.task}, timeout=2)

    async def close(self) -> None:
        """Stop all trials and close the back-end; called when the server ends."""
        for trial in self._known.values():
            if trial.ended is None:
                await self.stop(trial)
        if self._backend is not None:
            await self._backend.close()

    async def _ask(self, asked: Asked) -> None:
        try:
            answers = await asked.trial.ask(await self._open())
            if asked.trial.cause is not None:
                asked.trouble = in_words(asked.trial.cause)
            if self._output is not None:
                lines = [record(answer, self._spec.judge) for answer in answers]
                await asyncio.to_thread(append, self._output, lines)
        except JudgeError as error:
            asked.trouble = in_words(error)
            asked.trial.give_up(str(error))
        finally:
            asked.ended = time.monotonic()

    async def _open(self) -> Backend:
        """The judge's back-end. It is opened and tested on the first call; after a failure, the next call tries
        again.
        """
        async with self._lock:
            if self._backend is None:
                self.opening = True
                backend = await asyncio.to_thread(open_backend, self._spec.judge, settings_of(self._spec, None))
                try:
                    await backend.probe()
                except BaseException:
                    await backend.close()
                    raise
                finally:
                    self.opening = False
                self._backend = backend
            return self._backend


def in_words(error: JudgeError) -> str:
    """An error as text for the page: its sentence and its hint, without names of options of the command line."""
    hint = written(error.hint or "", PLAIN)
    sentence = f"{written(error.sentence, PLAIN)}."
    return f"{sentence} {hint[:1].upper()}{hint[1:]}." if hint else sentence
