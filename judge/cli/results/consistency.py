"""`judge consistency`: how far a judge agrees with itself. The work is in `analysis.reliability.consistency`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.cli.table_options import Criteria, DropSystem, EvalPrompts, Form, Judges, Output, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
def consistency(
    runs: Runs,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    components: Annotated[
        bool, typer.Option("--components", help="what ratings vary over, and how many repeats, judges... are needed")
    ] = False,
    target: Annotated[float, typer.Option("--target", help="reliability to plan for, with --components")] = 0.8,
    seed: Annotated[int, typer.Option("--seed", help="seed of the intervals, with --components")] = 1,
    full: Annotated[bool, typer.Option("--full", help="one row a form, with F, degrees of freedom and p")] = False,
    engine: Annotated[str, typer.Option("--engine", help="ours, or pingouin for that package's own table")] = "ours",
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """ICC family over repeats, exact agreement, flip rate; people's agreement beside it. Or variance components.

    Example: judge consistency runs/mans-roc --full --format csv -o icc.csv
    """
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import ComponentsOptions, ConsistencyOptions, from_words
    from judge.analysis.reliability import consistency as analysis
    from judge.analysis.reliability import variance_components as variance
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(ConsistencyOptions, drop_systems=tuple(drop_system or ()), engine=engine)
    planned = from_words(ComponentsOptions, drop_systems=options.drop_systems, target=target, seed=seed)
    keep = Selection.of(criterion, judge, eval_prompt)
    table = narrowed(read(runs, parser=parser, explanations=False), keep)
    found = variance.tables(table, planned, full=full) if components else analysis.tables(table, options, full=full)
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
