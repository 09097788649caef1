"""Executes a run definition from Python, as `judge run` does from the command line."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from judge.asking.execution.session import Sitting


def run_all(definition: Path, overrides: Mapping[str, object], limit: int | None, *, quiet: bool) -> list[Path]:
    """Run every judge of a run definition until nothing is left to request, and return the paths of the result folders.

    `overrides` holds values that replace those of the definition, by key. Only the first `limit` stories or pairs are
    judged (None: all). With `quiet` no progress is displayed.
    """
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.spec import load_run_specs
    from judge.asking.run_folder.layout import definition_of, folder_for

    path = definition_of(definition)
    words = [
        f"{key}={value if isinstance(value, str) else orjson.dumps(value).decode()}" for key, value in overrides.items()
    ]
    specs = load_run_specs(path, words, [])
    sittings = [
        Sitting(spec, path.parent, folder_for(path, spec.name, spec.judge, spec.revision), limit=limit, quiet=quiet)
        for spec in specs.judges
    ]
    _in_thread(sittings, specs.max_cost)
    return [sitting.result.path for sitting in sittings]


def _in_thread(sittings: Sequence[Sitting], max_cost: float | None) -> None:
    """Execute the runs `sittings` in a separate thread, because the main thread of a notebook already has a running
    event loop. `max_cost` is the cost limit in dollars for all of them together (None: no limit).
    """
    failed: list[BaseException] = []

    def work() -> None:
        try:
            _sit(sittings, max_cost)
        except BaseException as error:  # noqa: BLE001  it is raised again by who waits
            failed.append(error)

    thread = threading.Thread(target=work, name="judge.run")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _sit(sittings: Sequence[Sitting], max_cost: float | None) -> None:
    from judge.asking.execution.session import sit
    from judge.asking.execution.side_by_side import sit_side_by_side
    from judge.base.errors import JudgeError

    if len(sittings) == 1:
        ended = sit(sittings[0])
        if ended.totals.answered == 0 and ended.missing:
            raise ended.outcomes.cause or JudgeError(ended.outcomes.stopped or "nothing was answered")
        return
    failed = [
        sitting.error for sitting in sit_side_by_side(list(sittings), max_cost=max_cost) if sitting.error is not None
    ]
    if len(failed) == len(sittings):
        raise failed[0]
