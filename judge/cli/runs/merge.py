"""Way `judge run RUN --merge`: combines the shards of a run, each written by a separate process, into one journal. The
implementation is in `judge.asking.execution`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge.cli.option_words import with_flags

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


def merge(run: Path, overrides: Sequence[str], *, output: Path | None, partial: bool) -> None:
    """Join the shards of a run into the result folder of each judge (`output`, if the shards were run with it). Exits
    with code 3 if repeats are missing: given up, or, with `partial`, never requested.

    Every answer enters exactly once, however often this is run or interrupted. Raises RunFolderError for shards of
    another plan, and, without `partial`, for missing and incomplete ones.
    """
    from judge.asking.execution.part_merge import join
    from judge.asking.execution.plan_part import parts_in
    from judge.asking.run_folder.definition import definition_in_force

    missing = False
    for result in _with_parts(run, output):
        _, _, first = parts_in(result)[0]
        spec, file = definition_in_force(first, overrides)
        joined = join(spec, file, result, partial=partial)
        for notice in joined.notices:
            sys.stderr.write(f"{with_flags(notice)}\n")
        shards = f"{joined.parts} shard{'' if joined.parts == 1 else 's'}"
        given_up = f", {joined.failed} given up" if joined.failed else ""
        typer.echo(
            f"{spec.judge}: {shards} merged, {joined.answered} answers new{given_up}; "
            f"{joined.totals.answered} of {joined.planned} in {result.path}"
        )
        if joined.missing:
            missing = True
            again = f"{result.path} --retry" if joined.totals.failed else f"{run}"
            sys.stderr.write(f"{joined.missing} repeats are missing; go on with: judge run {again}\n")
    if missing:
        raise typer.Exit(3)


def _with_parts(run: Path, output: Path | None) -> Sequence[ResultFolder]:
    """Result folders of a run that hold shards to be merged. Raises RunFolderError if there are none."""
    from judge.asking.execution.plan_part import parts_in
    from judge.asking.run_folder import ResultFolder
    from judge.asking.run_folder.layout import definition_of, results_beside
    from judge.base.errors import RunFolderError

    folder = output or run
    if parts_in(ResultFolder(folder)):
        return [ResultFolder(folder)]
    results = (
        [] if output is not None else [result for result in results_beside(definition_of(run)) if parts_in(result)]
    )
    if not results:
        raise RunFolderError(f"{folder} has no shards", hint="judge run RUN --shard 1/N, 2/N... makes them")
    return results
