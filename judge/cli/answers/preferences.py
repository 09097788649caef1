"""Command `judge preferences`: prints the preferences table or writes it to a file. The table is built in
`judge.preferences_table`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Criteria, EvalPrompts, Full, Judges, Rows, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_FORMS = "form of the rows: table (the first), csv, jsonl, json, md or latex"


@app.command()
def preferences(
    runs: Runs,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    full: Full = False,
    form: Annotated[Rows, typer.Option("--format", metavar="FORM", help=_FORMS)] = "table",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file for all rows: .csv, .jsonl or .parquet")
    ] = None,
) -> None:
    """Table with one row for each verdict of a judge, each preference of a person, and those that ratings imply.

    A verdict that could not be read has a status and no preference. Runs of ratings, like people's ratings, appear by
    the sign of the difference between two mean ratings.

    Example: judge preferences runs/mans-roc-pairs -o preferences.csv
    """
    from judge.analysis import ratings as rows
    from judge.analysis.preferences import narrowed, preview
    from judge.cli.option_words import emit
    from judge.preferences_table import read

    table = narrowed(read(runs), criterion, judge, eval_prompt)
    if output is not None:
        rows.save(table.frame, output)
    elif form == "csv":
        sys.stdout.write(rows.csv_text(table.frame))
    elif form in ("jsonl", "json"):
        text = rows.jsonl_text if form == "jsonl" else rows.json_text
        sys.stdout.write(text(table.frame))
    else:
        emit(preview(table, whole=full), form, full=full)
