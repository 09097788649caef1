"""`judge coverage`: what was asked, answered and rated. The work is in `analysis.coverage.coverage`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.analysis.options.table_options import CoverageOptions
from judge.cli.declared import takes
from judge.cli.table_options import Criteria, EvalPrompts, Form, Judges, Output, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

CHECK_FAILED = 4
"""Exit code of a declared check that failed."""


@app.command()
@takes(CoverageOptions, {"seed": "seed of permuted tests where counts are small"})
def coverage(
    runs: Runs,
    *,
    options: CoverageOptions,
    require: Annotated[
        float | None, typer.Option("--require", metavar="PERCENT", help="share below which the exit code is 4")
    ] = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """What was asked, answered and rated; whether loss goes with system, length or people's rating; bounds of the mean.

    Example: judge coverage runs/mans-roc --require 95
    """
    from judge.analysis.coverage import tables
    from judge.analysis.coverage.coverage import coverage as coverage_of
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.option_words import emit
    from judge.cli.reading_bar import reading_bar
    from judge.errors import SpecError
    from judge.ratings_table import read

    if require is not None and not 0 <= require <= 100:
        raise SpecError(f"--require {require:g} is not a percentage; allowed: 0 to 100")
    keep = Selection.of(criterion, judge, eval_prompt)
    table = narrowed(read(runs, parser=parser, explanations=False, telling=reading_bar), keep)
    found = coverage_of(table, options)
    emit(tables.tables(found), form, output)
    if require is not None and (found.share is None or 100 * found.share < require):
        typer.echo(f"coverage: {tables.sentence(found.total)}: below {require:g} %", err=True)
        raise typer.Exit(CHECK_FAILED)
