"""`judge diagnose`: known ways in which judges go wrong, as tests. The work is in `analysis.diagnose`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.cli.table_options import Against, Criteria, DropSystem, EvalPrompts, Form, Judges, Output, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
def diagnose(
    runs: Runs,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    against: Against = None,
    own: Annotated[
        list[str] | None,
        typer.Option("--own", metavar="SYSTEM", help="a system that is the judge's own (default: by name)"),
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="level of each test")] = 0.05,
    full: Annotated[bool, typer.Option("--full", help="every test, also those that found nothing")] = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Leniency, length bias, compression, a stuck rating, halo, self-preference, loss that depends on quality.

    Each is a test against people's ratings of the same stories, with its effect and what it could have missed.

    Example: judge diagnose runs/hanna --drop-system Human --own Beluga-13b
    """
    from judge.analysis import diagnose as analysis
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import DiagnoseOptions, from_words
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(
        DiagnoseOptions, drop_systems=tuple(drop_system or ()), against=against, own=tuple(own or ()), alpha=alpha
    )
    keep = Selection.of(criterion, judge, eval_prompt, people=[against])
    table = narrowed(read(runs, parser=parser, explanations=False), keep)
    found = analysis.tables(table, options, full=full)
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
