"""Command `judge retry`: requests failed repeats again and, as an option, those whose answers could not be parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.run_options import Overrides
from judge.cli.table_options import Quiet

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def retry(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="run.yaml, its folder, or a result folder")],
    unparsed: Annotated[
        bool,
        typer.Option("--unparsed", help="answers without a readable rating too; noted in the signature of every table"),
    ] = False,
    set_: Overrides = None,
    quiet: Quiet = False,
) -> None:
    """Request the repeats again that were given up (server errors, timeouts, filtered).

    To request answers again because of what they say biases the sample: --unparsed does so explicitly, keeps the first
    answers in the journal, and every table notes it. Exit code 3 means that repeats are still missing.

    Example: judge retry runs/mans-roc
    """
    from judge.cli.runs.run import report, report_all
    from judge.execution.plan_part import part_of
    from judge.execution.session import Again, Sitting, sit
    from judge.execution.side_by_side import sit_side_by_side
    from judge.run_folder import resolve
    from judge.run_folder.definition import budget_of, definition_in_force

    sittings = []
    for folder in resolve([run]):
        spec, file = definition_in_force(folder, set_ or [])
        again: Again = "unparsed" if unparsed else "failed"
        sittings.append(Sitting(spec, file, folder, again=again, quiet=quiet, part=part_of(folder)))
    if len(sittings) > 1:
        together = sit_side_by_side(sittings, max_cost=budget_of(run, set_ or []))
        missing = report_all(together)
    else:
        missing = report(sittings[0], sit(sittings[0]))
    if missing:
        raise typer.Exit(3)
