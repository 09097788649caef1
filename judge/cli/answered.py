"""Commands `judge coverage` and `judge ratings`: counts of requested and rated repeats, and a row for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.analysis.options.table_options import CoverageOptions
from judge.cli.declared import flag, refuse_flags, takes
from judge.cli.table_options import (
    Criteria,
    EvalPrompts,
    Form,
    Full,
    Judges,
    Output,
    PanelName,
    ParserName,
    PassRate,
    Rows,
    Runs,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis.inputs.selection import Selection
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
        refuse_flags(ctx, ("--panel", flag("pass_rate"), flag("parser")), "--preferences")
        frame, preview = _preferences(runs, criterion, judge, eval_prompt)
    else:
        from judge.analysis.inputs.selection import Selection

        keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
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


def _preferences(
    runs: list[str], criterion: list[str] | None, judge: list[str] | None, eval_prompt: list[str] | None
) -> tuple[pd.DataFrame, Callable[..., Table]]:
    from judge.analysis.preference.sides import narrowed, preview
    from judge.ratings.preferences_table import read

    table = narrowed(read(runs), criterion, judge, eval_prompt)
    return table.frame, partial(preview, table)


# Exit code of a declared check that failed.
CHECK_FAILED = 4


@takes(CoverageOptions, {"seed": "seed of permuted tests where counts are small"})
def coverage(
    runs: Runs,
    *,
    options: CoverageOptions,
    require: Annotated[
        float | None,
        typer.Option("--require", metavar="PERCENT", help="share of rated repeats below which the exit code is 4"),
    ] = None,
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    full: Full = False,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Counts of what was requested, answered and rated, tests whether ratings are missing at random, bounds of means.

    For runs of comparisons: counts of what was requested, answered and decided.

    Example: judge coverage runs/mans-roc --require 95
    """
    from judge.base.errors import SpecError
    from judge.cli.table_options import emit
    from judge.ratings.preferences_table import comparing

    if require is not None and not 0 <= require <= 100:
        raise SpecError(f"--require {require:g} is not a percentage; allowed: 0 to 100")
    compare, rate = comparing(runs)
    printed: list[Table] = []
    sentences: list[tuple[float | None, str]] = []
    if rate:
        from judge.analysis.coverage import coverage as counts_of
        from judge.analysis.inputs.selection import Selection, narrowed
        from judge.cli.table_options import reading_bar
        from judge.questions.sentences import coverage as coverage_sentence
        from judge.ratings.ratings_table import read

        keep = Selection.of(criterion, judge, eval_prompt)
        whole = read(rate, parser=parser, explanations=False, telling=reading_bar, perturbed=True)
        table = narrowed(whole, keep)
        of_ratings = counts_of.coverage(table, options)
        counted = counts_of.tables(of_ratings)
        if form == "table" and output is None:
            counted[0] = replace(counted[0], above=coverage_sentence(of_ratings))
        printed += counted
        sentences.append((of_ratings.share, counts_of.sentence(of_ratings.total)))
    if compare:
        from judge.analysis.coverage import counts
        from judge.analysis.preference import sides
        from judge.ratings import preferences_table

        compared = sides.narrowed(preferences_table.read(compare), criterion, judge, eval_prompt)
        of_verdicts = counts.verdict_coverage(compared)
        printed += counts.tables(of_verdicts)
        sentences.append((of_verdicts.share, counts.sentence(of_verdicts)))
    emit(printed, form, output, full=full)
    if require is not None:
        _check(sentences, require)


def _check(sentences: Sequence[tuple[float | None, str]], require: float) -> None:
    """Leave with the code of a failed check where less than this percentage, or none that is known, was rated."""
    below = [words for share, words in sentences if share is None or 100 * share < require]
    if below:
        typer.echo(f"coverage: {'; '.join(below)}: below {require:g} %", err=True)
        raise typer.Exit(CHECK_FAILED)
