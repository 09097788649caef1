"""Command `judge serve-command`: prints the command that starts a vLLM server for a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.option_words import with_flags
from judge.cli.run_options import Overrides

if TYPE_CHECKING:
    from judge.records import Subject

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="a run.yaml or its folder")],
    set_: Overrides = None,
) -> None:
    """Print the `vllm serve` line that fits RUN, one for each base_url: model, revision, engine keys, context length.

    Assumptions are printed to stderr, so that the line can be run as it is printed.

    Example: judge serve-command runs/mans-roc --set judge=openai/Qwen/Qwen2.5-7B-Instruct
    """
    from judge.execution.preparation import dataset_of, first_comparisons, planned_comparisons
    from judge.plan import make_plan
    from judge.plan.serving import serving
    from judge.run_definition.spec import load_run_spec
    from judge.run_folder.layout import definition_of

    definition = definition_of(run)
    plan = make_plan(load_run_spec(definition, set_ or []), folder=definition.parent)
    dataset = dataset_of(plan, definition.parent)
    subjects: Iterable[Subject] = dataset.stories()
    if plan.compares:
        planned = planned_comparisons(plan, definition.parent, dataset)
        subjects = first_comparisons(plan, dataset, planned, len(planned))
    server = serving(plan, subjects)
    for line in server.commands:
        print(line)
    for note in server.notes:
        sys.stderr.write(f"# {with_flags(note)}\n")
