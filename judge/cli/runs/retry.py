"""Way `judge run RUN --retry`: requests failed repeats again and, as an option, those whose answers could not be
parsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer


def ask_again(run: Path, overrides: Sequence[str], *, unparsed: bool, quiet: bool) -> None:
    """Request the repeats again that were given up (server errors, timeouts, filtered). Exits with code 3 if repeats
    are still missing.

    To request answers again because of what they say biases the sample: `unparsed` does so explicitly, keeps the first
    answers in the journal, and every table notes it.
    """
    from judge.asking.execution.plan_part import part_of
    from judge.asking.execution.session import Again, Sitting, sit
    from judge.asking.execution.side_by_side import sit_side_by_side
    from judge.asking.run_folder import resolve
    from judge.asking.run_folder.definition import budget_of, definition_in_force
    from judge.cli.runs.sittings import report, report_all

    sittings = []
    for folder in resolve([run]):
        spec, file = definition_in_force(folder, overrides)
        again: Again = "unparsed" if unparsed else "failed"
        sittings.append(Sitting(spec, file, folder, again=again, quiet=quiet, part=part_of(folder)))
    if len(sittings) > 1:
        missing = report_all(sit_side_by_side(sittings, max_cost=budget_of(run, overrides)))
    else:
        missing = report(sittings[0], sit(sittings[0]))
    if missing:
        raise typer.Exit(3)
