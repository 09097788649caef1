"""Command `judge ratings`: a row for each repeat of a judge and each rating of a person."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.declared import flag, refuse_flags
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Full,
    Judges,
    PanelName,
    ParserName,
    PassRate,
    Rows,
    Runs,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis.options.selection import Selection
    from judge.base.printing.tables import Table


_FORMS = "form of the rows: table (the first), csv, jsonl, json, md or latex"


def ratings(
    ctx: typer.Context,
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
    preferences: Annotated[
        bool, typer.Option("--preferences", help="preferences between two stories, in place of ratings")
    ] = False,
) -> None:
    """Table with one row for each repeat of a judge and each rating of a person; missing ratings stay missing.

    With --preferences: one row for each verdict of a judge, each preference of a person, and those that ratings imply.
    A verdict that could not be read has a status and no preference. Runs of ratings, like people's ratings, appear by
    the sign of the difference between two mean ratings.

    Example: judge ratings runs/mans-roc -o ratings.csv

    Example: judge ratings runs/mans-roc-pairs --preferences -o preferences.csv
    """
    from judge.analysis import distributions
    from judge.cli.table_options import emit

    if preferences:
        refuse_flags(ctx, (flag("panel"), flag("pass_rate"), flag("parser")), "--preferences")
        frame, preview = _preferences(runs, criterion, judge, eval_prompt)
    else:
        from judge.analysis.options.selection import Selection

        keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
        columnar = output is not None and output.suffix == ".parquet" and not pass_rate
        if output is not None and columnar and _in_parts(runs, keep, parser, output):
            return
        frame, preview = _ratings(runs, keep, parser)
    if output is not None:
        distributions.save(frame, output)
    elif form == "csv":
        sys.stdout.write(distributions.csv_text(frame))
    elif form in ("jsonl", "json"):
        text = distributions.jsonl_text if form == "jsonl" else distributions.json_text
        sys.stdout.write(text(frame))
    else:
        emit(preview(whole=full), form, full=full)


def _ratings(runs: list[str], keep: Selection, parser: str) -> tuple[pd.DataFrame, Callable[..., Table]]:
    from judge.analysis.distributions import preview
    from judge.analysis.inputs.selection import narrowed
    from judge.cli.table_options import reading_bar
    from judge.ratings.ratings_table import read

    table = narrowed(read(runs, parser=parser, telling=reading_bar, perturbed=True), keep)
    return table.frame, partial(preview, table)


def _in_parts(runs: list[str], keep: Selection, parser: str, output: Path) -> bool:
    """Write the rows part by part, so that memory does not grow with them; False where they must be read at once."""
    from judge.analysis.distributions import save_parquet
    from judge.analysis.inputs.selection import narrowed
    from judge.cli.table_options import reading_bar
    from judge.ratings.ratings_table import UnusualError, read_in_parts

    try:
        parts = read_in_parts(runs, parser, output, telling=reading_bar)
        save_parquet(parts.frames(narrowed(parts.outline, keep).frame), output)
    except UnusualError:
        return False
    return True


def _preferences(
    runs: list[str], criterion: list[str] | None, judge: list[str] | None, eval_prompt: list[str] | None
) -> tuple[pd.DataFrame, Callable[..., Table]]:
    from judge.analysis.preference.sides import narrowed, preview
    from judge.ratings.preferences_table import read

    table = narrowed(read(runs), criterion, judge, eval_prompt)
    return table.frame, partial(preview, table)
