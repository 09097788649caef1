"""Runs several judges of one run in parallel, in one process. If one judge fails, the others continue."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from judge.asking.execution.interruption import Interruption
from judge.asking.execution.progress import Board, Line
from judge.asking.execution.session import Beside, Result, Sitting, budget_of, sit_beside, spent_before
from judge.backends import IN_PROCESS
from judge.base.errors import JudgeError


@dataclass(frozen=True, slots=True)
class Ended:
    """Outcome of one judge's session: exactly one of `result` and `error` is set."""

    sitting: Sitting
    result: Result | None = None
    error: JudgeError | None = None


def names(sittings: Sequence[Sitting]) -> list[str]:
    """Each judge's name for its progress line, with the revision where two judges have the same name."""
    judges = [sitting.spec.judge for sitting in sittings]
    return [
        judge if judges.count(judge) == 1 else f"{judge}@{sitting.spec.revision}"
        for judge, sitting in zip(judges, sittings, strict=True)
    ]


def sit_side_by_side(sittings: Sequence[Sitting], *, max_cost: float | None = None) -> list[Ended]:
    """Run the sessions in parallel, together for at most `max_cost` dollars; their outcomes in the order given."""
    return asyncio.run(_run_all(sittings, max_cost))


async def _run_all(sittings: Sequence[Sitting], max_cost: float | None) -> list[Ended]:
    interruption = Interruption()
    budget = None
    if max_cost is not None:
        before = sum(map(spent_before, sittings))
        budget = budget_of(max_cost, sittings[0].part, "all judges of this command", before)
    called = names(sittings)
    engine = asyncio.Lock()
    with interruption.caught(), Board(called, quiet=all(sitting.quiet for sitting in sittings)) as board:
        tasks = []
        for sitting, name in zip(sittings, called, strict=True):
            line = board.line_of(name)
            # Two models may not fit into this process beside each other.
            turn = engine if sitting.spec.provider in IN_PROCESS else contextlib.nullcontext()
            task = asyncio.create_task(_run_one(sitting, Beside(interruption, budget, line), line, turn))
            interruption.prepares(task)
            tasks.append(task)
        # Whatever happens to one, the others come to their own ends; a bug is raised after that.
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in ended if isinstance(outcome, Ended)]


async def _run_one(sitting: Sitting, beside: Beside, line: Line, turn: AbstractAsyncContextManager[None]) -> Ended:
    try:
        async with turn:
            result = await sit_beside(sitting, beside)
    except JudgeError as error:
        line.end("failed")
        return Ended(sitting, error=error)
    except asyncio.CancelledError:
        line.end("interrupted")
        return Ended(sitting, error=JudgeError("interrupted before the first request"))
    line.end(_how(result))
    return Ended(sitting, result)


def _how(result: Result) -> str:
    if result.outcomes.stopped and result.missing:
        return "stopped"
    return f"{result.missing} missing" if result.missing else "done"
