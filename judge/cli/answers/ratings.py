"""Command `judge ratings`: prints the ratings table or writes it to a file. The table is built in
`judge.analysis.ratings`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Criteria, EvalPrompts, Full, Judges, PanelName, ParserName, PassRate, Rows, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_FORMS = "form of the rows: table (the first), csv, jsonl, json, md or latex"


@app.command()
def ratings(
    runs: Runs,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    *,
    panel: PanelName = None,
    pass_rate: PassRate = False,
    full: Full = False,
    form: Annotated[Rows, typer.Option("--format", metavar="FORM", help=_FORMS)] = "table",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file for all rows: .csv, .jsonl or .parquet")
    ] = None,
    parser: ParserName = "ours",
) -> None:
    """Table with one row for each repeat of a judge and each rating of a person; missing ratings stay missing.

    Example: judge ratings runs/mans-roc -o ratings.csv
    """
    from judge.analysis import ratings as analysis
    from judge.analysis.inputs.selection import Selection, narrowed
    from judge.cli.option_words import emit
    from judge.cli.reading_bar import reading_bar
    from judge.ratings_table import read

    keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
    table = narrowed(read(runs, parser=parser, telling=reading_bar, perturbed=True), keep)
    if output is not None:
        analysis.save(table.frame, output)
    elif form == "csv":
        sys.stdout.write(analysis.csv_text(table.frame))
    elif form in ("jsonl", "json"):
        text = analysis.jsonl_text if form == "jsonl" else analysis.json_text
        sys.stdout.write(text(table.frame))
    else:
        emit(analysis.preview(table, whole=full), form, full=full)
