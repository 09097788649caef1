"""`judge correlate`: how far judges follow people. The work is in `analysis.correlation`."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.cli.table_options import Against, DropSystem, Form, Output, ParserName, Runs

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)


@app.command()
def correlate(
    runs: Runs,
    coefficient: Annotated[str, typer.Option("--coefficient", help="kendall, spearman or pearson")] = "kendall",
    level: Annotated[str, typer.Option("--level", help="overall, system, by-item or by-system")] = "overall",
    drop_system: DropSystem = None,
    against: Against = None,
    ci: Annotated[
        str, typer.Option("--ci", help="auto, boot-inputs, boot-both, boot-systems, boot-stories, fisher-z or none")
    ] = "auto",
    interval: Annotated[
        str, typer.Option("--interval", help="of a bootstrap: percentile, bca or calibrated")
    ] = "percentile",
    resamples: Annotated[int, typer.Option("--resamples", help="number of resamples for intervals")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="seed of the resamples")] = 1,
    given: Annotated[
        str | None,
        typer.Option("--given", metavar="FEATURE", help="beside it the partial correlation given length, or a feature"),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="TABLE", help="further tables: accuracy, drift, sliding-sets, replacement"),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="RULE", help="binary labels: a criterion of two values, or 'Overall > 4'"),
    ] = None,
    errors: Annotated[
        list[str] | None,
        typer.Option("--errors", metavar="RULE", help="an error type to set against --labels, one at a time"),
    ] = None,
    control: Annotated[bool, typer.Option("--control/--no-control", help="the control judge's row")] = True,
    form: Form = "table",
    output: Output = None,
    parser: ParserName = "ours",
) -> None:
    """Correlations with people's ratings, with intervals, human ceiling and the control judge's row.

    --also accuracy: pairwise accuracy, acc_eq, soft pairwise accuracy; drift: by dataset and system; sliding-sets: of
    differences between sets; replacement: the alternative annotator test and prediction-powered means.

    Example: judge correlate runs/hanna --level system --drop-system Human --ci boot-both --also accuracy
    """
    from judge.analysis import correlation as analysis
    from judge.analysis.beside_correlations import further_tables
    from judge.analysis.control import Control
    from judge.analysis.coverage import with_coverage
    from judge.analysis.options import CorrelationOptions, from_words
    from judge.ratings_table import read
    from judge.tables import emit

    options = from_words(
        CorrelationOptions,
        coefficient=coefficient,
        level=level,
        drop_systems=tuple(drop_system or ()),
        against=against,
        ci=ci,
        interval_kind=interval,
        resamples=resamples,
        seed=seed,
        control=control,
        given=given,
    )
    table = read(runs, parser=parser, explanations=False)
    predict = Control()
    found = analysis.tables(table, options, predict=predict)
    found += further_tables(also or (), table, options, predict, labels=labels, errors=errors or ())
    emit(with_coverage(table, found, form, options.drop_systems), form, output)
