"""`judge systems`: how good each system's stories are. The work is in `analysis.systems`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.cli.table_options import Criteria, DropSystem, EvalPrompts, Judges, Output, ParserName, Runs, Seed

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
def systems(
    runs: Runs,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    by: Annotated[
        str, typer.Option("--by", help="judge (criteria across), criterion (judges across), or auto")
    ] = "auto",
    rank: Annotated[bool, typer.Option("--rank", help="ranks with intervals in place of means")] = False,
    differences: Annotated[
        bool, typer.Option("--differences", help="all pairs of systems on the same story-prompts, p adjusted (Holm)")
    ] = False,
    interval: Annotated[
        str, typer.Option("--interval", help="of means: clustered, as-published or boot")
    ] = "clustered",
    family: Annotated[
        str, typer.Option("--family", help="adjust p over the pairs of a cell (judge and criterion), or of the table")
    ] = "cell",
    full: Annotated[bool, typer.Option("--full", help="every judge, Eval-Prompt and criterion")] = False,
    drop_system: DropSystem = None,
    resamples: Annotated[int, typer.Option("--resamples", help="number of resamples for ranks")] = 1000,
    seed: Seed = 1,
    form: Annotated[str, typer.Option("--format", help="table, md, latex (wide); json, csv (long)")] = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Mean rating of each system by people and judges, ranks, and which systems cannot be told apart.

    Example: judge systems runs/mans-roc --rank --eval-prompt ep1
    """
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import SystemsOptions, from_words
    from judge.analysis.systems import tables
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(
        SystemsOptions,
        drop_systems=tuple(drop_system or ()),
        mean_interval=interval,
        holm_over=family,
        resamples=resamples,
        seed=seed,
    )
    keep = Selection.of(criterion, judge, eval_prompt)
    table = narrowed(read(runs, parser=parser, explanations=False), keep)
    found = tables.tables(table, options, form=form, by=by, rank=rank, differences=differences, full=full)
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
