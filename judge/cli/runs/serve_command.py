"""Way `judge run RUN --serve-command`: prints the command that starts a vLLM server for a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judge.cli.option_words import with_flags

if TYPE_CHECKING:
    from judge.base.records import Subject


def print_serve_command(run: Path, overrides: Sequence[str]) -> None:
    """Print the `vllm serve` line that fits a run, one for each base_url: model, revision, engine keys, context length.

    Assumptions are printed to stderr, so that the line can be run as it is printed.
    """
    from judge.asking.execution.preparation import dataset_of, first_comparisons, planned_comparisons
    from judge.asking.plan import make_plan
    from judge.asking.plan.serving import serving
    from judge.asking.run_definition.spec import load_run_spec
    from judge.asking.run_folder.layout import definition_of

    definition = definition_of(run)
    plan = make_plan(load_run_spec(definition, overrides), folder=definition.parent)
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
