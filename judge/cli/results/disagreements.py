"""`judge disagreements`: stories where ratings differ most. The work is in `analysis.disagreements.disagreements`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.cli.table_options import Criteria, DropSystem, EvalPrompts, Judges, Output, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
def disagreements(
    runs: Runs,
    between: Annotated[str, typer.Option("--between", help="people, repeats, eval-prompts or judges")] = "people",
    top: Annotated[
        int, typer.Option("--top", help="so many stories, each once; 0: all, with every judge, prompt and criterion")
    ] = 10,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: DropSystem = None,
    full_text: Annotated[bool, typer.Option("--full-text", help="stories and explanations whole")] = False,
    form: Annotated[
        str, typer.Option("--format", help="table, md (with texts); json (everything), csv, latex (the list)")
    ] = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Stories where judge and people, repeats, Eval-Prompts or judges differ most, with texts and explanations.

    Example: judge disagreements runs/mans-roc --top 5 --eval-prompt ep3

    Example: judge disagreements runs/mans-roc --between eval-prompts --format json -o differ.json
    """
    from judge.analysis.coverage.coverage import with_coverage
    from judge.analysis.disagreements import tables
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.analysis.options.table_options import DisagreementsOptions, from_words
    from judge.cli.option_words import emit
    from judge.ratings_table import read

    options = from_words(DisagreementsOptions, drop_systems=tuple(drop_system or ()), between=between, top=top)
    keep = Selection.of(criterion, judge, eval_prompt)
    table = narrowed(read(runs, parser=parser), keep)
    found = tables.tables(table, options, form=form, full_text=full_text)
    listed = with_coverage(table, found[:1], form, options.drop_systems)
    emit([*listed, *found[1:]], form, output)
